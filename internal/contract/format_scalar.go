package contract

import (
	"strings"

	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/token"
)

// scalar writes a value that has no parts, in the style that it was written in.
func (d *drawing) scalar(s *shape, n ast.Node) {
	switch n := n.(type) {
	case *ast.LiteralNode:
		d.block(s, n)
	case *ast.StringNode:
		s.kind, s.raw = text, d.written(n.Token)
	case *ast.NullNode, *ast.CommentGroupNode, nil:
		s.kind = nothing
		if null, ok := n.(*ast.NullNode); ok && null.Token != nil && null.Token.Type == token.NullType {
			s.raw = null.Token.Value
		}
	default:
		s.kind, s.raw = number, n.GetToken().Value
	}
}

// written is a text of one line as it stands in the source, quotes included. One
// of several lines is put on one.
func (d *drawing) written(t *token.Token) string {
	quote := rune(0)
	switch t.Type {
	case token.SingleQuoteType:
		quote = '\''
	case token.DoubleQuoteType:
		quote = '"'
	}
	switch {
	case strings.Contains(t.Value, "\n"):
		return doubleQuoted(t.Value)
	case quote == 0:
		return t.Value
	}
	if raw, ok := d.quoted(at(t), quote); ok {
		return raw
	}
	if quote == '\'' {
		return "'" + strings.ReplaceAll(t.Value, "'", "''") + "'"
	}
	return doubleQuoted(t.Value)
}

// quoted finds a text in quotes that ends on the line on which it begins.
func (d *drawing) quoted(from spot, quote rune) (string, bool) {
	line := d.line(from.line)
	first := from.column - 1
	if first < 0 || first >= len(line) || line[first] != quote {
		return "", false
	}
	for i := first + 1; i < len(line); i++ {
		switch {
		case quote == '"' && line[i] == '\\':
			i++
		case line[i] != quote:
		case quote == '\'' && i+1 < len(line) && line[i+1] == quote:
			i++
		default:
			return string(line[first : i+1]), true
		}
	}
	return "", false
}

// block writes a text that stands in lines of its own below | or >. The lines
// keep their breaks and what they are set in among each other.
func (d *drawing) block(s *shape, n *ast.LiteralNode) {
	s.kind = text
	value, from := n.Value.Value, at(n.Start)
	header := n.Start.Value
	if strings.Trim(header, "|>-") != "" || strings.TrimSpace(value) == "" {
		s.raw = doubleQuoted(value) // its end or its indentation is counted
		return
	}
	indent := -1
	for _, line := range d.lines[min(max(from.line, 0), len(d.lines)):] {
		line = strings.TrimRight(line, " \t\r")
		own := len(line) - len(strings.TrimLeft(line, " "))
		if line != "" && indent < 0 {
			indent = own
		}
		if line != "" && own < indent {
			break // it belongs to what follows
		}
		s.lines = append(s.lines, strings.TrimPrefix(line, strings.Repeat(" ", max(indent, 0))))
	}
	for len(s.lines) > 0 && s.lines[len(s.lines)-1] == "" {
		s.lines = s.lines[:len(s.lines)-1]
	}
	s.raw = header
}

// doubleQuoted writes any text on one line.
func doubleQuoted(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == '\r':
			b.WriteString(`\r`)
		case r < ' ':
			b.WriteString(`\x` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
