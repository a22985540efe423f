package scenario

import (
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/deed-dev/deed/internal/contract"
)

// Error is something in a scenario file that cannot be read.
type Error struct {
	File    string
	Line    int
	Message string
	Hint    string // what to do next; may be empty
	// Contract is the file of the contract that is wrong, and Cause what is
	// wrong about it; both are empty where the scenario itself is.
	Contract string
	Cause    error
}

// Unwrap is what is wrong with a contract.
func (e *Error) Unwrap() error { return e.Cause }

func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d: %s", e.File, e.Line, e.Message)
	if e.Hint != "" {
		text += " (" + e.Hint + ")"
	}
	return text
}

// reader reads the nodes of one file. Its first error stops it: what follows is
// read as empty.
type reader struct {
	file  string
	load  func(name string) ([]byte, error)
	known map[string]*contract.Contract // contracts that were read, by file
	brief bool                          // what the contract says may be left out
	err   *Error
}

func (r *reader) fail(n ast.Node, hint, format string, args ...any) {
	if r.err != nil {
		return
	}
	line := 0
	if n != nil && n.GetToken() != nil {
		line = n.GetToken().Position.Line
	}
	r.err = &Error{File: r.file, Line: line, Message: fmt.Sprintf(format, args...), Hint: hint}
}

// open parses the file's one document.
func (r *reader) open(text []byte) ast.Node {
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		r.err = &Error{File: r.file, Line: 1, Message: "no YAML: " + firstLine(yaml.FormatError(err, false, false))}
		return nil
	}
	if len(file.Docs) != 1 || file.Docs[0].Body == nil {
		r.err = &Error{File: r.file, Line: 1, Message: fmt.Sprintf("%d documents where one is wanted", len(file.Docs))}
		return nil
	}
	return file.Docs[0].Body
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return line
}

// fields are the members of a mapping, by name and in their order.
type fields struct {
	r     *reader
	node  ast.Node
	names []string
	nodes map[string]ast.Node
}

// mapping reads a mapping with any names, each once.
func (r *reader) mapping(n ast.Node) fields {
	f := fields{r: r, node: n, nodes: map[string]ast.Node{}}
	var values []*ast.MappingValueNode
	switch m := n.(type) {
	case nil:
		return f
	case *ast.MappingNode:
		values = m.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{m}
	case *ast.NullNode:
		return f
	default:
		r.fail(n, "write it as {name: value}", "%s is not a list of names and values", shown(n))
		return f
	}
	for _, v := range values {
		name := v.Key.GetToken().Value
		if _, twice := f.nodes[name]; twice {
			r.fail(v.Key, "", "%s is there twice", name)
		}
		f.names = append(f.names, name)
		f.nodes[name] = v.Value
	}
	return f
}

// only reads a mapping whose names are among the known ones.
func (r *reader) only(n ast.Node, known ...string) fields {
	f := r.mapping(n)
	for _, name := range f.names {
		if !slices.Contains(known, name) {
			r.fail(f.nodes[name], "known here: "+strings.Join(known, ", "), "there is no key %q", name)
		}
	}
	return f
}

func (f fields) has(name string) bool { return f.nodes[name] != nil }

// text is a member's text; empty if it is not there.
func (f fields) text(name string) string {
	if !f.has(name) {
		return ""
	}
	return f.r.text(f.nodes[name])
}

// needed is the text of a member that has to be there.
func (f fields) needed(name string) string {
	if !f.has(name) {
		f.r.fail(f.node, "add "+name+": …", "%s is missing", name)
	}
	return f.text(name)
}

// list is a member's elements. A single value is a list of one.
func (f fields) list(name string) []ast.Node {
	if !f.has(name) {
		return nil
	}
	return elements(f.nodes[name])
}

func elements(n ast.Node) []ast.Node {
	if sequence, ok := n.(*ast.SequenceNode); ok {
		return sequence.Values
	}
	return []ast.Node{n}
}

// flag is a member that is true or false.
func (f fields) flag(name string) bool {
	if !f.has(name) {
		return false
	}
	b, ok := f.nodes[name].(*ast.BoolNode)
	if !ok {
		f.r.fail(f.nodes[name], "write true or false", "%s %s is neither true nor false", name, shown(f.nodes[name]))
		return false
	}
	return b.Value
}

// number is a member that is a whole number.
func (f fields) number(name string) int64 {
	if !f.has(name) {
		return 0
	}
	var n int64
	text := f.text(name)
	if _, err := fmt.Sscanf(text, "%d", &n); err != nil || fmt.Sprint(n) != text {
		f.r.fail(f.nodes[name], "", "%s %q is no whole number", name, text)
	}
	return n
}

// text is a scalar as it is written.
func (r *reader) text(n ast.Node) string {
	switch scalar := n.(type) {
	case *ast.StringNode:
		return scalar.Value
	case *ast.LiteralNode:
		return scalar.Value.Value
	case *ast.NullNode:
		return ""
	case *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return n.GetToken().Value
	}
	r.fail(n, "", "%s is not a text", shown(n))
	return ""
}

func (r *reader) texts(nodes []ast.Node) []string {
	var texts []string
	for _, n := range nodes {
		texts = append(texts, r.text(n))
	}
	return texts
}

func quoted(n ast.Node) bool {
	t := n.GetToken()
	return t != nil && (t.Type == token.SingleQuoteType || t.Type == token.DoubleQuoteType)
}

func shown(n ast.Node) string {
	if n == nil {
		return "nothing"
	}
	text := firstLine(n.String())
	if len(text) > 40 {
		text = text[:40] + "…"
	}
	return fmt.Sprintf("%q", text)
}
