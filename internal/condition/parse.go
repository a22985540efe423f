package condition

import (
	"slices"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/value"
)

// Bounds of an expression. Together with maxSteps they bound the time of an
// evaluation, whatever the values: see [Parse].
const (
	maxLength   = 4 << 10 // bytes
	maxNesting  = 32      // brackets, choices and signs within each other
	maxNodes    = 500
	maxMacros   = 2   // exists and all within each other
	maxProducts = 8   // each may double the digits of a number
	maxPattern  = 200 // bytes of a regular expression
)

// Parse reads a condition. Errors are of type *[Error].
//
// A text has at most 4 KiB, 500 nodes, 32 levels of brackets, two exists or all
// within each other and eight multiplications. An evaluation visits at most a
// million nodes and elements, patterns match in linear time, and numbers cannot
// grow beyond what eight multiplications make of them; so the values cannot
// make it run for long.
func Parse(text string, scope Scope) (*Expr, error) {
	e, err := ParseValue(text, scope)
	if err != nil {
		return nil, err
	}
	if !may(e.root, value.Bool) {
		return nil, &Error{
			Offset: e.root.Offset, Length: e.root.Length,
			Message: "this is " + Noun(e.root.Kind) + ", but a condition is true or false",
			Hint:    "compare it with something, as in " + clip(text) + " == …",
		}
	}
	return e, nil
}

// ParseValue reads an expression of any kind.
func ParseValue(text string, scope Scope) (*Expr, error) {
	p := &parser{text: text, scope: scope}
	switch {
	case len(text) > maxLength:
		return nil, &Error{
			Offset: maxLength, Length: len(text) - maxLength,
			Message: "the expression is longer than 4096 bytes", Hint: "split it into several checks",
		}
	case !utf8.ValidString(text):
		return nil, &Error{Length: len(text), Message: "the expression is not UTF-8"}
	}
	p.advance()
	if p.token.kind == end && p.err == nil {
		return nil, &Error{Message: "the expression is empty", Hint: "leave the key out if nothing is asked"}
	}
	root := p.expression()
	if p.token.kind != end {
		p.unexpected("an operator or the end")
	}
	if p.err != nil {
		return nil, p.err
	}
	return &Expr{text: text, root: root, refs: p.refs}, nil
}

type parser struct {
	text  string
	next  int // where the token after the current one begins
	token token
	last  int // where the token before the current one ended
	scope Scope
	err   *Error

	refs      []Ref
	variables []*Node // bound by the exists and all around, outermost first
	depth     int
	nodes     int
	products  int
}

func (p *parser) step() {
	p.last = p.token.offset + p.token.length
	p.advance()
}

// accept takes the token if it is the symbol or keyword.
func (p *parser) accept(text string) bool {
	if !p.token.is(text) {
		return false
	}
	p.step()
	return true
}

func (p *parser) require(text, after string) {
	if !p.accept(text) {
		p.unexpected(text + " " + after)
	}
}

func (p *parser) unexpected(wanted string) {
	t := p.token
	switch {
	case t.kind == end:
		p.failure(len(p.text), 0, "", "the expression ends where %s should stand", wanted)
	case t.kind == quoted:
		p.failure(t.offset, t.length, "", "a text stands where %s should stand", wanted)
	default:
		p.failure(t.offset, t.length, refusals[t.text], "%q stands where %s should stand", clip(t.text), wanted)
	}
}

// node counts and places a node that begins at offset and ends where the last
// token ended.
func (p *parser) node(offset int, n Node) *Node {
	p.nodes++
	if p.nodes > maxNodes {
		p.failure(offset, p.last-offset, "split it into several checks", "the expression has more than %d parts", maxNodes)
	}
	n.Offset, n.Length = offset, max(p.last-offset, 0)
	return &n
}

// deeper guards the recursion; the caller calls shallower afterwards.
func (p *parser) deeper() {
	p.depth++
	if p.depth > maxNesting {
		p.failure(p.token.offset, p.token.length, "split it into several checks", "the expression is nested deeper than %d", maxNesting)
	}
}

func (p *parser) shallower() { p.depth-- }

// expression reads a whole expression: a choice is what binds least.
func (p *parser) expression() *Node {
	p.deeper()
	defer p.shallower()
	if p.err != nil {
		return &Node{}
	}
	offset := p.token.offset
	n := p.logical(Or)
	if !p.accept("?") {
		return n
	}
	first := p.logical(Or)
	p.require(":", "between the two sides of a choice")
	second := p.expression()
	return p.choose(p.node(offset, Node{Op: Choose, Args: []*Node{n, first, second}}))
}

// logical reads what || joins, or within it what && joins.
func (p *parser) logical(op Op) *Node {
	operand := p.relation
	if op == Or {
		operand = func() *Node { return p.logical(And) }
	}
	offset := p.token.offset
	n := operand()
	if !p.token.is(op.String()) {
		return n
	}
	var args []*Node
	add := func(n *Node) {
		if n.Op == op { // it stood in brackets, which make no difference
			args = append(args, n.Args...)
			return
		}
		args = append(args, n)
	}
	add(n)
	for p.accept(op.String()) {
		add(operand())
	}
	return p.boolean(p.node(offset, Node{Op: op, Kind: value.Bool, Args: args}))
}

var relations = map[string]Op{
	"==": Equal, "!=": NotEqual, "<": Less, "<=": LessOrEqual, ">": Greater, ">=": GreaterOrEqual, "in": In,
}

func (p *parser) relation() *Node {
	offset := p.token.offset
	n := p.sum()
	for p.token.kind == symbol || p.token.kind == name {
		op, ok := relations[p.token.text]
		if !ok {
			break
		}
		p.step()
		n = p.compared(p.node(offset, Node{Op: op, Kind: value.Bool, Args: []*Node{n, p.sum()}}))
	}
	return n
}

func (p *parser) sum() *Node {
	offset := p.token.offset
	n := p.product()
	for p.token.is("+") || p.token.is("-") {
		op := Add
		if p.token.is("-") {
			op = Subtract
		}
		p.step()
		n = p.added(p.node(offset, Node{Op: op, Args: []*Node{n, p.product()}}))
	}
	return n
}

func (p *parser) product() *Node {
	offset := p.token.offset
	n := p.unary()
	for p.accept("*") {
		p.products++
		if p.products > maxProducts {
			p.failure(offset, p.last-offset, "", "the expression multiplies more than %d times", maxProducts)
		}
		n = p.multiplied(p.node(offset, Node{Op: Multiply, Args: []*Node{n, p.unary()}}))
	}
	return n
}

// unary reads one or more equal signs before an operand; as in the full
// language, ! and - do not mix without brackets.
func (p *parser) unary() *Node {
	sign, op := "!", Not
	if p.token.is("-") {
		sign, op = "-", Negate
	}
	var offsets []int
	for p.token.is(sign) && len(offsets) <= maxNesting {
		offsets = append(offsets, p.token.offset)
		p.step()
	}
	if len(offsets) > maxNesting {
		p.failure(offsets[0], p.last-offsets[0], "", "the expression is nested deeper than %d", maxNesting)
	}
	n := p.member()
	for _, offset := range slices.Backward(offsets) {
		n = p.signed(p.node(offset, Node{Op: op, Args: []*Node{n}}))
	}
	return n
}

// member reads an operand and the methods that are called on it.
func (p *parser) member() *Node {
	offset := p.token.offset
	n := p.primary()
	for p.err == nil {
		switch {
		case p.token.is("["):
			p.failure(p.token.offset, 1, "ask the list with in, exists or all", "elements cannot be picked by their place")
		case p.accept("."):
			n = p.method(offset, n)
		default:
			return n
		}
	}
	return n
}

func (p *parser) primary() *Node {
	t := p.token
	switch {
	case t.kind == number || t.kind == quoted || t.is("true") || t.is("false"):
		p.step()
		return p.literal(t)
	case t.kind == name && t.text != "in":
		p.step()
		return p.named(t)
	case p.accept("("):
		n := p.expression()
		p.require(")", "at the end of the brackets")
		return n
	case p.accept("["):
		return p.list(t.offset)
	}
	p.unexpected("a value")
	return &Node{}
}

func (p *parser) list(offset int) *Node {
	args := p.arguments("]")
	n := p.node(offset, Node{Op: ListOf, Kind: value.List, Args: args})
	elements := make([]value.Value, 0, len(args))
	for _, arg := range args {
		if arg.Op != Literal {
			return n
		}
		elements = append(elements, arg.Value)
	}
	n.Op, n.Value = Literal, value.OfList(elements)
	return n
}

// arguments reads expressions up to the closing bracket, a comma between each
// two and, in a list, maybe after the last.
func (p *parser) arguments(closing string) []*Node {
	var args []*Node
	for p.err == nil && !p.accept(closing) {
		args = append(args, p.expression())
		if !p.accept(",") {
			p.require(closing, "or a comma")
			break
		}
		if closing == ")" && p.token.is(")") {
			p.unexpected("an argument")
		}
	}
	return args
}
