package explanation

import (
	"strings"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// Condition says a condition in words. Brackets stand where words alone would
// leave open what belongs together.
func Condition(e *condition.Expr) string { return words(e.Tree()) }

// Expression says in words what an expression of any kind comes to.
func Expression(e *condition.Expr) string { return phrase(e.Tree()) }

// words says a condition as a clause.
func words(n *condition.Node) string {
	switch n.Op {
	case condition.And, condition.Or:
		return joined(n)
	case condition.Not:
		return opposite(n.Args[0])
	case condition.Equal, condition.NotEqual, condition.Less, condition.LessOrEqual, condition.Greater, condition.GreaterOrEqual:
		return part(n.Args[0]) + " " + comparing(n) + " " + part(n.Args[1])
	case condition.In:
		return part(n.Args[0]) + " is " + among(n.Args[1], "one of", "an element of")
	case condition.StartsWith:
		return part(n.Args[0]) + " begins with " + part(n.Args[1])
	case condition.EndsWith:
		return part(n.Args[0]) + " ends with " + part(n.Args[1])
	case condition.Contains:
		return part(n.Args[0]) + " contains " + part(n.Args[1])
	case condition.Matches:
		return part(n.Args[0]) + " matches the pattern " + exactly(n.Text)
	case condition.Exists:
		return "for at least one element of " + part(n.Args[0]) + ", here called " + n.Text + ": " + clause(n.Args[1])
	case condition.All:
		return "for every element of " + part(n.Args[0]) + ", here called " + n.Text + ": " + clause(n.Args[1])
	}
	if n.Op == condition.Choose {
		return "if " + clause(n.Args[0]) + ", " + clause(n.Args[1]) + ", and if not, " + clause(n.Args[2])
	}
	if n.Op == condition.Literal && n.Kind == value.Bool {
		if n.Value.Bool() {
			return "in every case"
		}
		return "in no case"
	}
	return phrase(n) + " is true"
}

// clause says a condition within another.
func clause(n *condition.Node) string {
	switch n.Op {
	case condition.And, condition.Or, condition.Exists, condition.All, condition.Choose:
		return "(" + words(n) + ")"
	}
	return words(n)
}

func joined(n *condition.Node) string {
	parts := make([]string, len(n.Args))
	for i, arg := range n.Args {
		parts[i] = clause(arg)
	}
	if n.Op == condition.And {
		return strings.Join(parts, " and ")
	}
	return "either " + strings.Join(parts, " or ")
}

func opposite(n *condition.Node) string {
	switch n.Op {
	case condition.Reference, condition.Variable:
		return phrase(n) + " is false"
	case condition.In:
		return part(n.Args[0]) + " is " + among(n.Args[1], "none of", "no element of")
	}
	return "it is not so that " + clause(n)
}

func comparing(n *condition.Node) string {
	times := n.Args[0].Kind == value.Time || n.Args[1].Kind == value.Time
	switch n.Op {
	case condition.Equal:
		return "equals"
	case condition.NotEqual:
		return "differs from"
	case condition.Less:
		if times {
			return "is before"
		}
		return "is less than"
	case condition.LessOrEqual:
		if times {
			return "is not later than"
		}
		return "is at most"
	case condition.Greater:
		if times {
			return "is later than"
		}
		return "is more than"
	}
	if times {
		return "is not before"
	}
	return "is at least"
}

func among(n *condition.Node, these, those string) string {
	if n.Op != condition.Literal && n.Op != condition.ListOf {
		return those + " " + part(n)
	}
	if len(n.Args) == 0 {
		return these + " an empty list"
	}
	return these + " " + list(parts(n.Args), "and")
}

func parts(nodes []*condition.Node) []string {
	all := make([]string, len(nodes))
	for i, n := range nodes {
		all[i] = part(n)
	}
	return all
}

// part says an operand.
func part(n *condition.Node) string {
	switch n.Op {
	case condition.Literal, condition.Reference, condition.Variable, condition.ListOf, condition.Size:
		return phrase(n)
	}
	if n.Kind == value.Bool && n.Op != condition.Choose {
		return phrase(n)
	}
	return "(" + phrase(n) + ")"
}

// phrase says what an expression comes to.
func phrase(n *condition.Node) string {
	switch n.Op {
	case condition.Literal:
		return literal(n.Value)
	case condition.Reference:
		return reference(n.Ref)
	case condition.Variable:
		return n.Text
	case condition.ListOf:
		return "the list of " + list(parts(n.Args), "and")
	case condition.Negate:
		return "minus " + part(n.Args[0])
	case condition.Add:
		return part(n.Args[0]) + " plus " + part(n.Args[1])
	case condition.Subtract:
		return part(n.Args[0]) + " minus " + part(n.Args[1])
	case condition.Multiply:
		return part(n.Args[0]) + " times " + part(n.Args[1])
	case condition.Size:
		return "the size of " + part(n.Args[0])
	case condition.Choose:
		return part(n.Args[1]) + " if " + clause(n.Args[0]) + ", and otherwise " + part(n.Args[2])
	}
	return "whether (" + words(n) + ")"
}

// reference says whose attribute it is. Names stay as they are written, so that
// whoever reads can find them again.
func reference(ref condition.Ref) string {
	switch ref.Root {
	case condition.Params:
		return "the declared " + ref.Name
	case condition.Action:
		return "the action's " + ref.Name
	}
	return "the fact's " + ref.Name
}

func literal(v value.Value) string {
	switch v.Kind() {
	case value.Bool:
		if v.Bool() {
			return "true"
		}
		return "false"
	case value.Decimal:
		return money.Text(v.Decimal())
	case value.Money:
		return v.Amount().String()
	case value.Time:
		return v.Instant().String()
	case value.Currency:
		return v.Text()
	case value.List:
		elements := make([]string, len(v.List()))
		for i, element := range v.List() {
			elements[i] = literal(element)
		}
		if len(elements) == 0 {
			return "the empty list"
		}
		return "the list of " + list(elements, "and")
	}
	return exactly(v.Text())
}
