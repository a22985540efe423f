package condition

import (
	"regexp"

	"github.com/deed-dev/deed/internal/value"
)

// Op is what a node does.
type Op uint8

// What a node does, and with which arguments.
const (
	Literal   Op = iota // Value: true, "EUR", 12.50, money("1.00 USD"), or a list of literals
	Reference           // Ref: params.amount
	Variable            // Text: the name that exists or all gave to an element
	ListOf              // a list of its arguments, not all of them literals

	Not
	Negate
	And // two or more arguments
	Or  // two or more arguments
	Equal
	NotEqual
	Less
	LessOrEqual
	Greater
	GreaterOrEqual
	In
	Add
	Subtract
	Multiply
	Choose // condition ? first : second

	StartsWith
	EndsWith
	Contains
	Matches // Text: the pattern; one argument
	Size
	Exists // Text: the variable; arguments are the list and what is asked of an element
	All    // likewise
)

// How operators and functions are written.
var opNames = [...]string{
	Literal: "literal", Reference: "reference", Variable: "variable", ListOf: "list",
	Not: "!", Negate: "-", And: "&&", Or: "||", Equal: "==", NotEqual: "!=",
	Less: "<", LessOrEqual: "<=", Greater: ">", GreaterOrEqual: ">=", In: "in",
	Add: "+", Subtract: "-", Multiply: "*", Choose: "?:",
	StartsWith: "startsWith", EndsWith: "endsWith", Contains: "contains", Matches: "matches",
	Size: "size", Exists: "exists", All: "all",
}

func (o Op) String() string { return opNames[o] }

// Node is one part of an expression. Nodes are shared and must not be changed.
type Node struct {
	Op Op
	// Kind of the value it comes to; [value.Missing] if that is not known before
	// the evaluation, as for an attribute of a fact.
	Kind value.Kind
	Args []*Node // of a literal list its elements

	Value value.Value // of a Literal
	Ref   Ref         // of a Reference; of a Variable the list it goes through, if that is one
	Text  string      // of a Variable, Matches, Exists or All: see there

	// Offset and Length say where in the text it stands, in bytes.
	Offset, Length int

	pattern *regexp.Regexp // of Matches
	slot    int            // of a Variable, Exists or All: which of the bound elements
	// currency marks a reference whose text is read as a currency code, so that
	// usd and USD are one.
	currency bool
}

// Expr is a parsed expression. It is never changed, and safe for use by many at
// once.
type Expr struct {
	text string
	root *Node
	refs []Ref
}

// String is the expression as it was written.
func (e *Expr) String() string { return e.text }

// Tree is the expression's structure.
func (e *Expr) Tree() *Node { return e.root }

// Kind of the value that the expression comes to; [value.Missing] if that is
// known only when it is evaluated.
func (e *Expr) Kind() value.Kind { return e.root.Kind }

// Refs lists what the expression reads, each once, in the order of the text.
// The caller must not change it.
func (e *Expr) Refs() []Ref { return e.refs }

// Reads reports whether the expression reads an attribute of root.
func (e *Expr) Reads(root Root) bool {
	for _, ref := range e.refs {
		if ref.Root == root {
			return true
		}
	}
	return false
}
