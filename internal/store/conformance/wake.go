package conformance

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

var wakeLaws = []law{
	{"a wake comes back as it was given", wakeReturns},
	{"those that are due come, the longest due first, and the others wait", dueInOrder},
	{"a wake that was claimed is gone, and there again if the unit failed", claimedOnce},
	{"no two units claim one wake, and none is lost where some fail", claimedByOne},
	{"no two units claim one fact of those that came together, and none is lost where some fail", factsClaimedByOne},
	{"of facts that came together as many are claimed as were asked for, those that are due first", factsInOrder},
	{"to check again wakes the action and its neighbours, where something could have been missed", recheck},
	{"an action that is to be evaluated anyway is known", evaluatedAnyway},
	{"a wake that a unit relies on is claimed by none that began before that unit ended", reliedOn},
	{"whoever waits for wakes is told of them", woken},
}

// claim takes wakes in a unit of its own.
func claim(t testing.TB, p place, n int) []store.Wake {
	t.Helper()
	var got []store.Wake
	p.do(t, func(tx store.Tx) (err error) {
		got, err = tx.Claim(n)
		return err
	})
	return got
}

func wakeReturns(t *testing.T, s *suite) {
	p := s.workspace(t)
	for _, want := range []store.Wake{
		{Kind: store.WakeAction, Ref: ref(1)},
		{Kind: store.WakeSpread, Ref: ref(2)},
		{Kind: store.WakeSettle, Ref: ref(3), Due: at(-time.Hour)},
		{Kind: store.WakeFact, Fact: evidence.Identity{Source: "stripe", Family: "refund", ExternalID: "re_1"}},
		{Kind: store.WakeSource, Source: "stripe", FactType: "refund.succeeded", Watermark: at(time.Hour)},
	} {
		p.keep(t, func(tx store.Tx) { tx.Wake(want) })
		got := claim(t, p, 10)
		if len(got) != 1 {
			t.Fatalf("of %+v come %+v", want, got)
		}
		// When one is due that was due at once may be told or not.
		if want.Due == 0 && got[0].Due <= at(time.Hour) {
			got[0].Due = 0
		}
		if got[0] != want {
			t.Errorf("it comes back as %+v, want %+v", got[0], want)
		}
	}
}

func dueInOrder(t *testing.T, s *suite) {
	p, c := s.apart(t)
	c.stopped.Store(true)
	due := func() value.Instant {
		return look(t, p, func(tx store.Tx) (value.Instant, error) { return tx.NextDue() })
	}
	if got := due(); got != 0 {
		t.Errorf("where there is no wake, the next is due at %s", got)
	}
	p.keep(t, func(tx store.Tx) {
		for n, after := range []time.Duration{5, -3, 2, -1, -2} {
			tx.Wake(store.Wake{Kind: store.WakeSettle, Ref: ref(n), Due: at(after * time.Hour)})
		}
	})
	if got := due(); got != at(-3*time.Hour) {
		t.Errorf("the next is due at %s, want %s", got, at(-3*time.Hour))
	}
	refs := func(n int) []store.Ref {
		var all []store.Ref
		for _, w := range claim(t, p, n) {
			all = append(all, w.Ref)
		}
		return all
	}
	for _, step := range []struct {
		now  time.Duration
		n    int
		want []store.Ref
	}{
		{0, 2, []store.Ref{ref(1), ref(4)}},
		{0, 2, []store.Ref{ref(3)}},
		{0, 2, nil},
		{2*time.Hour - time.Microsecond, 9, nil},
		{2 * time.Hour, 9, []store.Ref{ref(2)}},
		{10 * time.Hour, 9, []store.Ref{ref(0)}},
	} {
		c.set(at(step.now))
		if got := refs(step.n); !slices.Equal(got, step.want) {
			t.Errorf("at %s come %v, want %v", at(step.now), got, step.want)
		}
	}
	if got := due(); got != 0 {
		t.Errorf("after all the next is due at %s", got)
	}
}

func claimedOnce(t *testing.T, s *suite) {
	p := s.workspace(t)
	p.keep(t, func(tx store.Tx) { tx.Wake(store.Wake{Kind: store.WakeAction, Ref: ref(1)}) })
	failed := errors.New("it was not to be")
	for range 3 {
		err := p.try(t, func(tx store.Tx) error {
			got, err := tx.Claim(10)
			if err != nil {
				return err
			}
			if len(got) != 1 {
				t.Errorf("there are %d", len(got))
			}
			return failed
		})
		if !errors.Is(err, failed) {
			t.Fatal(err)
		}
	}
	for _, want := range []int{1, 0} {
		if got := claim(t, p, 10); len(got) != want {
			t.Errorf("there are %d, want %d", len(got), want)
		}
	}
}

func claimedByOne(t *testing.T, s *suite) {
	p := s.workspace(t)
	var all []store.Wake
	for n := range 120 {
		all = append(all, store.Wake{Kind: store.WakeAction, Ref: ref(n)})
	}
	eachClaimedOnce(t, p, all)
}

func factsClaimedByOne(t *testing.T, s *suite) {
	p := s.workspace(t)
	var all []store.Wake
	for n := range 300 {
		id := evidence.Identity{Source: []string{"stripe", "shop"}[n%2], Family: []string{"refund", "order", "payout"}[n%3], ExternalID: fmt.Sprintf(`["%d"]`, n)}
		all = append(all, store.Wake{Kind: store.WakeFact, Fact: id})
	}
	eachClaimedOnce(t, p, all)
}

func factsInOrder(t *testing.T, s *suite) {
	p := s.workspace(t)
	const many = 230
	told := func(n int) store.Wake {
		return store.Wake{Kind: store.WakeFact, Due: at(-time.Duration(n%3) * time.Hour), Fact: evidence.Identity{Source: "stripe", Family: "refund", ExternalID: fmt.Sprint(n)}}
	}
	p.keep(t, func(tx store.Tx) {
		for n := range many {
			tx.Wake(told(n))
		}
	})
	left := map[store.Wake]bool{}
	for n := range many {
		left[told(n)] = true
	}
	for last, n := value.Instant(0), 1; len(left) > 0; n++ {
		got := claim(t, p, n)
		if want := min(n, len(left)); len(got) != want {
			t.Fatalf("%d are claimed where %d were asked for and %d are left", len(got), n, len(left))
		}
		for _, w := range got {
			if !left[w] {
				t.Fatalf("%+v is claimed twice, or was never added", w)
			}
			if w.Due < last {
				t.Fatalf("%+v comes after one that is due at %s", w, last)
			}
			last = w.Due
			delete(left, w)
		}
	}
}

// eachClaimedOnce adds wakes, and has several units claim them, some of which fail.
func eachClaimedOnce(t *testing.T, p place, all []store.Wake) {
	t.Helper()
	p.keep(t, func(tx store.Tx) { tx.Wake(all...) })
	var mu sync.Mutex
	claimed := map[store.Wake]int{}
	failed := errors.New("killed")
	together(t, 8, func(i int) error {
		for round := i; ; round++ {
			var got []store.Wake
			var next value.Instant
			err := p.try(t, func(tx store.Tx) (err error) {
				if got, err = tx.Claim(5); err != nil {
					return err
				}
				if round%3 == 0 && len(got) > 0 {
					return failed
				}
				next, err = tx.NextDue()
				return err
			})
			if errors.Is(err, failed) {
				continue
			}
			if err != nil {
				return err
			}
			mu.Lock()
			for _, w := range got {
				w.Due = 0
				claimed[w]++
			}
			mu.Unlock()
			// What others hold is none of ours, but it may come back.
			if len(got) == 0 && next == 0 {
				return nil
			}
		}
	})
	for _, w := range all {
		if claimed[w] != 1 {
			t.Errorf("%+v was claimed %d times", w, claimed[w])
		}
	}
	if len(claimed) != len(all) {
		t.Errorf("%d were claimed, want %d", len(claimed), len(all))
	}
}

func recheck(t *testing.T, s *suite) {
	p := s.workspace(t)
	p.keep(t, func(tx store.Tx) {
		tx.AddAction(action(1), nil, nil)
		tx.Recheck(ref(1))
	})
	got := claim(t, p, 10)
	for i := range got {
		got[i].Due = 0
	}
	one := []store.Wake{{Kind: store.WakeSpread, Ref: ref(1)}}
	if len(got) != 0 && fmt.Sprint(got) != fmt.Sprint(one) {
		t.Errorf("it wakes %+v", got)
	}
	if s.store.Name() == "postgres" && len(got) == 0 {
		t.Error("nothing is woken where units overlap")
	}
}

func evaluatedAnyway(t *testing.T, s *suite) {
	p := s.workspace(t)
	p.keep(t, func(tx store.Tx) {
		tx.Wake(
			store.Wake{Kind: store.WakeAction, Ref: ref(1)}, store.Wake{Kind: store.WakeSpread, Ref: ref(2)}, store.Wake{Kind: store.WakeSpread, Ref: ref(2)},
			store.Wake{Kind: store.WakeSettle, Ref: ref(3)}, store.Wake{Kind: store.WakeAction, Ref: ref(4), Due: at(day)},
			store.Wake{Kind: store.WakeSpread, Ref: ref(6), Watermark: at(day)},
		)
	})
	known := func(refs ...store.Ref) map[store.Ref]bool {
		t.Helper()
		var got map[store.Ref]bool
		p.do(t, func(tx store.Tx) (err error) {
			got, err = tx.Pending(refs)
			return err
		})
		return got
	}
	want := map[store.Ref]bool{ref(1): false, ref(2): true, ref(6): false}
	if got := known(ref(1), ref(2), ref(3), ref(4), ref(5), ref(6)); !maps.Equal(got, want) {
		t.Errorf("to be evaluated are %v, want those of which a wake for that is due, and which of them tell others: %v", got, want)
	}
	if got := known(); len(got) > 0 {
		t.Errorf("of none there are %v", got)
	}
	claim(t, p, 10)
	if got := known(ref(1), ref(2)); len(got) > 0 {
		t.Errorf("after all were claimed there are %v", got)
	}
}

func reliedOn(t *testing.T, s *suite) {
	if s.store.Name() == "sqlite" {
		return // its units run one after the other
	}
	p := s.workspace(t)
	p.keep(t, func(tx store.Tx) { tx.Wake(store.Wake{Kind: store.WakeAction, Ref: ref(1)}) })
	runs := 0
	p.do(t, func(tx store.Tx) error {
		runs++
		tx.Now() // it has begun
		if runs == 1 {
			p.do(t, func(other store.Tx) error {
				pending, err := other.Pending([]store.Ref{ref(1)})
				if _, is := pending[ref(1)]; err == nil && !is {
					t.Error("the wake is not there")
				}
				return err
			})
		}
		got, err := tx.Claim(10)
		if err == nil && len(got) != 1 {
			t.Errorf("%d wakes were claimed", len(got))
		}
		return err
	})
	if runs < 2 {
		t.Error("it was claimed with a snapshot from before")
	}
}

func woken(t *testing.T, s *suite) {
	p, _ := s.apart(t)
	ctx := background(t)
	// A signal may be lost, so that it is worth while to wake again.
	for n := 0; ; n++ {
		p.keep(t, func(tx store.Tx) { tx.Wake(store.Wake{Kind: store.WakeAction, Ref: ref(n)}) })
		again := time.NewTimer(5 * time.Second)
		select {
		case got := <-p.store.Woken():
			if want := []access.WorkspaceID{p.id}; !slices.Contains(want, got) {
				t.Errorf("%s was woken, want %s", got, p.id)
			}
			again.Stop()
			return
		case <-again.C:
		case <-ctx.Done():
			t.Fatal("nobody was told")
		}
	}
}
