package weakening

import (
	"cmp"
	"slices"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// normal puts a condition into one form, whatever the order and the signs it was
// written with: what is joined by && and || is flat, sorted and there once, > and
// >= are turned round, and ! stands only before what has no opposite of its own.
// All of this keeps Kleene's truth, the unknown included. The nodes that come out
// can be read and printed, but not evaluated.
func normal(n *condition.Node) *condition.Node {
	m := *n
	m.Args = make([]*condition.Node, len(n.Args))
	for i, arg := range n.Args {
		m.Args[i] = normal(arg)
	}
	switch m.Op {
	case condition.And, condition.Or:
		return joined(m.Op, m.Args)
	case condition.Not:
		return negated(m.Args[0])
	case condition.Greater, condition.GreaterOrEqual:
		m.Op = condition.Less + (m.Op - condition.Greater)
		m.Args[0], m.Args[1] = m.Args[1], m.Args[0]
	case condition.Equal, condition.NotEqual:
		// What is compared stands first, and a literal behind it.
		if literal(m.Args[0]) && !literal(m.Args[1]) || literal(m.Args[0]) == literal(m.Args[1]) && m.Args[0].String() > m.Args[1].String() {
			m.Args[0], m.Args[1] = m.Args[1], m.Args[0]
		}
	}
	return &m
}

func literal(n *condition.Node) bool { return n.Op == condition.Literal }

func joined(op condition.Op, args []*condition.Node) *condition.Node {
	var flat []*condition.Node
	for _, arg := range args {
		if arg.Op == op {
			flat = append(flat, arg.Args...)
		} else {
			flat = append(flat, arg)
		}
	}
	slices.SortFunc(flat, func(a, b *condition.Node) int { return cmp.Compare(a.String(), b.String()) })
	flat = slices.CompactFunc(flat, same)
	if len(flat) == 1 {
		return flat[0]
	}
	return &condition.Node{Op: op, Kind: value.Bool, Args: flat}
}

// negated is the opposite of a condition in normal form.
func negated(n *condition.Node) *condition.Node {
	m := condition.Node{Kind: value.Bool, Args: n.Args}
	switch n.Op {
	case condition.Not:
		return n.Args[0]
	case condition.Equal:
		m.Op = condition.NotEqual
	case condition.NotEqual:
		m.Op = condition.Equal
	case condition.Less, condition.LessOrEqual: // !(a < b) is b <= a, and where one is unknown, so is the other
		m.Op = condition.Less + condition.LessOrEqual - n.Op
		m.Args = []*condition.Node{n.Args[1], n.Args[0]}
	case condition.And, condition.Or:
		args := make([]*condition.Node, len(n.Args))
		for i, arg := range n.Args {
			args[i] = negated(arg)
		}
		return joined(condition.And+condition.Or-n.Op, args)
	default:
		m.Op, m.Args = condition.Not, []*condition.Node{n}
	}
	return &m
}

// same says that two conditions in normal form are one.
func same(a, b *condition.Node) bool { return a.String() == b.String() }

// alike says that two expressions of any kind are written alike but for blanks,
// brackets and order. Either may be missing.
func alike(a, b *condition.Expr) bool {
	if a == nil || b == nil {
		return a == b
	}
	return same(normal(a.Tree()), normal(b.Tree()))
}

// bound is a comparison of something with a literal that has an order.
type bound struct {
	of     *condition.Node
	to     value.Value
	upper  bool // of is at most to; else at least
	strict bool // to itself is out
	exact  bool // of is to
}

// boundOf reads a comparison in normal form as a bound.
func boundOf(n *condition.Node) (bound, bool) {
	ordered := func(n *condition.Node) bool {
		return literal(n) && (n.Kind == value.Decimal || n.Kind == value.Money || n.Kind == value.Time)
	}
	switch n.Op {
	case condition.Less, condition.LessOrEqual:
		strict := n.Op == condition.Less
		switch {
		case ordered(n.Args[1]) && !literal(n.Args[0]):
			return bound{of: n.Args[0], to: n.Args[1].Value, upper: true, strict: strict}, true
		case ordered(n.Args[0]) && !literal(n.Args[1]):
			return bound{of: n.Args[1], to: n.Args[0].Value, strict: strict}, true
		}
	case condition.Equal:
		if ordered(n.Args[1]) && !literal(n.Args[0]) {
			return bound{of: n.Args[0], to: n.Args[1].Value, exact: true}, true
		}
	}
	return bound{}, false
}

// compare says that two bounds bound the same, so that wherever one has an
// answer the other has one, and how the one's literal stands to the other's.
func (b bound) compare(other bound) (order int, ok bool) {
	if !same(b.of, other.of) {
		return 0, false
	}
	return compareLiterals(b.to, other.to)
}

// compareLiterals orders two literals of one kind, and of one currency.
func compareLiterals(a, b value.Value) (order int, ok bool) {
	if a.Kind() != b.Kind() {
		return 0, false
	}
	switch a.Kind() {
	case value.Decimal:
		return money.Compare(a.Decimal(), b.Decimal()), true
	case value.Money:
		return a.Amount().Compare(b.Amount())
	case value.Time:
		return cmp.Compare(a.Instant(), b.Instant()), true
	}
	return 0, false
}
