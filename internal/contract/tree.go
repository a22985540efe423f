package contract

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a text. The reader of YAML takes time that grows with the square of
// a line's length, of the keys of a mapping and of the depth, so those are
// bounded before it sees anything.
const (
	maxBytes   = 256 << 10
	maxLine    = 8 << 10
	maxTokens  = 100_000
	maxKeys    = 1_000 // of one mapping
	maxNesting = 16
)

type nodeKind uint8

const (
	nothing nodeKind = iota
	mapping
	sequence
	text
	number
	boolean
)

// node is a part of the YAML, freed of everything that contracts do not use.
type node struct {
	kind         nodeKind
	text         string // of a scalar; of a number or a boolean as it is written
	style        byte   // of a text: ' or " or | or >, and zero for a plain one
	line, column int
	entries      []entry
	items        []*node
}

type entry struct{ key, value *node }

// refused says why what a token begins is not part of the language.
func refused(kind token.Type) (message, hint string) {
	switch kind {
	case token.AnchorType, token.AliasType:
		return "anchors and aliases are not allowed", "write the value out; quote a text that begins with & or *"
	case token.MergeKeyType:
		return "merge keys are not allowed", "write the keys out"
	case token.TagType:
		return "tags are not allowed", "leave the tag out; quote a text that begins with !"
	case token.DirectiveType:
		return "directives are not allowed", "leave the line out"
	case token.MappingKeyType:
		return "keys that begin with ? are not allowed", "write `key: value`"
	}
	return "", ""
}

// plant makes the tree of a text. Where it returns problems there is no tree.
func plant(source string) (*node, []Problem) {
	if problem, ok := unreadable(source); ok {
		return nil, []Problem{problem}
	}
	tokens := lexer.Tokenize(source)
	if problems := inspect(tokens); len(problems) > 0 {
		return nil, problems
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		return nil, []Problem{syntaxProblem(err)}
	}
	if len(file.Docs) == 0 || file.Docs[0].Body == nil {
		return nil, []Problem{{Line: 1, Column: 1, Message: "the text is empty", Hint: "a contract begins with `contract: its_id`"}}
	}
	c := converter{}
	root := c.convert(file.Docs[0].Body)
	return root, c.problems
}

// unreadable finds what makes a text no text, or too much of one.
func unreadable(source string) (Problem, bool) {
	if len(source) > maxBytes {
		return Problem{Line: 1, Column: 1, Message: fmt.Sprintf("the contract is longer than %d KiB", maxBytes>>10), Hint: "split it into several contracts"}, true
	}
	number := 0
	for line := range strings.Lines(source) {
		number++
		switch p := (Problem{Line: number, Column: 1}); {
		case !utf8.ValidString(line):
			p.Message, p.Hint = "the line is not UTF-8", "save the file as UTF-8"
			return p, true
		case strings.IndexByte(line, 0) >= 0:
			p.Message, p.Hint = "the line holds a NUL byte", "save the file as plain text"
			return p, true
		case strings.Contains(strings.TrimSuffix(line, "\r\n"), "\r"):
			// It is a line's end to some and not to others, so that places differ.
			p.Message, p.Hint = "the line holds a carriage return", "save the file with line ends of this system"
			return p, true
		case len(line) > maxLine:
			p.Message, p.Hint = fmt.Sprintf("the line is longer than %d bytes", maxLine), "break it into several lines"
			return p, true
		}
	}
	return Problem{}, false
}

func syntaxProblem(err error) Problem {
	p := Problem{Line: 1, Column: 1, Message: "this is no YAML", Hint: "look at the indentation, the brackets and the quotes just before"}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		p.Message = "this is no YAML: " + strings.ToLower(syntax.Message)
		if syntax.Token != nil && syntax.Token.Position != nil {
			p.Line, p.Column = syntax.Token.Position.Line, max(syntax.Token.Position.Column, 1)
			p.Text = clip(syntax.Token.Value)
		}
	}
	return p
}

// inspect finds what is refused before the text is parsed.
func inspect(tokens token.Tokens) []Problem {
	var problems []Problem
	add := func(t *token.Token, message, hint string) {
		problems = append(problems, Problem{
			Line: t.Position.Line, Column: max(t.Position.Column, 1), Text: clip(t.Value), Message: message, Hint: hint,
		})
	}
	if len(tokens) > maxTokens {
		add(tokens[maxTokens], "the contract is too long", "split it into several contracts")
		return problems
	}
	depth, items, content := 0, 0, false
	var count keyCount
	for _, t := range tokens {
		if message, hint := refused(t.Type); message != "" && len(problems) < 20 {
			add(t, message, hint)
		}
		switch t.Type {
		case token.DocumentHeaderType, token.DocumentEndType:
			if content {
				add(t, "a file holds one contract", "put the second one into a file of its own")
				return problems
			}
		case token.CommentType:
			continue
		case token.SequenceStartType, token.MappingStartType:
			depth++
			count.reset(depth)
		case token.SequenceEndType, token.MappingEndType:
			depth = max(depth-1, 0)
		case token.SequenceEntryType:
			items++
		case token.MappingValueType:
			if count.more(depth, t) > maxKeys {
				add(t, fmt.Sprintf("a mapping has more than %d keys", maxKeys), "")
				return problems
			}
		}
		if t.Type != token.SequenceEntryType {
			items = 0
		}
		if depth > maxNesting || items > maxNesting {
			add(t, fmt.Sprintf("the contract is nested deeper than %d", maxNesting), "")
			return problems
		}
		content = content || t.Type != token.DocumentHeaderType
	}
	return problems
}

// keyCount counts the keys of each mapping: in flow style by depth of brackets,
// else by the column of the key.
type keyCount struct {
	flow  [maxNesting + 2]int
	block map[int]int
}

func (c *keyCount) reset(depth int) {
	if depth < len(c.flow) {
		c.flow[depth] = 0
	}
}

func (c *keyCount) more(depth int, colon *token.Token) int {
	if depth > 0 {
		c.flow[min(depth, len(c.flow)-1)]++
		return c.flow[min(depth, len(c.flow)-1)]
	}
	if colon.Prev == nil || c.block == nil {
		c.block = map[int]int{}
	}
	column := colon.Position.Column
	if colon.Prev != nil {
		column = colon.Prev.Position.Column
	}
	for other := range c.block {
		if other > column {
			delete(c.block, other)
		}
	}
	c.block[column]++
	return c.block[column]
}

type converter struct{ problems []Problem }

func (c *converter) convert(n ast.Node) *node {
	switch n := n.(type) {
	case nil:
		return &node{line: 1, column: 1}
	case *ast.MappingNode:
		m := &node{kind: mapping, entries: make([]entry, 0, len(n.Values))}
		for _, value := range n.Values {
			m.entries = append(m.entries, c.entry(value))
		}
		place(m, n.Start)
		if len(m.entries) > 0 && !n.IsFlowStyle {
			m.line, m.column = m.entries[0].key.line, m.entries[0].key.column
		}
		return m
	case *ast.MappingValueNode:
		e := c.entry(n)
		return &node{kind: mapping, entries: []entry{e}, line: e.key.line, column: e.key.column}
	case *ast.SequenceNode:
		s := &node{kind: sequence, items: make([]*node, 0, len(n.Values))}
		place(s, n.Start)
		for _, value := range n.Values {
			s.items = append(s.items, c.convert(value))
		}
		return s
	case *ast.LiteralNode:
		s := &node{kind: text, text: n.Value.Value, style: '|'}
		if n.Start.Type == token.FoldedType {
			s.style = '>'
		}
		place(s, n.Start)
		return s
	case *ast.StringNode:
		return scalar(text, n.Token, n.Value)
	case *ast.IntegerNode:
		return scalar(number, n.Token, n.Token.Value)
	case *ast.FloatNode:
		return scalar(number, n.Token, n.Token.Value)
	case *ast.BoolNode:
		return scalar(boolean, n.Token, n.Token.Value)
	case *ast.NullNode:
		return scalar(nothing, n.Token, "")
	case *ast.InfinityNode:
		return scalar(number, n.Token, n.Token.Value)
	case *ast.NanNode:
		return scalar(number, n.Token, n.Token.Value)
	case *ast.CommentGroupNode:
		return scalar(nothing, n.GetToken(), "")
	}
	unknown := scalar(nothing, n.GetToken(), "")
	c.problems = append(c.problems, Problem{
		Line: unknown.line, Column: unknown.column, Text: clip(n.String()),
		Message: "this form of YAML is not allowed", Hint: "use mappings, lists and plain or quoted values",
	})
	return unknown
}

func (c *converter) entry(n *ast.MappingValueNode) entry {
	e := entry{key: c.convert(n.Key), value: c.convert(n.Value)}
	if e.key.kind == nothing {
		e.key.text = "null"
	}
	if e.value.kind == nothing {
		e.value.line, e.value.column = e.key.line, e.key.column
	}
	return e
}

func scalar(kind nodeKind, t *token.Token, value string) *node {
	n := &node{kind: kind, text: value}
	if t != nil {
		switch t.Type {
		case token.SingleQuoteType:
			n.style = '\''
		case token.DoubleQuoteType:
			n.style = '"'
		}
	}
	place(n, t)
	return n
}

func place(n *node, t *token.Token) {
	n.line, n.column = 1, 1
	if t != nil && t.Position != nil {
		n.line, n.column = t.Position.Line, max(t.Position.Column, 1)
	}
}

// clip keeps a text that stands in a problem short, and on one line.
func clip(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexByte(s, '\n'); i >= 0 {
		s = s[:i] + "…"
	}
	if utf8.RuneCountInString(s) <= 80 {
		return s
	}
	return string([]rune(s)[:80]) + "…"
}
