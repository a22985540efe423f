package journal

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// MaxErasures is how many erasures a report names.
const MaxErasures = 1_000

// ErasureEntry is one entry of the log that says what was erased.
type ErasureEntry struct {
	N           int64 // of the entry that says so
	At          int64 // µs since 1970
	Scope, What string
	Count       int64 // entries that lost something
	First, Last int64 // the outermost of them
}

// erasedRun is a stretch of entries that an erasure took something from.
type erasedRun struct {
	entry.Stretch
	by int64
}

// erasedIndex finds the erasure that took something from an entry. Memory
// grows with the stretches, not with the entries.
type erasedIndex struct {
	all, bodies []erasedRun // by what was taken; sorted by first
	longest     [2]int64    // of the stretches in each, so that a search knows where to stop
	lists       map[int64][]byte
}

// newErasedIndex reads all lists. Those that cannot be read explain nothing.
func newErasedIndex(ctx context.Context, db rowsQueryer) (*erasedIndex, error) {
	rows, err := db.QueryContext(ctx, "SELECT r.n, r.list, e.leaf FROM erasures r LEFT JOIN entries e ON e.n = r.n ORDER BY r.n")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	x := &erasedIndex{lists: make(map[int64][]byte)}
	for rows.Next() {
		var n int64
		var list, raw []byte
		if err := rows.Scan(&n, &list, &raw); err != nil {
			return nil, err
		}
		x.lists[n] = list
		x.add(n, list, raw)
	}
	if err := rows.Err(); err != nil {
		return nil, err
	}
	for i, runs := range [][]erasedRun{x.all, x.bodies} {
		slices.SortFunc(runs, func(a, b erasedRun) int { return cmp.Compare(a.First, b.First) })
		for _, r := range runs {
			x.longest[i] = max(x.longest[i], r.Last-r.First)
		}
	}
	return x, nil
}

type rowsQueryer interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// add takes a list in when its entry vouches for it.
func (x *erasedIndex) add(n int64, raw, e []byte) {
	l, err := entry.DecodeLeaf(e)
	if err != nil || l.Kind != entry.KindErasure {
		return
	}
	list, err := checkEraseList(raw, n, &l.Entry)
	if err != nil {
		return
	}
	for _, r := range list {
		if l.What == entry.ErasedAll {
			x.all = append(x.all, erasedRun{r, n})
		} else {
			x.bodies = append(x.bodies, erasedRun{r, n})
		}
	}
}

// checkEraseList reads the list of erasure n and compares it with its entry.
func checkEraseList(raw []byte, n int64, e *entry.Entry) (entry.List, error) {
	list, err := entry.DecodeList(raw, n)
	if err != nil {
		return nil, fmt.Errorf("the list of what it erased is not valid: %w", err)
	}
	if len(list) == 0 || list.Count() != e.Count || list[0].First != e.First || list[len(list)-1].Last != e.Last || list.Hash() != e.Erased {
		return nil, errors.New("the list of what it erased is not the one that was recorded")
	}
	return list, nil
}

// detail says which erasure took the detail of entry n.
func (x *erasedIndex) detail(n int64) (by int64, erased bool) { return findRun(x.all, x.longest[0], n) }

// body says which erasure took the body of entry n.
func (x *erasedIndex) body(n int64) (by int64, erased bool) {
	if by, erased := findRun(x.bodies, x.longest[1], n); erased {
		return by, true
	}
	return findRun(x.all, x.longest[0], n)
}

func findRun(runs []erasedRun, longest, n int64) (int64, bool) {
	i, _ := slices.BinarySearchFunc(runs, n+1, func(r erasedRun, n int64) int { return cmp.Compare(r.First, n) })
	for i--; i >= 0 && runs[i].First >= n-longest; i-- {
		if runs[i].Last >= n {
			return runs[i].by, true
		}
	}
	return 0, false
}

// erasedLook is the index as workers ask it. Erasing goes on while a journal
// is verified: what is gone and not explained is looked up again once.
type erasedLook struct {
	db *sql.DB

	mu    sync.Mutex
	index *erasedIndex
}

func (l *erasedLook) now() *erasedIndex {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.index
}

func (l *erasedLook) again(ctx context.Context) (*erasedIndex, error) {
	fresh, err := newErasedIndex(ctx, l.db)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.index = fresh
	return fresh, nil
}

// readErasures reads what is known to be erased as the verification begins.
func (v *verification) readErasures() error {
	index, err := newErasedIndex(v.ctx, v.tx)
	if err != nil {
		return err
	}
	v.known, v.lists = index, index.lists
	v.erased = &erasedLook{db: v.db, index: index}
	return nil
}

// checkOwn judges an entry that the journal wrote of itself.
func (v *verification) checkOwn(n int64, e *entry.Entry) {
	switch {
	case e.Seq > v.ownNext:
		v.report.find(n, "entries %d to %d that the journal wrote of itself are missing", v.ownNext, e.Seq-1)
	case e.Seq < v.ownNext:
		v.report.find(n, "entry %d that the journal wrote of itself comes out of order", e.Seq)
	}
	v.ownNext = e.Seq + 1
	if e.Kind == entry.KindIntent {
		v.settleIntent(e.Intent, e.Reason)
	}
	if e.Kind != entry.KindErasure {
		return
	}
	v.report.ErasureEntries++
	if len(v.report.Erasures) < MaxErasures {
		v.report.Erasures = append(v.report.Erasures, ErasureEntry{
			N: n, At: e.At, Scope: e.Scope, What: e.What, Count: e.Count, First: e.First, Last: e.Last,
		})
	}
	list, there := v.lists[n]
	if !there {
		v.report.find(n, "the list of what it erased is missing")
		return
	}
	delete(v.lists, n)
	if _, err := checkEraseList(list, n, e); err != nil {
		v.report.find(n, "%v", err)
	}
}

// checkLists looks for lists that no entry has.
func (v *verification) checkLists() {
	for n := range v.lists {
		v.report.find(n, "there is a list of erased entries, and no entry that erased them")
	}
}
