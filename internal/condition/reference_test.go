package condition_test

import (
	"fmt"
	"strings"
	"testing"

	"cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/value"
)

// reference is the Common Expression Language as its authors implement it, with
// one untyped fact.
func reference(t testing.TB) *cel.Env {
	t.Helper()
	env, err := cel.NewEnv(
		cel.Variable("fact", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("params", cel.MapType(cel.StringType, cel.DynType)),
		cel.Variable("action", cel.MapType(cel.StringType, cel.DynType)),
	)
	if err != nil {
		t.Fatal(err)
	}
	return env
}

// attribute is one that both sides know or do not know.
type attribute struct {
	name string
	mine value.Value // missing if it is not known
	cel  any
}

func attributes() *rapid.Generator[[]attribute] {
	return rapid.Custom(func(t *rapid.T) []attribute {
		var list []attribute
		add := func(name string, mine value.Value, theirs any) {
			if rapid.IntRange(0, 3).Draw(t, name+" is there") == 0 {
				mine, theirs = value.Value{}, nil
			}
			list = append(list, attribute{name, mine, theirs})
		}
		numbers := func(n int) ([]value.Value, []int64) {
			mine, theirs := []value.Value{}, []int64{}
			for range n {
				v := rapid.Int64Range(-3, 3).Draw(t, "number")
				mine, theirs = append(mine, value.OfDecimal(decimal.NewFromInt(v))), append(theirs, v)
			}
			return mine, theirs
		}
		for i := range 2 {
			b := rapid.Bool().Draw(t, "boolean")
			add(fmt.Sprintf("b%d", i), value.OfBool(b), b)
			s := rapid.SampledFrom([]string{"", "a", "ab", "b"}).Draw(t, "text")
			add(fmt.Sprintf("s%d", i), value.OfString(s), s)
			mine, theirs := numbers(1)
			add(fmt.Sprintf("n%d", i), mine[0], theirs[0])
			mine, theirs = numbers(rapid.IntRange(0, 3).Draw(t, "length"))
			add(fmt.Sprintf("l%d", i), value.OfList(mine), theirs)
		}
		return list
	})
}

// writer makes texts of expressions of one kind each.
type writer struct {
	t *rapid.T
	// holes says that a list with an element that may not be there was written;
	// there the reference gives up where this package decides.
	holes     bool
	variables []string // of numbers
}

func (w *writer) pick(texts ...string) string { return rapid.SampledFrom(texts).Draw(w.t, "form") }

func (w *writer) boolean(depth int) string {
	if depth == 0 {
		return w.pick("true", "false", "fact.b0", "fact.b1", "fact.b0")
	}
	d := depth - 1
	switch rapid.IntRange(0, 13).Draw(w.t, "boolean") {
	case 0, 1:
		return "(" + w.boolean(d) + " && " + w.boolean(d) + ")"
	case 2, 3:
		return "(" + w.boolean(d) + " || " + w.boolean(d) + ")"
	case 4:
		return "!(" + w.boolean(d) + ")"
	case 5:
		return "(" + w.number(d) + w.pick(" < ", " <= ", " > ", " >= ", " == ", " != ") + w.number(d) + ")"
	case 6:
		return "(" + w.text(d) + w.pick(" < ", " >= ", " == ", " != ") + w.text(d) + ")"
	case 7:
		return "(" + w.boolean(d) + w.pick(" == ", " != ") + w.boolean(d) + ")"
	case 8:
		return "(" + w.number(d) + " in " + w.list(d) + ")"
	case 9:
		return "(" + w.list(d) + w.pick(" == ", " != ") + w.list(d) + ")"
	case 10:
		return w.text(d) + w.pick(".startsWith(", ".endsWith(", ".contains(") + w.text(d) + ")"
	case 11:
		return w.text(d) + `.matches("` + w.pick("^a", "b$", "a.?b", "^$") + `")`
	case 12:
		return "(" + w.boolean(d) + " ? " + w.boolean(d) + " : " + w.boolean(d) + ")"
	}
	if len(w.variables) == 2 {
		return "true"
	}
	list := w.list(d)
	name := fmt.Sprintf("v%d", len(w.variables))
	w.variables = append(w.variables, name)
	body := w.boolean(d)
	w.variables = w.variables[:len(w.variables)-1]
	return list + w.pick(".exists(", ".all(") + name + ", " + body + ")"
}

func (w *writer) number(depth int) string {
	if depth == 0 {
		forms := append([]string{"0", "1", "2", "-1", "fact.n0", "fact.n1", "fact.n0"}, w.variables...)
		return w.pick(forms...)
	}
	d := depth - 1
	switch rapid.IntRange(0, 5).Draw(w.t, "number") {
	case 0:
		return "(" + w.number(d) + w.pick(" + ", " - ", " * ") + w.number(d) + ")"
	case 1:
		return "(-(" + w.number(d) + "))"
	case 2:
		return "size(" + w.text(d) + ")"
	case 3:
		return "size(" + w.list(d) + ")"
	case 4:
		return "(" + w.boolean(d) + " ? " + w.number(d) + " : " + w.number(d) + ")"
	}
	return w.number(0)
}

func (w *writer) text(depth int) string {
	if depth == 0 {
		return w.pick(`""`, `"a"`, `'b'`, "fact.s0", "fact.s1")
	}
	return w.pick("fact.s0", "fact.s1", `"ab"`)
}

func (w *writer) list(depth int) string {
	if depth == 0 || rapid.Bool().Draw(w.t, "an attribute") {
		return w.pick("fact.l0", "fact.l1", "[1, 2]", "[0]", "[]")
	}
	w.holes = true
	return "[" + w.number(depth-1) + ", " + w.number(depth-1) + "]"
}

// Whatever the reference knows, this package knows as well, and the other way
// round but for lists with holes, about which the reference says nothing.
func TestConditionsMeanWhatTheCommonExpressionLanguageSays(t *testing.T) {
	t.Parallel()
	env := reference(t)
	seen := map[condition.Truth]int{}
	rapid.Check(t, func(t *rapid.T) {
		w := &writer{t: t}
		text := w.boolean(rapid.IntRange(0, 4).Draw(t, "depth"))
		known, facts := known{}, map[string]any{}
		var patterns []*cel.AttributePatternType
		for _, a := range attributes().Draw(t, "attributes") {
			known["fact."+a.name] = a.mine
			if a.cel != nil {
				facts[a.name] = a.cel
			} else {
				patterns = append(patterns, cel.AttributePattern("fact").QualString(a.name))
			}
		}
		e, err := condition.Parse(text, scope())
		if err != nil {
			if strings.Contains(err.Error(), "more than") {
				t.Skip("too long for this package")
			}
			t.Fatalf("%s: %v", text, err)
		}
		got := e.Truth(known)
		seen[got.Truth]++
		theirs := referenceTruth(t, env, text, facts, patterns)
		if got.Truth == theirs || theirs == maybe && w.holes {
			return
		}
		t.Fatalf("%s is %v here and %v there", text, got, theirs)
	})
	if seen[yes] == 0 || seen[no] == 0 || seen[maybe] == 0 {
		t.Errorf("the expressions came only to %v", seen)
	}
}

func referenceTruth(t *rapid.T, env *cel.Env, text string, facts map[string]any, patterns []*cel.AttributePatternType) condition.Truth {
	compiled, issues := env.Compile(text)
	if issues.Err() != nil {
		t.Fatalf("%s: the reference refuses it: %v", text, issues.Err())
	}
	program, err := env.Program(compiled, cel.EvalOptions(cel.OptPartialEval))
	if err != nil {
		t.Fatal(err)
	}
	vars, err := cel.PartialVars(map[string]any{"fact": facts, "params": map[string]any{}, "action": map[string]any{}}, patterns...)
	if err != nil {
		t.Fatal(err)
	}
	var result ref.Val
	if result, _, err = program.Eval(vars); err != nil {
		t.Fatalf("%s: the reference fails: %v", text, err)
	}
	switch {
	case types.IsUnknown(result):
		return maybe
	case result == types.True:
		return yes
	}
	return no
}

// tokens make texts that are nearly expressions.
var tokens = []string{
	"fact.a", "fact.list", "params.count", "params.reason", "action.agent_id", "1", "2.50", "-", `"a"`, `'b\n'`, "true", "false", "null",
	"(", ")", "[", "]", ",", ".", "&&", "||", "!", "==", "!=", "<", "<=", "in", "+", "*", "/", "?", ":", "size(", ".exists(", "x,", "x", "if",
	".all(", ".startsWith(", "has(", "1e3", "0x1", "007", "fact", "package", "r'a'", "1u", `"\d"`, "{", "}",
}

// Every text that is accepted here is one of the Common Expression Language.
func TestWhatIsAcceptedIsASubsetOfTheCommonExpressionLanguage(t *testing.T) {
	t.Parallel()
	env := reference(t)
	accepted := 0
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(tokens), 1, 9).Draw(t, "tokens"), rapid.SampledFrom([]string{"", " "}).Draw(t, "blank"))
		if _, err := condition.ParseValue(text, scope()); err != nil {
			return
		}
		accepted++
		if _, issues := env.Parse(text); issues.Err() != nil {
			t.Fatalf("%s is accepted here, and there: %v", text, issues.Err())
		}
	})
	if accepted == 0 {
		t.Error("no text was accepted, so nothing was compared")
	}
}
