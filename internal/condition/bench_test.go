package condition_test

import (
	"testing"

	"github.com/deed-dev/deed/internal/condition"
)

func BenchmarkTruth(b *testing.B) {
	for name, text := range map[string]string{
		"amount and currency":  `fact.amount == params.amount && fact.currency == params.currency`,
		"an amount in a limit": `params.amount <= money("250.00 USD")`,
		"one of several":       `fact.code in ["a", "b", "c", "RF-1042"]`,
		"each of a list":       `fact.items.all(n, n > 0)`,
		"nothing known":        `fact.missing == params.amount && fact.none == params.currency`,
	} {
		e, err := condition.Parse(text, scope())
		if err != nil {
			b.Fatal(err)
		}
		// Asked as an interface, as the engine asks.
		var names condition.Names = world()
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				e.Truth(names)
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	s := scope()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := condition.Parse(`fact.amount == params.amount && fact.currency == params.currency`, s); err != nil {
			b.Fatal(err)
		}
	}
}
