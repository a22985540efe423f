package condition

import (
	"maps"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/likeness"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

func (p *parser) literal(t token) *Node {
	n := p.node(t.offset, Node{Op: Literal})
	switch t.kind {
	case number:
		d, err := money.ParseDecimal(t.text)
		if err != nil {
			return p.failAt(n, "write it as in 180 or 180.00", "%q is no number", clip(t.text))
		}
		n.Value = value.OfDecimal(d)
	case quoted:
		n.Value = value.OfString(t.text)
	default:
		n.Value = value.OfBool(t.text == "true")
	}
	n.Kind = n.Value.Kind()
	return n
}

var roots = map[string]Root{"action": Action, "params": Params, "fact": Fact}

// named reads what begins with a name: a reference, a bound variable or a call
// of a function.
func (p *parser) named(t token) *Node {
	if p.token.is("(") {
		return p.call(t)
	}
	for _, macro := range p.variables {
		if macro.Text == t.text {
			n := p.node(t.offset, Node{Op: Variable, Text: t.text, slot: macro.slot})
			if list := macro.Args[0]; list.Op == Reference {
				n.Ref = list.Ref
			}
			return n
		}
	}
	if root, ok := roots[t.text]; ok {
		return p.reference(t, root)
	}
	if hint, ok := refusals[t.text]; ok {
		p.failure(t.offset, t.length, hint, "%q is not known here", t.text)
		return &Node{}
	}
	p.failure(t.offset, t.length, p.meaning(t.text), "%q is not known here", clip(t.text))
	return &Node{}
}

// meaning guesses what a bare name was to be.
func (p *parser) meaning(text string) string {
	if _, ok := p.scope.Params[text]; ok {
		return "write params." + text
	}
	if _, ok := actionKinds[text]; ok {
		return "write action." + text
	}
	if near := likeness.Closest(text, []string{"action", "params", "fact"}); near != "" {
		return "did you mean " + near + "?"
	}
	if p.scope.Fact {
		return "write fact." + clip(text) + ", or put a text in quotes"
	}
	return "a text stands in quotes; names begin with params. or action."
}

func (p *parser) reference(t token, root Root) *Node {
	if root == Fact && !p.scope.Fact {
		p.failure(t.offset, t.length, "use params and action here, and put conditions on facts under `where`", "there is no fact to look at here")
		return &Node{}
	}
	if !p.accept(".") {
		p.failure(t.offset, t.length, "name an attribute, as in "+root.String()+".subject_id", "%s alone is no value", root)
		return &Node{}
	}
	attribute := p.token
	if attribute.kind != name || attribute.is("in") || attribute.is("true") || attribute.is("false") || attribute.is("null") {
		p.unexpected("the name of an attribute")
		return &Node{}
	}
	p.step()
	n := p.node(t.offset, Node{Op: Reference, Ref: Ref{Root: root, Name: attribute.text}})
	if p.token.is("(") {
		return p.failAt(n, "", "%s has no methods", root)
	}
	kind, ok := p.scope.kind(n.Ref)
	if !ok {
		names := p.scope.names(root)
		hint := "there are " + strings.Join(names, ", ")
		if near := likeness.Closest(attribute.text, names); near != "" {
			hint = "did you mean " + root.String() + "." + near + "?"
		} else if len(names) == 0 {
			hint = "declare it under `params`"
		}
		if root == Params {
			return p.failAt(n, hint, "the contract declares no parameter %q", clip(attribute.text))
		}
		return p.failAt(n, hint, "an action has no %q", clip(attribute.text))
	}
	n.Kind = kind
	n.currency = namesCurrency(n.Ref)
	if !slices.Contains(p.refs, n.Ref) {
		p.refs = append(p.refs, n.Ref)
	}
	return n
}

// call reads a call of a function whose name was read.
func (p *parser) call(t token) *Node {
	switch t.text {
	case "size":
		args := p.parenthesised()
		n := p.node(t.offset, Node{Op: Size, Kind: value.Decimal, Args: args})
		if p.err == nil && len(args) != 1 {
			return p.failAt(n, "write size(fact.items)", "size takes one list or text")
		}
		return p.sized(n)
	case "money", "timestamp":
		args := p.parenthesised()
		n := p.node(t.offset, Node{Op: Literal})
		if p.err != nil {
			return n
		}
		if len(args) != 1 || args[0].Op != Literal || args[0].Kind != value.String {
			return p.failAt(n, "write "+examples[t.text], "%s takes one text in quotes", t.text)
		}
		return p.converted(n, t.text, args[0].Value.Text())
	}
	if hint, ok := refusals[t.text]; ok {
		p.failure(t.offset, t.length, hint, "%s() is not known here", t.text)
		return &Node{}
	}
	hint := "there are size, money and timestamp"
	if slices.Contains(methods(), t.text) {
		hint = "write it behind the value, as in fact.reason." + t.text + "(…)"
	} else if near := likeness.Closest(t.text, []string{"size", "money", "timestamp"}); near != "" {
		hint = "did you mean " + near + "?"
	}
	p.failure(t.offset, t.length, hint, "%s() is not known here", clip(t.text))
	return &Node{}
}

var examples = map[string]string{"money": `money("250.00 USD")`, "timestamp": `timestamp("2026-10-15T12:00:00Z")`}

func (p *parser) parenthesised() []*Node {
	p.deeper()
	defer p.shallower()
	p.require("(", "")
	return p.arguments(")")
}

// converted makes the value of a literal that is written as a call.
func (p *parser) converted(n *Node, function, text string) *Node {
	switch function {
	case "money":
		amount, err := money.ParseLiteral(text)
		if err != nil {
			return p.failAt(n, "write "+examples[function], "%v", err)
		}
		n.Value = value.OfMoney(amount)
	default:
		instant, err := value.ParseInstant(text)
		if err != nil {
			return p.failAt(n, "write "+examples[function], "%v", err)
		}
		n.Value = value.OfTime(instant)
	}
	n.Kind = n.Value.Kind()
	return n
}

var textMethods = map[string]Op{"startsWith": StartsWith, "endsWith": EndsWith, "contains": Contains, "matches": Matches}

func methods() []string {
	return slices.Sorted(maps.Keys(map[string]bool{
		"startsWith": true, "endsWith": true, "contains": true, "matches": true, "exists": true, "all": true,
	}))
}

// method reads the call of a method on n, after the dot.
func (p *parser) method(offset int, n *Node) *Node {
	t := p.token
	if t.kind != name {
		p.unexpected("the name of a method")
		return n
	}
	p.step()
	if !p.token.is("(") {
		p.failure(t.offset, t.length, "values have no parts; facts and parameters are one level deep", "%q cannot be taken from a value", clip(t.text))
		return n
	}
	switch op, ok := textMethods[t.text]; {
	case ok:
		args := p.parenthesised()
		call := p.node(offset, Node{Op: op, Kind: value.Bool, Args: append([]*Node{n}, args...)})
		if p.err != nil {
			return call
		}
		if len(args) != 1 {
			return p.failAt(call, `write fact.reason.`+t.text+`("…")`, "%s takes one text", t.text)
		}
		if op == Matches {
			return p.pattern(call)
		}
		return p.texts(call)
	case t.text == "exists" || t.text == "all":
		return p.macro(offset, t, n)
	}
	hint := refusals[t.text]
	if near := likeness.Closest(t.text, methods()); hint == "" && near != "" {
		hint = "did you mean " + near + "?"
	} else if t.text == "size" {
		hint = "write size(…) around the value"
	} else if hint == "" {
		hint = "there are " + strings.Join(methods(), ", ")
	}
	p.failure(t.offset, t.length, hint, "%s() is not known here", clip(t.text))
	return n
}

// macro reads list.exists(name, condition) or list.all(name, condition).
func (p *parser) macro(offset int, t token, list *Node) *Node {
	p.deeper()
	defer p.shallower()
	if len(p.variables) >= maxMacros {
		p.failure(t.offset, t.length, "split it into several checks", "exists and all are nested deeper than %d", maxMacros)
		return list
	}
	op := Exists
	if t.text == "all" {
		op = All
	}
	p.require("(", "")
	variable := p.token
	example := "write fact.items." + t.text + `(item, item == "…")`
	_, root := roots[variable.text]
	switch {
	case variable.kind != name || root || reserved(variable.text):
		p.failure(variable.offset, variable.length, example, "%s begins with a name for the element", t.text)
		return list
	case slices.ContainsFunc(p.variables, func(m *Node) bool { return m.Text == variable.text }):
		p.failure(variable.offset, variable.length, "choose another name", "%q already names an element", clip(variable.text))
		return list
	}
	p.step()
	if !p.accept(",") {
		p.failure(p.token.offset, p.token.length, example, "%s takes a name and a condition", t.text)
		return list
	}
	bound := &Node{Op: op, Text: variable.text, Args: []*Node{list}, slot: len(p.variables)}
	p.variables = append(p.variables, bound)
	body := p.expression()
	p.variables = p.variables[:len(p.variables)-1]
	p.require(")", "at the end of "+t.text)
	n := p.node(offset, Node{Op: op, Kind: value.Bool, Text: variable.text, Args: []*Node{list, body}, slot: bound.slot})
	return p.asked(n)
}

// reserved words of the full language, which cannot name an element.
func reserved(text string) bool {
	switch text {
	case "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let",
		"loop", "package", "namespace", "null", "return", "true", "var", "void", "while":
		return true
	}
	return false
}

// pattern compiles the argument of matches.
func (p *parser) pattern(n *Node) *Node {
	arg := n.Args[1]
	if arg.Op != Literal || arg.Kind != value.String {
		return p.failAt(arg, `write it as in fact.reason.matches("^[A-Z]{3}-[0-9]+$")`, "matches takes a pattern in quotes")
	}
	text := arg.Value.Text()
	if len(text) > maxPattern {
		return p.failAt(arg, "", "the pattern is longer than %d bytes", maxPattern)
	}
	compiled, err := regexp.Compile(text)
	if err != nil {
		why := err.Error()
		if e, ok := err.(*syntax.Error); ok {
			why = string(e.Code)
		}
		return p.failAt(arg, `patterns are RE2; write \\ for a backslash`, "%q is no pattern: %s", clip(text), why)
	}
	n.Text, n.pattern, n.Args = text, compiled, n.Args[:1]
	return p.texts(n)
}
