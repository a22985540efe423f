package intent

import (
	"errors"
	"fmt"
	"strings"

	yaml "github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// More bounds of YAML. Its reader takes time that grows with the square of a
// line's length, of the keys of a mapping and of the depth, so those are
// bounded before it sees anything.
const (
	maxLine   = 8 << 10
	maxTokens = 60_000
	maxKeys   = 1_000 // of one mapping, also where others are merged into it
)

func plantYAML(source string) (*node, []Problem) {
	source = strings.ReplaceAll(source, "\r\n", "\n")
	number := 0
	for line := range strings.Lines(source) {
		if number++; len(line) > maxLine {
			return nil, []Problem{{Line: number, Column: 1, Message: fmt.Sprintf("the line is longer than %d bytes", maxLine), Hint: "break it into several lines"}}
		}
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
		return nil, []Problem{{Line: 1, Column: 1, Message: "the file is empty", Hint: "deed map draft -- COMMAND writes one to begin with"}}
	}
	c := converter{anchors: map[string]*node{}}
	root := c.convert(file.Docs[0].Body)
	return root, sorted(c.problems)
}

func syntaxProblem(err error) Problem {
	p := Problem{Line: 1, Column: 1, Message: "this is no YAML", Hint: "look at the indentation, the brackets and the quotes just before"}
	var syntax *yaml.SyntaxError
	if errors.As(err, &syntax) {
		p.Message = "this is no YAML: " + strings.ToLower(syntax.Message)
		if syntax.Token != nil && syntax.Token.Position != nil {
			p.Line, p.Column = syntax.Token.Position.Line, max(syntax.Token.Position.Column, 1)
		}
	}
	return p
}

// inspect finds what is refused before the text is parsed.
func inspect(tokens token.Tokens) []Problem {
	at := func(t *token.Token, message, hint string) []Problem {
		return []Problem{{Line: t.Position.Line, Column: max(t.Position.Column, 1), Message: message, Hint: hint}}
	}
	if len(tokens) > maxTokens {
		return at(tokens[maxTokens], "the mapping is too long", "split it by server")
	}
	depth, items, content := 0, 0, false
	for _, t := range tokens {
		switch t.Type {
		case token.TagType:
			return at(t, "tags are not allowed", "leave the tag out; quote a text that begins with !")
		case token.DirectiveType:
			return at(t, "directives are not allowed", "leave the line out")
		case token.MappingKeyType:
			return at(t, "keys that begin with ? are not allowed", "write `key: value`")
		case token.DocumentHeaderType, token.DocumentEndType:
			if content {
				return at(t, "a file holds one mapping", "put the second one into a file of its own")
			}
			continue
		case token.CommentType:
			continue
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth = max(depth-1, 0)
		case token.SequenceEntryType:
			items++
		}
		if t.Type != token.SequenceEntryType {
			items = 0
		}
		if depth > maxNesting || items > maxNesting {
			return at(t, fmt.Sprintf("the mapping is nested deeper than %d", maxNesting), "")
		}
		content = true
	}
	return nil
}

type converter struct {
	anchors  map[string]*node // those that are complete: an alias within its own anchor finds none
	problems []Problem
	depth    int
}

func (c *converter) problem(n ast.Node, message, hint string) *node {
	at := scalar(nothing, n.GetToken(), "")
	c.problems = append(c.problems, Problem{Line: at.line, Column: at.column, Message: message, Hint: hint})
	return at
}

func (c *converter) convert(n ast.Node) *node {
	if c.depth > maxNesting {
		return c.problem(n, fmt.Sprintf("the mapping is nested deeper than %d", maxNesting), "")
	}
	c.depth++
	defer func() { c.depth-- }()
	switch n := n.(type) {
	case nil:
		return &node{line: 1, column: 1}
	case *ast.MappingNode:
		return c.mapping(n.Values, n.Start, n.IsFlowStyle)
	case *ast.MappingValueNode:
		return c.mapping([]*ast.MappingValueNode{n}, n.Start, false)
	case *ast.SequenceNode:
		s := &node{kind: sequence}
		place(s, n.Start)
		for _, value := range n.Values {
			s.items = append(s.items, c.convert(value))
		}
		return s
	case *ast.AnchorNode:
		anchored := c.convert(n.Value)
		c.anchors[n.Name.GetToken().Value] = anchored
		return anchored
	case *ast.AliasNode:
		if meant, ok := c.anchors[n.Value.GetToken().Value]; ok {
			// The same value at another place: what is wrong with it is told
			// where it is used.
			copied := *meant
			place(&copied, n.Start)
			return &copied
		}
		return c.problem(n, fmt.Sprintf("there is no anchor %s before", quoted("&"+n.Value.GetToken().Value)), "")
	case *ast.LiteralNode:
		s := &node{kind: text, text: n.Value.Value}
		place(s, n.Start)
		return s
	case *ast.StringNode:
		return scalar(text, n.Token, n.Value)
	case *ast.IntegerNode:
		return scalar(number, n.Token, n.Token.Value)
	case *ast.FloatNode:
		return scalar(number, n.Token, n.Token.Value)
	case *ast.InfinityNode:
		return scalar(number, n.Token, n.Token.Value)
	case *ast.NanNode:
		return scalar(number, n.Token, n.Token.Value)
	case *ast.BoolNode:
		return scalar(boolean, n.Token, n.Token.Value)
	case *ast.NullNode:
		return scalar(nothing, n.Token, "")
	case *ast.CommentGroupNode:
		return scalar(nothing, n.GetToken(), "")
	}
	return c.problem(n, "this form of YAML is not allowed", "use keys, lists and plain or quoted values")
}

func (c *converter) mapping(values []*ast.MappingValueNode, start *token.Token, flow bool) *node {
	m := &node{kind: mapping}
	place(m, start)
	var merged []*node
	for _, value := range values {
		if value.Key.Type() == ast.MergeKeyType {
			merged = append(merged, c.merged(value)...)
			continue
		}
		e := entry{c.convert(value.Key), c.convert(value.Value)}
		if e.key.kind == nothing {
			e.key.text = "null"
		}
		if e.value.kind == nothing {
			e.value.line, e.value.column = e.key.line, e.key.column
		}
		m.entries = append(m.entries, e)
	}
	if len(m.entries) > 0 && !flow {
		m.line, m.column = m.entries[0].key.line, m.entries[0].key.column
	}
	c.merge(m, merged)
	if len(m.entries) > maxKeys {
		c.problems = append(c.problems, Problem{Line: m.line, Column: m.column, Message: fmt.Sprintf("an object has more than %d keys", maxKeys)})
		m.entries = nil
	}
	return m
}

// merged are the mappings behind a merge key: one, or a list.
func (c *converter) merged(value *ast.MappingValueNode) []*node {
	from := c.convert(value.Value)
	list := []*node{from}
	if from.kind == sequence {
		list = from.items
	}
	for _, one := range list {
		if one.kind != mapping && len(c.problems) == 0 {
			c.problem(value.Key, "what is merged is "+one.is(), "write `<<: *anchor` of an object")
			return nil
		}
	}
	return list
}

// merge adds keys that are not there; of several merged ones the first wins.
func (c *converter) merge(m *node, merged []*node) {
	if len(merged) == 0 {
		return
	}
	has := map[string]bool{}
	for _, e := range m.entries {
		has[e.key.text] = true
	}
	for _, one := range merged {
		for _, e := range one.entries {
			if !has[e.key.text] && len(m.entries) <= maxKeys {
				has[e.key.text] = true
				m.entries = append(m.entries, e)
			}
		}
	}
}

func scalar(kind nodeKind, t *token.Token, value string) *node {
	n := &node{kind: kind, text: value}
	place(n, t)
	return n
}

func place(n *node, t *token.Token) {
	n.line, n.column = 1, 1
	if t != nil && t.Position != nil {
		n.line, n.column = t.Position.Line, max(t.Position.Column, 1)
	}
}
