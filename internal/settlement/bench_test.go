package settlement_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// loose is a contract as simple as they come, with one limit.
const loose = `contract: refunds
params:
  amount: {type: money, currency: USD}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources: {stripe: {trust: asserted}}
link: [refs.key == action_id, subject]
steps: [{id: money_moved, expect: refund.succeeded, from: stripe, where: fact.amount == params.amount, count: 1, within: 48h}]
limits: [{id: agent_daily, total: params.amount, max: "2000000.00 USD", over: 24h, per: agent_id}]
`

// busy is a place with the loose contract.
func busy(b testing.TB, name string) *place {
	b.Helper()
	s := serve(b, databases[name], noon)
	s.clock.ticks.Store(true)
	p := s.place(b)
	if _, err := p.intake.CreateSource(b.Context(), p.member(b), intake.SourceOrder{Name: "stripe"}); err != nil {
		b.Fatal(err)
	}
	saved, err := p.contracts.Save(b.Context(), p.member(b), []byte(loose), "")
	if err != nil {
		b.Fatal(err)
	}
	if _, err := p.contracts.Activate(b.Context(), p.member(b), "refunds", saved.Version.Version, verdict.Live); err != nil {
		b.Fatal(err)
	}
	p.drain(b)
	return p
}

func declaration(b *testing.B, n int64) *action.Declaration {
	d, err := action.Parse(fmt.Appendf(nil, `{"action_id": "a%d", "contract_id": "refunds", "action_type": "refund_order", "subject_id": "o-%d", "subject_kind": "order",
		"agent_id": "bot-%d", "params": {"amount": 80.00}}`, n, n, n%50))
	if err != nil {
		b.Fatal(err)
	}
	return d
}

func BenchmarkDeclare(b *testing.B) {
	for name := range databases {
		for _, clients := range []int{1, 64} {
			b.Run(fmt.Sprintf("%s/%d at once", name, clients), func(b *testing.B) {
				p := busy(b, name)
				key := p.recorder(b)
				var n atomic.Int64
				b.SetParallelism(clients)
				b.ResetTimer()
				run := func(pb *testing.PB) {
					for pb.Next() {
						if _, err := p.actions.Declare(b.Context(), key, declaration(b, n.Add(1))); err != nil {
							b.Error(err)
						}
					}
				}
				if clients > 1 {
					b.RunParallel(run)
				} else {
					for b.Loop() {
						if _, err := p.actions.Declare(b.Context(), key, declaration(b, n.Add(1))); err != nil {
							b.Error(err)
						}
					}
				}
				b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "actions/s")
			})
		}
	}
}

// BenchmarkEvaluate declares actions in batches, tells a fact of each, and takes the
// time of the evaluation alone.
func BenchmarkEvaluate(b *testing.B) {
	const many = 1000
	for name := range databases {
		b.Run(name, func(b *testing.B) {
			p := busy(b, name)
			recorder, evidenceKey := p.recorder(b), p.key(b, access.ScopesOf(access.FactsWrite), "stripe")
			var declaring, pushing, draining time.Duration
			n := int64(0)
			for range b.N {
				var all []*action.Declaration
				var facts []intake.Fact
				for range many {
					n++
					all = append(all, declaration(b, n))
					facts = append(facts, intake.Fact{Fact: evidence.Fact{
						Source: "stripe", ExternalID: fmt.Sprint("re_", n), Type: "refund.succeeded", SubjectID: fmt.Sprint("o-", n), SubjectKind: "order",
						OccurredAt: noon.Add(time.Minute), Refs: map[string]string{"key": fmt.Sprint("a", n)}, Attrs: map[string]value.Value{"amount": money("80.00 USD")},
					}})
				}
				start := time.Now()
				if _, err := p.actions.DeclareAll(b.Context(), recorder, all); err != nil {
					b.Fatal(err)
				}
				declaring += time.Since(start)
				start = time.Now()
				if _, err := p.intake.Push(b.Context(), evidenceKey, facts); err != nil {
					b.Fatal(err)
				}
				pushing += time.Since(start)
				start = time.Now()
				p.drain(b)
				draining += time.Since(start)
			}
			rate := func(took time.Duration) float64 { return float64(many*b.N) / took.Seconds() }
			b.ReportMetric(rate(declaring), "declared/s")
			b.ReportMetric(rate(pushing), "facts/s")
			b.ReportMetric(rate(draining), "evaluated/s")
			if got := p.result(b, "a1", "money_moved"); got != verdict.Pass {
				b.Errorf("the first is %s", got)
			}
		})
	}
}
