package protocol

import "container/list"

// recent is a map that holds at most so many entries and forgets the oldest
// one to make room.
type recent[K comparable, V any] struct {
	limit int
	byKey map[K]*list.Element
	order list.List // of entry[K, V], the oldest first
}

type entry[K comparable, V any] struct {
	key   K
	value V
}

func newRecent[K comparable, V any](limit int) *recent[K, V] {
	return &recent[K, V]{limit: limit, byKey: map[K]*list.Element{}}
}

func (r *recent[K, V]) get(key K) (value V, there bool) {
	e := r.byKey[key]
	if e == nil {
		return value, false
	}
	return e.Value.(entry[K, V]).value, true
}

// put sets what key stands for, as the newest entry. It returns what had to be
// forgotten for it.
func (r *recent[K, V]) put(key K, value V) (forgotten V, full bool) {
	r.drop(key)
	if len(r.byKey) >= r.limit {
		forgotten, full = r.forget()
	}
	r.byKey[key] = r.order.PushBack(entry[K, V]{key, value})
	return forgotten, full
}

// forget drops the oldest entry.
func (r *recent[K, V]) forget() (value V, there bool) {
	oldest := r.order.Front()
	if oldest == nil {
		return value, false
	}
	e := oldest.Value.(entry[K, V])
	r.drop(e.key)
	return e.value, true
}

func (r *recent[K, V]) drop(key K) {
	if e := r.byKey[key]; e != nil {
		r.order.Remove(e)
		delete(r.byKey, key)
	}
}

// dropWhere drops the entries that gone says yes to, the oldest first.
func (r *recent[K, V]) dropWhere(gone func(V) bool) {
	for e := r.order.Front(); e != nil; {
		next := e.Next()
		if x := e.Value.(entry[K, V]); gone(x.value) {
			r.order.Remove(e)
			delete(r.byKey, x.key)
		}
		e = next
	}
}
