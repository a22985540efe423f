package settlement_test

import (
	"fmt"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/verdict"
)

// Many actions on a subject all show a fact that is there, but only one has its id.
func TestWhoeverCanClaimAFactIsNotKeptWaitingByThoseBesideIt(t *testing.T) {
	t.Parallel()
	for name := range databases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := busy(t, name)
			const many, told = 40, 5
			var all []*action.Declaration
			for n := range many {
				d, err := action.Parse(fmt.Appendf(nil, `{"action_id": "a%d", "contract_id": "refunds", "action_type": "refund_order", "subject_id": "o-1",
					"agent_id": "bot-%d", "params": {"amount": 80.00}}`, n, n))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, d)
			}
			if _, err := p.actions.DeclareAll(t.Context(), p.recorder(t), all); err != nil {
				t.Fatal(err)
			}
			p.drain(t)
			connector := p.key(t, access.ScopesOf(access.FactsWrite), "stripe")
			for n := range told {
				facts, err := intake.Parse(fmt.Appendf(nil, `{"facts":[{"source":"stripe","external_id":"re_%d","type":"refund.succeeded","subject_id":"o-1",`+
					`"refs":{"key":"a%d"},"attrs":{"amount":{"amount":"80.00","currency":"USD"}},"occurred_at":"2026-11-02T12:00:30Z"}]}`, n, n))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := p.intake.Push(t.Context(), connector, facts); err != nil {
					t.Fatal(err)
				}
			}
			units, evaluated := 0, 0
			p.evaluator = settlement.NewEvaluator(p.store, settlement.Options{OnUnit: func(_ access.WorkspaceID, done settlement.Done) {
				units++
				evaluated += done.Evaluated
				if units > 1 {
					return
				}
				if done.Evaluated >= many/2 {
					t.Errorf("%d actions are evaluated with the %d that can claim something", done.Evaluated, told)
				}
				for n := range told {
					if got := p.result(t, fmt.Sprint("a", n), "money_moved"); got != verdict.Pass {
						t.Errorf("after the first unit a%d is %s", n, got)
					}
				}
			}})
			p.drain(t)
			if evaluated != many {
				t.Errorf("%d evaluations tell %d actions of %d facts", evaluated, many, told)
			}
			if stale := p.stale(t); len(stale) > 0 {
				t.Errorf("these should have been woken: %s", stale)
			}
		})
	}
}
