package intent_test

import (
	"strings"
	"testing"
)

// A mapped call waits for this before its declaration is sent.
func BenchmarkIntent(b *testing.B) {
	m := parse(b, refunds)
	for name, content := range map[string]int{"a small call": 0, "a call of a megabyte": 1 << 20} {
		b.Run(name, func(b *testing.B) {
			c := call(b, "refund_payment", `{"name":"refund_payment","arguments":{"order_id":"order_10231","amount":180.0,"currency":"USD","note":"`+strings.Repeat("x", content)+`"}}`)
			b.SetBytes(int64(len(c.Params)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Intent(c); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
