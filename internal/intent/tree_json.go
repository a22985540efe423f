package intent

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// jsonPlanter makes a tree of JSON. Keys that stand twice stay, so that they
// can be told apart by their places.
type jsonPlanter struct {
	source  string
	decoder *jsontext.Decoder
	depth   int
}

func plantJSON(source string) (*node, []Problem) {
	p := &jsonPlanter{source: source, decoder: jsontext.NewDecoder(strings.NewReader(source), jsontext.AllowDuplicateNames(true))}
	root, err := p.value()
	if err == nil {
		follows := p.start()
		if _, err = p.decoder.ReadToken(); err == nil {
			line, column := p.place(follows)
			return nil, []Problem{{Line: line, Column: column, Message: "this is no JSON: something follows the value", Hint: "a file holds one mapping"}}
		}
		if errors.Is(err, io.EOF) {
			return root, nil
		}
	}
	return nil, []Problem{p.problem(err)}
}

// problem says where and why reading stopped.
func (p *jsonPlanter) problem(err error) Problem {
	at, hint := p.start(), "look at the commas, the brackets and the quotes just before; JSON has no comments"
	reason := strings.TrimPrefix(err.Error(), "jsontext: ")
	var syntax *jsontext.SyntacticError
	switch {
	case errors.As(err, &syntax):
		at, reason = int(syntax.ByteOffset), syntax.Err.Error()
		if errors.Is(syntax.Err, io.ErrUnexpectedEOF) {
			reason, hint = "the text ends too early", "a bracket or a quote has no end"
		}
	case errors.Is(err, errTooDeep):
		hint = ""
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		at, reason, hint = len(p.source), "the text ends too early", "a bracket or a quote has no end"
	}
	line, column := p.place(at)
	return Problem{Line: line, Column: column, Message: "this is no JSON: " + reason, Hint: hint}
}

var errTooDeep = fmt.Errorf("it is nested deeper than %d", maxNesting)

// start is the offset at which the next token begins.
func (p *jsonPlanter) start() int {
	at := int(p.decoder.InputOffset())
	return at + len(p.source[at:]) - len(strings.TrimLeft(p.source[at:], " \t\r\n,:"))
}

// place is an offset as people count.
func (p *jsonPlanter) place(at int) (line, column int) {
	before := p.source[:min(max(at, 0), len(p.source))]
	begins := strings.LastIndexByte(before, '\n') + 1
	return strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[begins:]) + 1
}

func (p *jsonPlanter) value() (*node, error) {
	n := &node{}
	n.line, n.column = p.place(p.start())
	token, err := p.decoder.ReadToken()
	if err != nil {
		return nil, err
	}
	switch token.Kind() {
	case '{', '[':
		if p.depth++; p.depth > maxNesting {
			return nil, errTooDeep
		}
		err := p.children(n, token.Kind() == '{')
		p.depth--
		return n, err
	case '"':
		n.kind, n.text = text, token.String()
	case '0':
		n.kind, n.text = number, token.String()
	case 't', 'f':
		n.kind, n.text = boolean, token.String()
	}
	return n, nil
}

// children reads what is within brackets, to the closing one.
func (p *jsonPlanter) children(n *node, object bool) error {
	n.kind = sequence
	if object {
		n.kind = mapping
	}
	for {
		switch p.decoder.PeekKind() {
		case '}', ']':
			_, err := p.decoder.ReadToken()
			return err
		}
		first, err := p.value()
		if err != nil {
			return err
		}
		if !object {
			n.items = append(n.items, first)
			continue
		}
		second, err := p.value()
		if err != nil {
			return err
		}
		n.entries = append(n.entries, entry{first, second})
	}
}
