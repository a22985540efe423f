package rollup

import "github.com/deed-dev/deed/internal/journal/entry"

// Place is the place of a request.
type Place struct{ Session, Seq int64 }

// Tally makes roll-ups of entries that it is given in the order of the log.
// What it does not know, because it was told of it before it was emptied, it
// asks find and load for. Without these it must be told everything.
type Tally struct {
	Rows map[Key]*Rollup
	Open map[Place]OpenCall

	Find func(Place) (OpenCall, bool, error)
	Load func(Key) (*Rollup, error)

	// What is to be written: roll-ups that changed, requests that are open,
	// and the entry numbers of requests that were written as open and are not.
	Changed         []Key
	Asked, Answered map[Place]int64
}

// NewTally is one that was told of nothing.
func NewTally() *Tally {
	return &Tally{Rows: make(map[Key]*Rollup), Open: make(map[Place]OpenCall), Asked: make(map[Place]int64), Answered: make(map[Place]int64)}
}

// Add is told of entry n in a row of sessions. Only requests and their first
// answers count; a request that names a call continues that call and is none
// of its own.
func (t *Tally) Add(n, session int64, c *entry.Columns) error {
	switch {
	case c.Kind == string(entry.KindRequest) && c.Call == nil:
		open := OpenCall{N: n, Key: keyOf(c, session)}
		if err := t.change(open.Key, func(r *Rollup) { r.Ask(n, *c.Bytes) }); err != nil {
			return err
		}
		place := Place{session, c.Seq}
		t.Open[place], t.Asked[place] = open, n
	case c.Kind == string(entry.KindResponse) && c.Call != nil:
		return t.answer(Place{session, *c.Call}, answerOf(c))
	}
	return nil
}

func (t *Tally) answer(place Place, a Answer) error {
	if _, before := t.Answered[place]; before {
		return nil // which the tables do not say yet
	}
	open, found := t.Open[place]
	if !found && t.Find != nil {
		var err error
		if open, found, err = t.Find(place); err != nil {
			return err
		}
	}
	if !found {
		return nil // answered before
	}
	if err := t.change(open.Key, func(r *Rollup) { r.Answer(open.N, a) }); err != nil {
		return err
	}
	delete(t.Open, place)
	if _, fresh := t.Asked[place]; fresh {
		delete(t.Asked, place)
	} else {
		t.Answered[place] = open.N
	}
	return nil
}

// change changes both roll-ups of a call.
func (t *Tally) change(key Key, change func(*Rollup)) error {
	for _, key := range [...]Key{key, key.Shared()} {
		row, err := t.row(key)
		if err != nil {
			return err
		}
		change(row)
	}
	return nil
}

// row returns a roll-up that is about to change.
func (t *Tally) row(key Key) (*Rollup, error) {
	row := t.Rows[key]
	if row == nil {
		row = &Rollup{}
		if t.Load != nil {
			var err error
			if row, err = t.Load(key); err != nil {
				return nil, err
			}
		}
		t.Rows[key] = row
	}
	if !row.Changed {
		row.Changed = true
		t.Changed = append(t.Changed, key)
	}
	return row, nil
}

// Written forgets what was to be written.
func (t *Tally) Written() {
	clear(t.Asked)
	clear(t.Answered)
	t.Changed = t.Changed[:0]
}

// EmptyShared forgets what other writers change as well.
func (t *Tally) EmptyShared() {
	for key := range t.Rows {
		if key.Session == EverySession {
			delete(t.Rows, key)
		}
	}
}

// Empty forgets everything.
func (t *Tally) Empty() {
	clear(t.Rows)
	clear(t.Open)
	t.Written()
}

// keyOf is where a request is counted.
func keyOf(c *entry.Columns, session int64) Key {
	return Key{Session: session, Side: orEmpty(c.Side), Method: orEmpty(c.Method), Tool: orEmpty(c.Tool), Hour: c.At / HourUS}
}

func answerOf(c *entry.Columns) Answer {
	a := Answer{Bytes: *c.Bytes, Took: -1, Outcome: entry.Outcome(orEmpty(c.Outcome)), Code: orEmpty(c.Error)}
	if c.Took != nil {
		a.Took = *c.Took
	}
	return a
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}
