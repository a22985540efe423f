package condition_test

import (
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/value"
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
		var names condition.Names = byRoot(world())
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

// perRoot keeps the values of each root apart, so that a benchmark does not
// measure the joining of names.
type perRoot [3]map[string]value.Value

func (p perRoot) Value(ref condition.Ref) value.Value { return p[ref.Root][ref.Name] }

func byRoot(names known) perRoot {
	p := perRoot{{}, {}, {}}
	for name, v := range names {
		root, attribute, _ := strings.Cut(name, ".")
		for _, r := range []condition.Root{condition.Action, condition.Params, condition.Fact} {
			if r.String() == root {
				p[r][attribute] = v
			}
		}
	}
	return p
}
