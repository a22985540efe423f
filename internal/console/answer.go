package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

// Answer is what a server said, for people and for programs.
type Answer struct {
	raw  []byte
	text func(report.View) string
}

// Text is for people.
func (a Answer) Text(view report.View) string { return a.text(view) }

// Document is the answer as it came, but for characters that a terminal would act
// on: JSON can spell them.
func (a Answer) Document() any { return json.RawMessage(spell(a.raw)) }

// spell writes what is above ASCII and not to be shown as JSON's escapes. Below
// that, JSON allows nothing of the kind within a text.
func spell(raw []byte) []byte {
	var b bytes.Buffer
	for _, r := range string(raw) {
		switch {
		case r < utf8.RuneSelf && r != 0x7f || terminal.Clean(string(r)) == string(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// read makes an answer of a body by a type that has the members for its text.
func read[T any](raw []byte, text func(report.View, T) string) (Answer, error) {
	var body T
	if err := json.Unmarshal(raw, &body); err != nil {
		return Answer{}, fmt.Errorf("read the server's answer: %w", err)
	}
	return Answer{raw: raw, text: func(v report.View) string { return text(v, body) }}, nil
}

// Said is an answer that is one sentence to people.
func Said(raw []byte, format string, values ...any) Answer {
	sentence := terminal.Clean(fmt.Sprintf(format, values...)) + "\n"
	return Answer{raw: raw, text: func(report.View) string { return sentence }}
}

// moment writes a time as the reader's clock has it; the zero time is a dash.
func moment(view report.View, at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return view.Clock.Moment(at)
}

func list(all []string) string {
	if len(all) == 0 {
		return "-"
	}
	return strings.Join(all, " ")
}

func or(text, none string) string {
	if text == "" {
		return none
	}
	return text
}

// table makes the lines of a table, or a sentence if there is nothing to show.
func table(view report.View, empty string, rows int, columns []terminal.Column, row func(i int) []terminal.Cell) string {
	if rows == 0 {
		return empty + "\n"
	}
	t := terminal.Table{Heading: view.Style.Faint, Columns: columns}
	for i := range rows {
		t.Add(row(i)...)
	}
	return t.String()
}

func cells(texts ...string) []terminal.Cell {
	all := make([]terminal.Cell, len(texts))
	for i, text := range texts {
		all[i] = terminal.Text(text)
	}
	return all
}

func columns(titles ...string) []terminal.Column {
	all := make([]terminal.Column, len(titles))
	for i, title := range titles {
		all[i] = terminal.Column{Title: title, Max: 60}
		if rest, right := strings.CutPrefix(title, ">"); right {
			all[i].Title, all[i].Right = rest, true
		}
	}
	return all
}
