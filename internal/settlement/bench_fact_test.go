package settlement_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/intake"
)

// toldOf is what a connector sends of refunds: each with a subject and two keys.
func toldOf(first, n int64) []byte {
	body := []byte(`{"facts":[`)
	for i := first; i < first+n; i++ {
		if i > first {
			body = append(body, ',')
		}
		body = fmt.Appendf(body, `{"source":"stripe","external_id":"re_%d","type":"refund.succeeded","subject_id":"o-%d","subject_kind":"order",`+
			`"refs":{"key":"a%d","refund":"re_%d"},"attrs":{"amount":{"amount":"80.00","currency":"USD"},"currency":"usd"},"occurred_at":"2026-11-02T12:00:30.123456Z"}`, i, i, i, i)
	}
	return append(body, "]}"...)
}

// BenchmarkTell takes the time of facts in batches, from the bytes that were sent to the
// commit, and of the evaluator that finds that they belong to nobody.
func BenchmarkTell(b *testing.B) {
	for name := range databases {
		b.Run(name, func(b *testing.B) {
			p := busy(b, name)
			connector := p.key(b, access.ScopesOf(access.FactsWrite), "stripe")
			var telling, draining time.Duration
			const many = 1000
			for n := range int64(b.N) {
				body := toldOf(1+n*many, many)
				start := time.Now()
				facts, err := intake.Parse(body)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.intake.Push(b.Context(), connector, facts); err != nil {
					b.Fatal(err)
				}
				telling += time.Since(start)
				start = time.Now()
				p.drain(b)
				draining += time.Since(start)
			}
			b.ReportMetric(many*float64(b.N)/telling.Seconds(), "told/s")
			b.ReportMetric(many*float64(b.N)/draining.Seconds(), "looked/s")
		})
	}
}

// BenchmarkOneOfMany tells facts one by one that have the key of one of many actions
// on a subject, and takes the time until the verdict is there.
func BenchmarkOneOfMany(b *testing.B) {
	for name := range databases {
		for _, many := range []int{100, 2000} {
			b.Run(fmt.Sprintf("%s/%d", name, many), func(b *testing.B) {
				p := busy(b, name)
				recorder, connector := p.recorder(b), p.key(b, access.ScopesOf(access.FactsWrite), "stripe")
				for n := 0; n < many; {
					var all []*action.Declaration
					for range 100 {
						n++
						d, err := action.Parse(fmt.Appendf(nil, `{"action_id": "a%d", "contract_id": "refunds", "action_type": "refund_order", "subject_id": "o-1",
							"subject_kind": "order", "agent_id": "bot-%d", "params": {"amount": 80.00}}`, n, n%50))
						if err != nil {
							b.Fatal(err)
						}
						all = append(all, d)
					}
					if _, err := p.actions.DeclareAll(b.Context(), recorder, all); err != nil {
						b.Fatal(err)
					}
				}
				p.drain(b)
				b.ResetTimer()
				for n := range b.N {
					facts, err := intake.Parse(fmt.Appendf(nil, `{"facts":[{"source":"stripe","external_id":"re_%d","type":"refund.succeeded","subject_id":"o-1",`+
						`"refs":{"key":"a%d"},"attrs":{"amount":{"amount":"80.00","currency":"USD"}},"occurred_at":"2026-11-02T12:00:30Z"}]}`, n, 1+n%many))
					if err != nil {
						b.Fatal(err)
					}
					if _, err := p.intake.Push(b.Context(), connector, facts); err != nil {
						b.Fatal(err)
					}
					p.drain(b)
				}
				b.ReportMetric(float64(b.Elapsed().Milliseconds())/float64(b.N), "ms/fact")
			})
		}
	}
}
