package conformance

import (
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

var lockLaws = []law{
	{"units that lock an action build on each other", lockedInTurn},
	{"units that lock the same actions in another order do not wait for ever", noDeadlock},
	{"a unit that locks an action waits until the one before it has ended", lockWaits},
	{"a lock holds up nobody who only brings something", locksHoldUpNobody},
	{"what is not there can be locked", lockNothing},
	{"a unit that is alone waits for one that is", aloneWaitsForAlone},
	{"a unit that is together with others waits for one that is alone", togetherWaitsForAlone},
	{"a unit that is alone waits for those that are together", aloneWaitsForTogether},
	{"units that are together, and those that take no turn, hold up nobody", turnsHoldUpNobody},
	{"a unit that evaluates waits for one that does, and for nobody else", evaluatingInTurn},
	{"a turn is taken first or not at all", turnFirst},
}

// count is the number that a test has written into a verdict.
func count(v *verdict.Verdict) int {
	if v == nil || len(v.Notes) == 0 {
		return 0
	}
	n, _ := strconv.Atoi(v.Notes[0].About)
	return n
}

func counting(n int) func(*verdict.Verdict) {
	return func(v *verdict.Verdict) {
		v.Notes = []verdict.Reason{{Code: verdict.LateEvidence, About: strconv.Itoa(n)}}
	}
}

// raise locks actions and adds one to the number of each.
func raise(t testing.TB, tx store.Tx, numbers ...int) error {
	var refs []store.Ref
	for _, n := range numbers {
		refs = append(refs, ref(n))
	}
	if err := tx.Lock(refs); err != nil {
		return fmt.Errorf("lock: %w", err)
	}
	found, err := tx.Current(refs)
	if err != nil {
		return err
	}
	for _, n := range numbers {
		v, c := judged(t, action(n), counting(count(found[ref(n)])+1))
		tx.KeepVerdict(ref(n), v, c, nil)
	}
	return nil
}

func lockedInTurn(t *testing.T, s *suite) {
	p := s.workspace(t)
	declare(t, p, action(1))
	const units, rounds = 6, 5
	together(t, units, func(int) error {
		for range rounds {
			if err := p.try(t, func(tx store.Tx) error { return raise(t, tx, 1) }); err != nil {
				return err
			}
		}
		return nil
	})
	if got := count(current(t, p, ref(1))); got != units*rounds {
		t.Errorf("%d units made %d", units*rounds, got)
	}
}

func noDeadlock(t *testing.T, s *suite) {
	p := s.workspace(t)
	orders := [][]int{{1, 2, 3, 4}, {4, 3, 2, 1}, {2, 4, 1, 3}, {3, 1, 4, 2}}
	for n := 1; n <= 4; n++ {
		declare(t, p, action(n))
	}
	const rounds = 5
	together(t, len(orders), func(i int) error {
		for range rounds {
			if err := p.try(t, func(tx store.Tx) error { return raise(t, tx, orders[i]...) }); err != nil {
				return err
			}
		}
		return nil
	})
	for n := 1; n <= 4; n++ {
		if got := count(current(t, p, ref(n))); got != len(orders)*rounds {
			t.Errorf("%s counts %d, want %d", ref(n), got, len(orders)*rounds)
		}
	}
}

func lockWaits(t *testing.T, s *suite) {
	p := s.workspace(t)
	declare(t, p, action(1))
	waits(t, p, func(tx store.Tx) error { return tx.Lock([]store.Ref{ref(1)}) })
}

// waits runs two units that lock the same.
func waits(t *testing.T, p place, lock func(store.Tx) error) {
	t.Helper()
	waitsFor(t, p, lock, lock)
}

// waitsFor runs two units that lock what must not be locked twice: the second begins
// while the first has the lock, and must not get it before the first has ended. The
// first does so much in between that the second would get what nobody keeps from it.
func waitsFor(t *testing.T, p place, firstLocks, secondLocks func(store.Tx) error) {
	t.Helper()
	begun := make(chan struct{})
	var ended atomic.Bool
	var second sync.WaitGroup
	second.Go(func() {
		<-begun
		if err := p.try(t, func(tx store.Tx) error {
			if err := secondLocks(tx); err != nil {
				return err
			}
			if !ended.Load() {
				t.Error("two units have the lock")
			}
			return nil
		}); err != nil {
			t.Error(err)
		}
	})
	var once sync.Once
	p.do(t, func(tx store.Tx) error {
		if err := firstLocks(tx); err != nil {
			return err
		}
		once.Do(func() { close(begun) })
		for range 200 {
			if _, err := tx.RefsOf([]string{actionID(1)}); err != nil {
				return err
			}
		}
		ended.Store(true)
		return nil
	})
	second.Wait()
}

func locksHoldUpNobody(t *testing.T, s *suite) {
	if s.store.Name() == "sqlite" {
		return // its units run one after the other
	}
	p := s.workspace(t)
	declare(t, p, action(1))
	p.do(t, func(tx store.Tx) error {
		if err := tx.Lock([]store.Ref{ref(1)}); err != nil {
			return err
		}
		return p.try(t, func(other store.Tx) error {
			if _, err := other.AddFacts([]store.Fact{fact(1)}); err != nil {
				return err
			}
			f := fact(1)
			other.Wake(store.Wake{Kind: store.WakeFact, Fact: f.Identity()}, store.Wake{Kind: store.WakeAction, Ref: ref(1)})
			return nil
		})
	})
}

// turn takes a turn and has the unit begin.
func turn(of store.Turn) func(store.Tx) error {
	return func(tx store.Tx) error {
		tx.Turn(of)
		_, err := tx.NextDue()
		return err
	}
}

func aloneWaitsForAlone(t *testing.T, s *suite) {
	waits(t, s.workspace(t), turn(store.Alone))
}

func togetherWaitsForAlone(t *testing.T, s *suite) {
	waitsFor(t, s.workspace(t), turn(store.Alone), turn(store.Together))
}

func aloneWaitsForTogether(t *testing.T, s *suite) {
	waitsFor(t, s.workspace(t), turn(store.Together), turn(store.Alone))
}

func turnsHoldUpNobody(t *testing.T, s *suite) {
	if s.store.Name() == "sqlite" {
		return // its units run one after the other
	}
	p := s.workspace(t)
	p.do(t, func(tx store.Tx) error {
		if err := turn(store.Together)(tx); err != nil {
			return err
		}
		return p.try(t, turn(store.Together))
	})
	p.do(t, func(tx store.Tx) error {
		if err := turn(store.Alone)(tx); err != nil {
			return err
		}
		return p.try(t, func(other store.Tx) error {
			other.Wake(store.Wake{Kind: store.WakeAction, Ref: ref(1)})
			return nil
		})
	})
}

func evaluatingInTurn(t *testing.T, s *suite) {
	p := s.workspace(t)
	waits(t, p, turn(store.Evaluating))
	if s.store.Name() == "sqlite" {
		return // its units run one after the other
	}
	for _, other := range []store.Turn{store.Alone, store.Together} {
		p.do(t, func(tx store.Tx) error {
			if err := turn(store.Evaluating)(tx); err != nil {
				return err
			}
			return p.try(t, turn(other))
		})
		p.do(t, func(tx store.Tx) error {
			if err := turn(other)(tx); err != nil {
				return err
			}
			return p.try(t, turn(store.Evaluating))
		})
	}
}

func turnFirst(t *testing.T, s *suite) {
	p := s.workspace(t)
	err := p.try(t, func(tx store.Tx) error {
		tx.Now()
		tx.Turn(store.Alone)
		return nil
	})
	if err == nil {
		t.Error("a unit took its turn after its snapshot")
	}
}

func lockNothing(t *testing.T, s *suite) {
	p := s.workspace(t)
	p.do(t, func(tx store.Tx) error { return tx.Lock([]store.Ref{ref(1), ref(2)}) })
	p.do(t, func(tx store.Tx) error { return tx.Lock(nil) })
}
