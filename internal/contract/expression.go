package contract

import (
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// condition reads a key's condition, and is nil if there is none.
func (f fields) condition(name string, scope condition.Scope) *condition.Expr {
	return f.compile(name, scope, condition.Parse)
}

// expression reads a key's expression of any kind.
func (f fields) expression(name string, scope condition.Scope) *condition.Expr {
	return f.compile(name, scope, condition.ParseValue)
}

type compiler func(string, condition.Scope) (*condition.Expr, error)

func (f fields) compile(name string, scope condition.Scope, parse compiler) *condition.Expr {
	n := f.get(name)
	if n == nil {
		return nil
	}
	if n.kind != text && n.kind != boolean && n.kind != number {
		f.problem(n, f.at(name), "put it in quotes if it begins with a bracket or !", "here stands %s instead of a condition", n.is())
		return nil
	}
	e, err := parse(n.text, scope)
	if err != nil {
		f.problems = append(f.problems, f.inside(n, f.at(name), err))
		return nil
	}
	if len(e.Refs()) == 0 && e.Kind() == value.Bool {
		f.warn(n, f.at(name), "compare an attribute of the fact, a parameter or the action", "the condition reads nothing and is always the same")
	}
	for _, code := range currencies(e.Tree(), nil) {
		f.currencyKnown(n, f.at(name), code)
	}
	return e
}

// currencies lists those of the amounts that are written in an expression.
func currencies(n *condition.Node, list []money.Currency) []money.Currency {
	if code := n.Value.Amount().Currency; code != "" && !slices.Contains(list, code) {
		list = append(list, code)
	}
	for _, arg := range n.Args {
		list = currencies(arg, list)
	}
	return list
}

// inside places an error within the text of a node.
func (r *reader) inside(n *node, path string, err error) Problem {
	p := Problem{Line: n.line, Column: n.column, Path: path, Text: clip(n.text), Message: err.Error()}
	var e *condition.Error
	if !errors.As(err, &e) {
		return p
	}
	p.Message, p.Hint = e.Message, e.Hint
	if e.Length > 0 && e.Offset+e.Length <= len(n.text) {
		p.Text = clip(n.text[e.Offset : e.Offset+e.Length])
	}
	p.Line, p.Column = r.locate(n, e.Offset)
	return p
}

// locate finds the place of an offset within a node's text. It walks over the
// source and the text side by side: how YAML folds lines and cuts indentation
// changes blanks only, so the other characters come in the same order. Where
// escapes break that, the place is that of the whole text.
func (r *reader) locate(n *node, offset int) (line, column int) {
	rest := r.source
	for line = 1; line < n.line; line++ {
		_, after, ok := strings.Cut(rest, "\n")
		if !ok {
			return n.line, n.column
		}
		rest = after
	}
	column = 1
	step := func() {
		c, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		column++
		if c == '\n' {
			line, column = line+1, 1
		}
	}
	for column < n.column && rest != "" {
		step()
	}
	switch n.style {
	case '\'', '"':
		step()
	case '|', '>':
		for at := line; rest != "" && line == at; {
			step()
		}
	}
	blank := func(s string) bool { return s != "" && strings.IndexByte(" \t\r\n", s[0]) >= 0 }
	for i := 0; i < len(n.text); {
		if blank(n.text[i:]) {
			i++
			continue
		}
		for blank(rest) {
			step()
		}
		if i >= offset {
			break
		}
		want, size := utf8.DecodeRuneInString(n.text[i:])
		got, _ := utf8.DecodeRuneInString(rest)
		if got != want || got == '\\' && n.style == '"' {
			return n.line, n.column
		}
		if got == '\'' && n.style == '\'' {
			step() // a quote within quotes is written twice
		}
		step()
		i += size
	}
	return line, column
}
