package condition_test

import (
	"testing"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/value"
)

func seeds(f *testing.F) {
	for _, text := range []string{
		`fact.amount == params.amount && fact.currency == params.currency`,
		`params.amount <= money("250.00 USD")`, `!(fact.a in [1, 2.5, "x"]) || fact.b.exists(v, v != fact.c)`,
		`fact.a.matches("^[a-z]+$") ? size(fact.l) > 1 : -fact.n * 3 < 4`, `timestamp("2026-10-15T12:00:00Z") < params.due`,
		`'\x41\u00e9\n' == "\101"`, `((((`, `fact.l.all(x, fact.m.exists(y, x == y))`, `[[1], []] == fact.l`, `money("1`, "1e9", `"`,
	} {
		f.Add(text)
	}
}

// FuzzParse looks for texts that break the parser, are written out as something
// else, or are not part of the Common Expression Language.
func FuzzParse(f *testing.F) {
	seeds(f)
	env := reference(f)
	f.Fuzz(func(t *testing.T, text string) {
		e, err := condition.ParseValue(text, scope())
		if err != nil {
			failure := err.(*condition.Error)
			if failure.Message == "" || failure.Offset < 0 || failure.Length < 0 || failure.Offset+failure.Length > len(text) {
				t.Fatalf("the error of %q points at %d+%d: %q", text, failure.Offset, failure.Length, failure.Message)
			}
			return
		}
		if _, issues := env.Parse(text); issues.Err() != nil && whole(e.Tree()) {
			t.Fatalf("%q is accepted here, and there: %v", text, issues.Err())
		}
		written := e.Tree().String()
		if len(written) > 4096 {
			return
		}
		again, err := condition.ParseValue(written, scope())
		if err != nil {
			t.Fatalf("%q is written %q, which is refused: %v", text, written, err)
		}
		if got := again.Tree().String(); got != written {
			t.Fatalf("%q is written %q, and that %q", text, written, got)
		}
	})
}

// whole reports an expression all of whose numbers the reference can hold: it
// has no integers beyond 64 bits.
func whole(n *condition.Node) bool {
	if n.Op == condition.Literal && n.Kind == value.Decimal && n.Value.Decimal().NumDigits() > 18 {
		return false
	}
	for _, arg := range n.Args {
		if !whole(arg) {
			return false
		}
	}
	return true
}

// FuzzTruth looks for values that break an evaluation, or that turn what was
// known without them.
func FuzzTruth(f *testing.F) {
	for _, facts := range []string{`{"a":1}`, `{"a":"x","l":[1,null,"2"]}`, `{"amount":{"amount":"1.00","currency":"USD"},"currency":"usd"}`} {
		f.Add(`fact.a == 1 || fact.l.exists(x, x == fact.a)`, facts)
		f.Add(`fact.amount * 2 > params.amount && fact.currency == params.currency`, facts)
		f.Add(`size(fact.l) > 1 && fact.a in fact.l`, facts)
	}
	f.Fuzz(func(t *testing.T, text, facts string) {
		e, err := condition.ParseValue(text, scope())
		if err != nil {
			return
		}
		names := decoded(facts)
		names["params.amount"], names["params.currency"] = amount("180.00 USD"), value.OfCurrency("USD")
		got := e.Truth(names)
		if (got.Truth == maybe) != (got.Cause != condition.NoCause) {
			t.Fatalf("%q comes to %+v", text, got)
		}
		if nothing := e.Truth(known{}); nothing.Truth != maybe && nothing.Truth != got.Truth {
			t.Fatalf("%q is %v where nothing is known, and %v of %q", text, nothing, got, facts)
		}
	})
}
