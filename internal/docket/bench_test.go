package docket_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/docket"
)

func BenchmarkBuildACase(b *testing.B) {
	b.Run("of three facts", func(b *testing.B) {
		m := live(b, refunds)
		declare(m, refund("r-1"))
		report(m, paid("re_1", key("idempotency_key", "r-1")), paid("re_2", on("o-1"), key("idempotency_key", "r-9")), paid("re_3", on("o-2")))
		for b.Loop() {
			build(b, m, "r-1", at(time.Hour))
		}
	})
	b.Run("of one fact and more rivals than can be told apart", func(b *testing.B) {
		m := live(b, refunds)
		for i := range 1000 {
			declare(m, refund(fmt.Sprintf("r-%03d", i)))
		}
		report(m, paid("re_1", on("o-1")))
		for b.Loop() {
			build(b, m, "r-500", at(time.Hour))
		}
	})
	b.Run("among 64 rivals with a fact each", func(b *testing.B) {
		m := live(b, refunds)
		for i := range 64 {
			declare(m, refund(fmt.Sprintf("r-%03d", i)))
			report(m, paid(fmt.Sprintf("re_%d", i), on("o-1")))
		}
		var last error
		for b.Loop() {
			_, last = docket.Build(m, "r-005", at(time.Hour))
		}
		if last != nil {
			b.Fatal(last)
		}
	})
}
