package engine

import (
	"testing"

	"github.com/deed-dev/deed/internal/verdict"
)

// One evaluation is what a settlement costs: the case's digest, the verdict,
// and the verdict's digest.
func BenchmarkEvaluate(b *testing.B) {
	c := refundCase(b)
	if v, err := Evaluate(c); err != nil || v.Badge != verdict.Pass || v.Status != verdict.Settled {
		b.Fatalf("the refund comes to %s, %s, %v: %v %v", v.Badge, v.Status, err, v.Outcome, v.Conformance)
	}
	b.ReportAllocs()
	for b.Loop() {
		v, err := Evaluate(c)
		if err != nil {
			b.Fatal(err)
		}
		v.Digest()
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "evaluations/s")
}

// Without the digests.
func BenchmarkEvaluateRules(b *testing.B) {
	c := refundCase(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Evaluate(c); err != nil {
			b.Fatal(err)
		}
	}
}
