package condition_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/value"
)

// anything draws a value of any kind, missing included.
func anything() *rapid.Generator[value.Value] {
	return rapid.Custom(func(t *rapid.T) value.Value {
		scalar := func() value.Value {
			return rapid.SampledFrom([]value.Value{
				{},
				value.OfBool(true), value.OfBool(false), number("1"), number("2.0"), number("-1"),
				value.OfString("a"), value.OfString("USD"), value.OfString("eur"), value.OfCurrency("USD"), value.OfCurrency("EUR"),
				amount("1 USD"), amount("2.00 USD"), amount("1 EUR"), moment("2026-10-15T12:00:00Z"),
				value.OfString("2026-10-15T12:00:00Z"),
			}).Draw(t, "scalar")
		}
		if rapid.IntRange(0, 4).Draw(t, "kind") > 0 {
			return scalar()
		}
		elements := make([]value.Value, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range elements {
			elements[i] = scalar()
		}
		return value.OfList(elements)
	})
}

// mixed writes expressions over attributes of which nothing is known.
type mixed struct{ t *rapid.T }

func (m mixed) pick(texts ...string) string { return rapid.SampledFrom(texts).Draw(m.t, "form") }

func (m mixed) any(depth int) string {
	if depth == 0 {
		return m.pick("fact.a", "fact.b", "fact.c", "fact.currency", "1", `"USD"`, `money("1 USD")`, "true", "fact.a", "fact.b")
	}
	d := depth - 1
	switch rapid.IntRange(0, 8).Draw(m.t, "form") {
	case 0:
		return "(" + m.any(d) + m.pick(" + ", " - ", " * ") + m.any(d) + ")"
	case 1:
		return "[" + m.any(d) + ", " + m.any(d) + "]"
	case 2:
		return "size(" + m.any(d) + ")"
	case 3:
		return "(-" + m.any(0) + ")"
	case 4:
		return "(" + m.truth(d) + " ? " + m.any(d) + " : " + m.any(d) + ")"
	case 5:
		return m.any(0)
	}
	return m.truth(d)
}

func (m mixed) truth(depth int) string {
	if depth == 0 {
		return m.any(0)
	}
	d := depth - 1
	switch rapid.IntRange(0, 7).Draw(m.t, "truth") {
	case 0, 1:
		return "(" + m.truth(d) + m.pick(" && ", " || ") + m.truth(d) + ")"
	case 2:
		return "!(" + m.truth(d) + ")"
	case 3:
		return "(" + m.any(d) + " in " + m.any(d) + ")"
	case 4:
		return m.pick("fact.a", "fact.b") + m.pick(".exists(", ".all(") + "v" + ", " + m.pick("v", "v == fact.c", "v in fact.b", "v < 2") + ")"
	case 5:
		return m.pick("fact.a", "fact.b") + m.pick(".startsWith(", ".contains(") + m.pick("fact.c", `"U"`) + ")"
	}
	return "(" + m.any(d) + m.pick(" == ", " != ", " < ", " <= ", " >= ") + m.any(d) + ")"
}

// What is known stays as it is when more becomes known. Else a fact that comes
// later could turn a verdict that was called decided.
func TestWhatIsKnownStaysWhenMoreBecomesKnown(t *testing.T) {
	t.Parallel()
	decided := 0
	rapid.Check(t, func(t *rapid.T) {
		e, err := condition.ParseValue(mixed{t}.truth(rapid.IntRange(1, 4).Draw(t, "depth")), scope())
		if err != nil {
			t.Skip("refused for its kinds")
		}
		more := known{}
		for _, name := range []string{"fact.a", "fact.b", "fact.c", "fact.currency"} {
			more[name] = anything().Draw(t, name)
		}
		less := known{}
		for name, v := range more {
			less[name] = holed(t, v)
		}
		before, after := e.Truth(less), e.Truth(more)
		if before.Truth != maybe && before.Truth != after.Truth {
			t.Fatalf("%s is %v of %v, and %v of %v", e, before, less, after, more)
		}
		if before.Truth != maybe && before.Cause != condition.NoCause {
			t.Fatalf("%s is known, and %v stands in the way", e, before.Cause)
		}
		if before.Truth == maybe && before.Cause == condition.NoCause {
			t.Fatalf("%s is unknown and does not say why", e)
		}
		if before.Truth != maybe {
			decided++
		}
		was, _ := e.Value(less)
		is, _ := e.Value(more)
		if was.Kind() == value.Bool && value.Compare(was, is) != value.Equal {
			t.Fatalf("%s has the value %+v of %v, and %+v of %v", e, was, less, is, more)
		}
	})
	if decided == 0 {
		t.Error("nothing was decided, so nothing could be turned")
	}
}

// holed takes a value away, or one element of it.
func holed(t *rapid.T, v value.Value) value.Value {
	switch rapid.IntRange(0, 2).Draw(t, "hole") {
	case 0:
		return v
	case 1:
		return value.Value{}
	}
	if v.Kind() != value.List || len(v.List()) == 0 {
		return v
	}
	elements := append([]value.Value(nil), v.List()...)
	elements[rapid.IntRange(0, len(elements)-1).Draw(t, "element")] = value.Value{}
	return value.OfList(elements)
}

func TestAnExpressionWrittenOutIsTheSameExpression(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e, err := condition.ParseValue(mixed{t}.truth(rapid.IntRange(1, 4).Draw(t, "depth")), scope())
		if err != nil {
			t.Skip("refused for its kinds")
		}
		written := e.Tree().String()
		again, err := condition.ParseValue(written, scope())
		if err != nil {
			t.Fatalf("%s is written %s, which is refused: %v", e, written, err)
		}
		if got := again.Tree().String(); got != written {
			t.Fatalf("%s is written %s, and that %s", e, written, got)
		}
		names := known{}
		for _, name := range []string{"fact.a", "fact.b", "fact.c", "fact.currency"} {
			names[name] = anything().Draw(t, name)
		}
		if a, b := e.Truth(names), again.Truth(names); a != b {
			t.Fatalf("%s is %+v, and written out %+v", e, a, b)
		}
	})
}
