package settlement_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

// slow is a store whose units end when the test says so.
type slow struct {
	store.Store
	ready chan struct{} // a unit has done everything but commit
	end   chan struct{}
}

func (s slow) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	return s.Store.Do(ctx, w, func(tx store.Tx) error {
		err := fn(tx)
		s.ready <- struct{}{}
		<-s.end
		return err
	})
}

func big(t testing.TB, id string) *action.Declaration {
	t.Helper()
	d, err := action.Parse(fmt.Appendf(nil, `{"action_id": %q, "contract_id": "refunds", "action_type": "refund_order", "subject_id": %q, "subject_kind": "order",
		"agent_id": "bot", "requested_at": "2026-11-02T12:00:00Z", "params": {"amount": 150.00}}`, id, "o-"+id))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Two instances record at the same time what neither sees of the other: 150 and 150
// are more than the agent may, and each alone is not.
func TestTwoThatDoNotSeeEachOtherAreSeenTogetherInTheEnd(t *testing.T) {
	t.Parallel()
	p := world(t, onPostgres)
	p.clock.ticks.Store(true)
	p.drain(t)
	held := slow{Store: p.store, ready: make(chan struct{}), end: make(chan struct{})}
	other := action.NewService(held, action.Options{Random: rand.Reader})
	answered := make(chan error, 1)
	go func() {
		_, err := other.Declare(t.Context(), p.recorder(t), big(t, "a1"))
		answered <- err
	}()
	<-held.ready
	r, err := p.actions.Declare(t.Context(), p.recorder(t), big(t, "a2"))
	if err != nil || r.Verdict.Conformance.Result != verdict.Pass {
		t.Fatalf("alone it is %v, %v", r, err)
	}
	p.drain(t)
	held.end <- struct{}{}
	if err := <-answered; err != nil {
		t.Fatal(err)
	}
	p.drain(t)
	for _, id := range []string{"a1", "a2"} {
		if got := p.result(t, id, "agent_daily"); got != verdict.Fail {
			t.Errorf("%s is %s, want what both come to", id, got)
		}
	}
	if left := p.stale(t); len(left) > 0 {
		t.Errorf("left behind are %v", left)
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
