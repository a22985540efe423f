package weakening

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// atoms read few attributes, so that they often have to do with each other.
var atoms = []string{
	"fact.n > 1", "fact.n >= 2", "2 > fact.n", "fact.n <= 1", "fact.n == 2", "fact.n != 2", "fact.n < 2.0",
	"fact.t == 'a'", "fact.t != 'a'", "fact.t in ['a', 'b']", "fact.t in ['b']", "!(fact.t in ['a'])", "fact.t in []",
	"fact.m <= money('1.00 USD')", "fact.m < money('2.00 USD')", "fact.m == money('1.00 USD')", "fact.m <= money('1.00 EUR')",
	"params.on", "!params.on", "true", "false", "fact.l.exists(x, x == 'a')", "!fact.l.exists(x, x == 'a')", "fact.t.startsWith('a')",
}

var scope = condition.Scope{Params: map[string]value.Kind{"on": value.Bool}, Fact: true}

func drawCondition(t *rapid.T, depth int) string {
	op := rapid.IntRange(0, 3).Draw(t, "op")
	if depth == 0 || op == 3 {
		return rapid.SampledFrom(atoms).Draw(t, "atom")
	}
	a, b := drawCondition(t, depth-1), drawCondition(t, depth-1)
	switch op {
	case 0:
		return "(" + a + " && " + b + ")"
	case 1:
		return "(" + a + " || " + b + ")"
	}
	return "!(" + a + ")"
}

type world map[string]value.Value

func (w world) Value(ref condition.Ref) value.Value { return w[ref.String()] }

func amountOf(text string) value.Value {
	a, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return value.OfMoney(a)
}

func numberOf(text string) value.Value {
	d, err := money.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return value.OfDecimal(d)
}

func drawWorld(t *rapid.T) world {
	w := world{}
	for name, choices := range map[string][]value.Value{
		"fact.n":    {{}, numberOf("0"), numberOf("1"), numberOf("2"), numberOf("2.00"), numberOf("3"), value.OfString("2")},
		"fact.t":    {{}, value.OfString("a"), value.OfString("b"), value.OfString("c"), numberOf("1")},
		"fact.m":    {{}, amountOf("1.00 USD"), amountOf("1.5 USD"), amountOf("3.00 USD"), amountOf("1.00 EUR")},
		"fact.l":    {{}, value.OfList(nil), value.OfList([]value.Value{value.OfString("a")}), value.OfList([]value.Value{{}})},
		"params.on": {{}, value.OfBool(true), value.OfBool(false)},
	} {
		w[name] = rapid.SampledFrom(choices).Draw(t, name)
	}
	return w
}

func parsed(t *rapid.T, text string) *condition.Expr {
	e, err := condition.Parse(text, scope)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

func TestTheNormalFormHasTheSameTruthTheUnknownIncluded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		e := parsed(t, drawCondition(t, 3))
		n := parsed(t, tree(e).String())
		opposite := parsed(t, negated(tree(e)).String())
		for range 8 {
			w := drawWorld(t)
			truth := e.Truth(w).Truth
			if got := n.Truth(w).Truth; got != truth {
				t.Fatalf("%s is %v and its normal form %s is %v in %v", e, truth, n, got, w)
			}
			want := map[condition.Truth]condition.Truth{condition.True: condition.False, condition.False: condition.True}[truth]
			if got := opposite.Truth(w).Truth; got != want {
				t.Fatalf("%s is %v and its opposite %s is %v in %v", e, truth, opposite, got, w)
			}
		}
	})
}

func TestWhatIsSaidToFollowFollows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x, y := parsed(t, drawCondition(t, 2)), parsed(t, drawCondition(t, 2))
		if rapid.Bool().Draw(t, "joined") { // so that something follows often
			y = parsed(t, "("+x.String()+") || "+y.String())
		}
		a, b := tree(x), tree(y)
		follows, known := implies(a, b), settles(a, b)
		for range 20 {
			w := drawWorld(t)
			if follows && (x.Truth(w).Truth == condition.True && y.Truth(w).Truth != condition.True || y.Truth(w).Truth == condition.False && x.Truth(w).Truth != condition.False) {
				t.Fatalf("%s is said to imply %s, and they are %v and %v in %v", x, y, x.Truth(w).Truth, y.Truth(w).Truth, w)
			}
			if known && x.Truth(w).Truth == condition.True && y.Truth(w).Truth == condition.Unknown {
				t.Fatalf("%s is said to settle %s, and does not in %v", x, y, w)
			}
		}
	})
}

func TestSomeConditionsImplyOthers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a, b       string
		there, too bool // a implies b, and b implies a
	}{
		{"fact.n > 2", "fact.n > 1", true, false},
		{"fact.n > 1", "fact.n >= 1", true, false},
		{"fact.n == 2", "fact.n >= 2", true, false},
		{"fact.n == 2", "fact.n > 2", false, false},
		{"fact.n < 2", "fact.n > 1", false, false},
		{"fact.m < money('2.00 USD')", "fact.m < money('3.00 USD')", true, false},
		{"fact.m < money('2.00 USD')", "fact.m < money('3.00 EUR')", false, false},
		{"fact.t == 'a'", "fact.t in ['b', 'a']", true, false},
		{"!(fact.t in ['a', 'b'])", "fact.t != 'a'", true, false},
		{"params.on && fact.n > 1", "params.on", true, false},
		{"params.on", "params.on || fact.n > 1", true, false},
		{"params.on && fact.n > 2", "fact.n > 1 && params.on", true, false},
		{"fact.n > 3 || fact.n > 2", "fact.n > 1", true, false},
		{"fact.n > 1 && params.on", "params.on && 1 < fact.n", true, true},
		{"!params.on", "params.on", false, false},
		{"false", "params.on", true, false},
	} {
		x, errX := condition.Parse(test.a, scope)
		y, errY := condition.Parse(test.b, scope)
		if errX != nil || errY != nil {
			t.Fatal(errX, errY)
		}
		a, b := tree(x), tree(y)
		if implies(a, b) != test.there || implies(b, a) != test.too {
			t.Errorf("%s and %s: there %v, back %v", test.a, test.b, implies(a, b), implies(b, a))
		}
	}
}

// Conditions that share no part and nest as deep as they may must not take a
// proof that grows with every level.
func TestAProofOfDeepConditionsEnds(t *testing.T) {
	t.Parallel()
	deep := func(name string) *condition.Node {
		text := "fact." + name
		for i := range 28 {
			op := " && "
			if i%2 == 0 {
				op = " || "
			}
			text = "(fact." + name + string(rune('a'+i%26)) + op + text + ")"
		}
		e, err := condition.Parse(text, scope)
		if err != nil {
			t.Fatal(err)
		}
		return tree(e)
	}
	p := &proof{left: maxProof}
	if p.implies(deep("x"), deep("y")) {
		t.Error("conditions about different things were said to follow")
	}
	if p.left == maxProof {
		t.Error("nothing was looked at")
	}
}
