package plan

import (
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"
)

// Bounds of a file. The reader of YAML takes time that grows with the square of a
// line's length, of the keys and of the depth, so those are bounded before it sees
// anything.
const (
	maxBytes   = 64 << 10
	maxLine    = 1 << 10
	maxTokens  = 10_000
	maxNesting = 16
)

const example = "it begins with plans:, and each plan stands below by its name"

// plant makes the tree of a text; nil if there is none.
func (r *reader) plant(source []byte) ast.Node {
	start := about{place: place{1, 1}}
	switch {
	case len(source) > maxBytes:
		r.problem(start, "", "the file is longer than %d KiB", maxBytes>>10)
		return nil
	case !utf8.Valid(source):
		r.problem(start, "save the file as UTF-8", "the file is not UTF-8")
		return nil
	}
	text := strings.ReplaceAll(strings.TrimPrefix(string(source), "\ufeff"), "\r\n", "\n")
	number := 0
	for line := range strings.Lines(text) {
		if number++; len(line) > maxLine {
			r.problem(about{place: place{number, 1}}, "break it into several lines", "the line is longer than %d bytes", maxLine)
			return nil
		}
	}
	tokens := lexer.Tokenize(text)
	if !r.bounded(tokens) {
		return nil
	}
	file, err := parser.Parse(tokens, 0, parser.AllowDuplicateMapKey())
	if err != nil {
		r.noYAML(err)
		return nil
	}
	var root ast.Node
	for _, doc := range file.Docs {
		switch doc.Body.(type) {
		case nil, *ast.NullNode, *ast.CommentGroupNode:
			continue
		}
		if root != nil {
			r.problem(about{place: placeOf(doc.Body)}, "", "there are several documents where one is wanted")
			return nil
		}
		root = doc.Body
	}
	if root == nil {
		r.problem(start, example, "the file has no plans")
	}
	return root
}

// bounded says whether there is so little of a text that it can be read.
func (r *reader) bounded(tokens token.Tokens) bool {
	depth, dashes := 0, 0
	for i, t := range tokens {
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			depth++
		case token.SequenceEndType, token.MappingEndType:
			depth--
		}
		if dashes++; t.Type != token.SequenceEntryType {
			dashes = 0
		}
		at := about{place: place{t.Position.Line, max(t.Position.Column, 1)}}
		switch {
		case i >= maxTokens:
			r.problem(at, "", "the file is too long")
			return false
		case depth > maxNesting || dashes > maxNesting:
			r.problem(at, "", "the file is nested deeper than %d", maxNesting)
			return false
		}
	}
	return true
}

func (r *reader) noYAML(err error) {
	at, message := about{place: place{1, 1}}, "this is no YAML"
	if syntax, is := errors.AsType[*yaml.SyntaxError](err); is {
		message += ": " + strings.ToLower(syntax.Message)
		if syntax.Token != nil && syntax.Token.Position != nil {
			at.place = place{syntax.Token.Position.Line, max(syntax.Token.Position.Column, 1)}
		}
	}
	r.problem(at, "look at the indentation, the brackets and the quotes just before", "%s", message)
}

// pair is a key with its value.
type pair struct {
	name  string
	at    place // of the key
	value ast.Node
}

// pairs reads a node as an object, whose keys each stand there once.
func (r *reader) pairs(n ast.Node, at about, hint string) []pair {
	var values []*ast.MappingValueNode
	switch n := n.(type) {
	case *ast.MappingNode:
		values = n.Values
	case *ast.MappingValueNode:
		values = []*ast.MappingValueNode{n}
	default:
		r.problem(at, hint, "here stands %s instead of keys", kindOf(n))
		return nil
	}
	first := map[string]int{}
	var all []pair
	for _, v := range values {
		p := pair{name: v.Key.GetToken().Value, at: placeOf(v.Key), value: v.Value}
		where := about{p.at, at.plan, at.key}
		switch line, twice := first[p.name]; {
		case v.Key.Type() == ast.MergeKeyType:
			r.problem(where, "write the keys out", "merge keys are not read here")
		case twice:
			r.problem(where, "keep one of them", "%s is there twice, first in line %d", clip(p.name), line)
		default:
			first[p.name] = p.at.line
			all = append(all, p)
		}
	}
	return all
}

// kindOf names what stands somewhere.
func kindOf(n ast.Node) string {
	switch n.(type) {
	case nil, *ast.NullNode, *ast.CommentGroupNode:
		return "nothing"
	case *ast.MappingNode, *ast.MappingValueNode:
		return "an object"
	case *ast.SequenceNode:
		return "a list"
	case *ast.StringNode, *ast.LiteralNode:
		return "a text"
	case *ast.IntegerNode, *ast.FloatNode, *ast.InfinityNode, *ast.NanNode:
		return "a number"
	case *ast.BoolNode:
		return "true or false"
	}
	return "an anchor, an alias or a tag"
}
