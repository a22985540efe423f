package settlement_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

// slow is a store whose first unit ends when the test says so.
type slow struct {
	store.Store
	once  *sync.Once
	ready chan struct{} // the unit has done everything but commit
	end   chan struct{}
}

func (s slow) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	return s.Store.Do(ctx, w, func(tx store.Tx) error {
		err := fn(tx)
		s.once.Do(func() {
			close(s.ready)
			<-s.end
		})
		return err
	})
}

// Two instances record at the same time what neither sees of the other. What both
// come to is over a limit, or leaves open whose a refund is, and each alone is not.
func TestTwoThatDoNotSeeEachOtherAreSeenTogetherInTheEnd(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		body, check string
		want        verdict.Result
	}{
		"a limit": {`{"action_id": %q, "contract_id": "refunds", "action_type": "refund_order", "subject_id": %[1]q, "subject_kind": "order",
			"agent_id": "bot", "requested_at": "2026-11-02T12:00:00Z", "params": {"amount": 150.00}}`, "agent_daily", verdict.Fail},
		"a fact": {`{"action_id": %q, "contract_id": "undoing", "subject_id": "o-1", "subject_kind": "order", "requested_at": "2026-11-02T12:00:00Z"}`, "undone", verdict.Unknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := world(t, onPostgres)
			p.after(10 * time.Minute)
			p.clock.ticks.Store(true)
			p.paid(t, "re_1", "o-1")
			p.drain(t)
			read := func(id string) *action.Declaration {
				d, err := action.Parse(fmt.Appendf(nil, test.body, id))
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			held := slow{Store: p.store, once: &sync.Once{}, ready: make(chan struct{}), end: make(chan struct{})}
			other := action.NewService(held, action.Options{Random: rand.Reader})
			answered := make(chan error, 1)
			key, first := p.recorder(t), read("a1")
			go func() {
				_, err := other.Declare(t.Context(), key, first)
				answered <- err
			}()
			<-held.ready
			if _, err := p.actions.Declare(t.Context(), key, read("a2")); err != nil {
				t.Fatal(err)
			}
			p.drain(t)
			if got := p.result(t, "a2", test.check); got != verdict.Pass {
				t.Fatalf("alone it is %s", got)
			}
			close(held.end)
			if err := <-answered; err != nil {
				t.Fatal(err)
			}
			p.drain(t)
			for _, id := range []string{"a1", "a2"} {
				if got := p.result(t, id, test.check); got != test.want {
					t.Errorf("%s is %s, want %s of both", id, got, test.want)
				}
			}
			if left := p.stale(t); len(left) > 0 {
				t.Errorf("left behind are %v", left)
			}
		})
	}
}

// A fact that is somebody else's by its key may decide whose another one is.
func TestAFactOfOneActionIsToldToThoseWhoCompeteWithIt(t *testing.T) {
	t.Parallel()
	on(t, noon, func(t *testing.T, s *server) {
		p := s.place(t)
		p.furnish(t)
		p.refund(t, "a1", "o-1")
		p.refund(t, "a2", "o-1")
		p.after(time.Hour)
		p.paid(t, "re_1", "o-1")
		p.drain(t)
		for _, id := range []string{"a1", "a2"} {
			if got := p.result(t, id, "money_moved"); got != verdict.Unknown {
				t.Fatalf("of one refund for two, %s is %s", id, got)
			}
		}
		p.paid(t, "re_2", "", func(f *evidence.Fact) { f.SubjectKind, f.Refs = "", map[string]string{"key": "a1"} })
		p.drain(t)
		for _, id := range []string{"a1", "a2"} {
			if got := p.result(t, id, "money_moved"); got != verdict.Pass {
				t.Errorf("with one refund for each, %s is %s", id, got)
			}
		}
		if left := p.stale(t); len(left) > 0 {
			t.Errorf("left behind are %v", left)
		}
	})
}

// What undoes an action is an action of its own, and how that one stands is shown with
// the first.
func TestHowACompensationStandsIsToldToWhatItUndoes(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.refund(t, "a1", "o-1")
	d, err := action.Parse([]byte(`{"action_id": "u1", "contract_id": "undoing", "subject_id": "o-1", "subject_kind": "order", "requested_at": "2026-11-02T12:00:00Z", "compensates": "a1"}`))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.actions.Declare(t.Context(), p.recorder(t), d); err != nil {
		t.Fatal(err)
	}
	p.drain(t)
	undone := func() verdict.Result {
		t.Helper()
		v := p.verdict(t, "a1")
		if v.Compensation == nil || len(v.Compensation.By) != 1 {
			t.Fatalf("undone by %+v, want u1", v.Compensation)
		}
		return v.Compensation.By[0].Outcome
	}
	if got := undone(); got != verdict.Unknown {
		t.Errorf("before anything was seen, it was undone: %s", got)
	}
	p.after(time.Hour)
	p.paid(t, "re_u", "o-2", func(f *evidence.Fact) { f.Refs = map[string]string{"key": "u1"} })
	p.drain(t)
	if got := undone(); got != p.verdict(t, "u1").Outcome.Result || got == verdict.Unknown {
		t.Errorf("u1 is %s, and a1 shows %s", p.verdict(t, "u1").Outcome.Result, got)
	}
	if left := p.stale(t); len(left) > 0 {
		t.Errorf("left behind are %v", left)
	}
}
