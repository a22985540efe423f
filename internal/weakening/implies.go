package weakening

import (
	"slices"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/value"
)

// always stands for a condition that is not there.
var always = condition.Node{Op: condition.Literal, Kind: value.Bool, Value: value.OfBool(true)}

// tree is the normal form of a condition; one that is not there always holds.
func tree(e *condition.Expr) *condition.Node {
	if e == nil {
		return &always
	}
	return normal(e.Tree())
}

// implies says that of two conditions in normal form b is true wherever a is,
// and a is false wherever b is. Both are needed: with an unknown between true
// and false, neither follows from the other. It is sound and not complete: where
// it says no, a may imply b all the same.
func implies(a, b *condition.Node) bool { return (&proof{left: maxProof}).implies(a, b) }

// maxProof bounds the pairs of parts that a proof looks at. Conditions that
// people write need some dozens; what takes more counts as not shown.
const maxProof = 5_000

type proof struct{ left int }

func (p *proof) implies(a, b *condition.Node) bool {
	p.left--
	switch {
	case p.left < 0:
		return false
	case same(a, b), isTruth(a, false), isTruth(b, true):
		return true
	case a.Op == condition.Or:
		return every(a.Args, func(arg *condition.Node) bool { return p.implies(arg, b) })
	case b.Op == condition.And:
		return every(b.Args, func(arg *condition.Node) bool { return p.implies(a, arg) })
	case a.Op == condition.And && slices.ContainsFunc(a.Args, func(arg *condition.Node) bool { return p.implies(arg, b) }):
		return true
	case b.Op == condition.Or && slices.ContainsFunc(b.Args, func(arg *condition.Node) bool { return p.implies(a, arg) }):
		return true
	case a.Op == condition.Not && b.Op == condition.Not:
		return p.implies(b.Args[0], a.Args[0])
	}
	return boundImplies(a, b) || memberImplies(a, b)
}

func every(nodes []*condition.Node, holds func(*condition.Node) bool) bool {
	return !slices.ContainsFunc(nodes, func(n *condition.Node) bool { return !holds(n) })
}

func isTruth(n *condition.Node, truth bool) bool {
	return literal(n) && n.Kind == value.Bool && n.Value.Bool() == truth
}

// boundImplies holds two bounds of the same thing against each other.
func boundImplies(a, b *condition.Node) bool {
	x, isBound := boundOf(a)
	y, too := boundOf(b)
	if !isBound || !too {
		return false
	}
	order, ok := x.compare(y)
	switch {
	case !ok, y.exact && !x.exact:
		return false
	case y.exact:
		return order == 0
	case !x.exact && x.upper != y.upper:
		return false
	case order == 0:
		return !y.strict || x.strict
	}
	return y.upper == (order < 0)
}

// memberImplies knows x == l, x != l, x in [l, m] and !(x in [l, m]).
func memberImplies(a, b *condition.Node) bool {
	x, some, isMember := memberOf(a)
	y, others, too := memberOf(b)
	if isMember && too {
		return same(x, y) && subset(some, others)
	}
	// That it is none of many implies that it is none of fewer.
	if a.Op == condition.And || a.Op == condition.Or || b.Op == condition.And || b.Op == condition.Or {
		return false
	}
	x, some, isMember = memberOf(negated(a))
	y, others, too = memberOf(negated(b))
	return isMember && too && same(x, y) && subset(others, some)
}

func memberOf(n *condition.Node) (of *condition.Node, elements []*condition.Node, ok bool) {
	switch {
	case n.Op == condition.Equal && literal(n.Args[1]):
		return n.Args[0], n.Args[1:], true
	case n.Op == condition.In && literal(n.Args[1]):
		return n.Args[0], n.Args[1].Args, true
	}
	return nil, nil, false
}

func subset(some, others []*condition.Node) bool {
	return every(some, func(element *condition.Node) bool {
		return slices.ContainsFunc(others, func(other *condition.Node) bool {
			return element.Kind == other.Kind && same(element, other)
		})
	})
}

// settles says that wherever a is true, b is known: true or false.
func settles(a, b *condition.Node) bool { return (&proof{left: maxProof}).settles(a, b) }

func (p *proof) settles(a, b *condition.Node) bool {
	p.left--
	switch {
	case p.left < 0:
		return false
	case isTruth(a, false), isTruth(b, true), isTruth(b, false), p.implies(a, b), p.implies(a, negated(b)):
		return true
	case b.Op == condition.And || b.Op == condition.Or || b.Op == condition.Not:
		return every(b.Args, func(arg *condition.Node) bool { return p.settles(a, arg) })
	case a.Op == condition.Or:
		return every(a.Args, func(arg *condition.Node) bool { return p.settles(arg, b) })
	case a.Op == condition.And:
		return slices.ContainsFunc(a.Args, func(arg *condition.Node) bool { return p.settles(arg, b) })
	}
	x, isBound := boundOf(a)
	y, too := boundOf(b)
	if !isBound || !too {
		return false
	}
	_, ok := x.compare(y)
	return ok
}
