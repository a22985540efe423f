package settlement_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// govern has a contract govern.
func (p *place) govern(t *testing.T, text string) {
	t.Helper()
	saved, err := p.contracts.Save(t.Context(), p.member(t), []byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.contracts.Activate(t.Context(), p.member(t), saved.Version.ContractID, saved.Version.Version, verdict.Live); err != nil {
		t.Fatal(err)
	}
}

// asked declares an action of one agent, requested at a time after noon, and returns it.
func (p *place) asked(t *testing.T, id, contract, order string, after time.Duration) store.Ref {
	t.Helper()
	r, err := p.actions.Declare(t.Context(), p.recorder(t), read(t, asking(id, contract, order, after)))
	if err != nil {
		t.Fatal(err)
	}
	return r.Action.Ref
}

func asking(id, contract, order string, after time.Duration) string {
	return fmt.Sprintf(`{"action_id": %q, "contract_id": %q, "action_type": "refund_order", "subject_id": %q, "subject_kind": "order",
		"agent_id": "bot", "requested_at": %q, "params": {"amount": 80.00}}`, id, contract, order, noon.Add(after))
}

func (p *place) wake(t *testing.T, w store.Wake) {
	t.Helper()
	if err := p.store.Do(t.Context(), p.id, func(tx store.Tx) error { tx.Wake(w); return nil }); err != nil {
		t.Fatal(err)
	}
}

func (p *place) noneStale(t *testing.T) {
	t.Helper()
	if left := p.stale(t); len(left) > 0 {
		t.Errorf("left behind are %v", left)
	}
}

// begun is a store in which something happens when its first unit has begun.
type begun struct {
	store.Store
	then func() // nil once it has
}

type begunTx struct {
	store.Tx
	of *begun
}

func (s *begun) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	return s.Store.Do(ctx, w, func(tx store.Tx) error { return fn(begunTx{tx, s}) })
}

func (tx begunTx) Now() value.Instant {
	now := tx.Tx.Now()
	if then := tx.of.then; then != nil {
		tx.of.then = nil
		then()
	}
	return now
}

// Whoever declares does not wake an action again that is woken already. Whoever claims
// that wake sees the declaration, also where it began to evaluate before.
func TestAWakeThatADeclarationReliesOnIsNotDoneByAnOlderSnapshot(t *testing.T) {
	t.Parallel()
	p := world(t, onPostgres)
	p.after(10 * time.Minute)
	p.clock.ticks.Store(true)
	p.paid(t, "re_1", "o-1")
	a1 := p.asked(t, "a1", "undoing", "o-1", 0)
	p.drain(t)
	p.wake(t, store.Wake{Kind: store.WakeAction, Ref: a1})
	s := &begun{Store: p.store, then: func() { p.asked(t, "a2", "undoing", "o-1", 0) }}
	if err := settlement.NewEvaluator(s, settlement.Options{}).Drain(t.Context(), p.id); err != nil {
		t.Fatal(err)
	}
	p.drain(t)
	for _, id := range []string{"a1", "a2"} {
		if got := p.result(t, id, "undone"); got != verdict.Unknown {
			t.Errorf("of one refund for two, %s is %s", id, got)
		}
	}
	p.noneStale(t)
}

// A fact comes in the same unit in which its action goes on to tell those behind it.
func TestASpreadThatGoesOnTellsRivalsOfAFactToo(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	a1 := p.refund(t, "a1", "o-1")
	p.refund(t, "a2", "o-1")
	p.after(time.Hour)
	p.paid(t, "re_1", "o-1")
	p.drain(t)
	p.paid(t, "re_2", "", func(f *evidence.Fact) { f.SubjectKind, f.Refs = "", map[string]string{"key": "a1"} })
	p.wake(t, store.Wake{Kind: store.WakeSpread, Ref: a1, Watermark: noon.Add(time.Minute)})
	p.drain(t)
	for _, id := range []string{"a1", "a2"} {
		if got := p.result(t, id, "money_moved"); got != verdict.Pass {
			t.Errorf("with one refund for each, %s is %s", id, got)
		}
	}
	p.noneStale(t)
}

// Two contracts name an effect by the same reference. Another telling of it is told to
// the actions of both.
func TestAnotherTellingOfAnEffectIsToldUnderEachContract(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.after(10 * time.Minute)
	for _, id := range []string{"one", "two"} {
		p.govern(t, fmt.Sprintf(`contract: %s
params: {amount: {type: money, currency: USD}}
settle: {after: 24h, grace: 2h, max_skew: 2m}
sources: {stripe: {trust: asserted}, desk: {trust: asserted}}
link: [refs.key == action_id]
steps: [{id: done, expect: refund.succeeded, from: [stripe, desk], within: 12h, count: 1}]
evidence: {exclusive: true, same_effect: refs.refund}
`, id))
		p.asked(t, "a-"+id, id, "o-1", 0)
		p.paid(t, "re_"+id, "", func(f *evidence.Fact) {
			f.SubjectKind, f.Refs = "", map[string]string{"key": "a-" + id, "refund": "rf_1"}
		})
	}
	p.drain(t)
	p.paid(t, "tk_1", "", func(f *evidence.Fact) {
		f.Source, f.SubjectKind, f.Refs = "desk", "", map[string]string{"refund": "rf_1"}
	})
	p.drain(t)
	p.noneStale(t)
}

// An action that starts before more of one instant than are woken at a time matters to
// the last of them too.
func TestMoreOfOneInstantThanAreWokenAtATimeAreAllWoken(t *testing.T) {
	t.Parallel()
	p := world(t, onSQLite)
	p.after(10 * time.Minute)
	p.govern(t, strings.Replace(refunds, "200.00 USD", "84000.00 USD", 1)) // 1050 of 80
	const many, batch = 1050, 50
	for first := 0; first < many; first += batch {
		var all []*action.Declaration
		for n := first; n < first+batch; n++ {
			all = append(all, read(t, asking(fmt.Sprintf("a%04d", n), "refunds", fmt.Sprint("o-", n), 5*time.Minute)))
		}
		if _, err := p.actions.DeclareAll(t.Context(), p.recorder(t), all); err != nil {
			t.Fatal(err)
		}
	}
	p.drain(t)
	if got := p.result(t, "a0000", "agent_daily"); got != verdict.Pass {
		t.Fatalf("with as much as is allowed the first is %s", got)
	}
	p.asked(t, "before", "refunds", "o-before", 0)
	p.drain(t)
	for n := range many {
		if got := p.result(t, fmt.Sprintf("a%04d", n), "agent_daily"); got != verdict.Fail {
			t.Fatalf("with more than is allowed number %d is %s", n, got)
		}
	}
}

// An action that cannot be evaluated stands between one that is declared and another
// that this matters to.
func TestAnActionThatCannotBeEvaluatedHidesNobodyBehindIt(t *testing.T) {
	t.Parallel()
	broken := errors.New("a row that nobody can read")
	for name, how := range map[string]func(*docket.Question) error{
		"its case is none": func(q *docket.Question) error {
			if q.Revisions == "bad" && len(q.Declarations) > 0 {
				q.Declarations[0].ReceivedAt = 0
			}
			return nil
		},
		"the whole unit fails with it": func(q *docket.Question) error {
			if q.Revisions == "bad" {
				return broken
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := world(t, onSQLite)
			p.after(30 * time.Minute)
			bad := p.asked(t, "bad", "refunds", "o-1", 10*time.Minute)
			p.asked(t, "behind", "refunds", "o-2", 20*time.Minute)
			p.drain(t)
			s := &spoiled{Store: p.store}
			s.spoil(how)
			p.evaluator = settlement.NewEvaluator(s, settlement.Options{})
			p.wake(t, store.Wake{Kind: store.WakeSpread, Ref: bad}) // as it is tried again
			p.asked(t, "before", "refunds", "o-3", 0)
			p.drain(t)
			if got := p.result(t, "behind", "agent_daily"); got != verdict.Fail {
				t.Errorf("with 240 of 200 it is %s", got)
			}
			s.spoil(nil)
			p.clock.set(p.clock.read() + value.Instant(time.Hour/time.Microsecond))
			p.drain(t)
			p.noneStale(t)
		})
	}
}
