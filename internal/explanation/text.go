package explanation

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Text is a contract in plain language.
type Text struct {
	Contract string    `json:"contract"`
	Title    string    `json:"title,omitempty"`
	Digest   string    `json:"digest"`
	Sections []Section `json:"sections"`
}

// Section is what a contract says about one question. There is none without a
// sentence.
type Section struct {
	Name      string     `json:"name"` // for programs
	Heading   string     `json:"heading"`
	Sentences []Sentence `json:"sentences"`
}

// Sentence is one statement, which can be quoted by its number.
type Sentence struct {
	Number string   `json:"number"`       // 3.2: the second sentence of the third section
	ID     string   `json:"id,omitempty"` // the check, source or parameter that it is about
	Keys   []string `json:"keys"`         // the keys of the contract that it speaks of
	Text   string   `json:"text"`
}

// Plain writes the text for a terminal, in lines of at most width characters
// where words allow it.
func (t Text) Plain(width int) string {
	var b strings.Builder
	b.WriteString(t.heading() + "\n")
	for i, section := range t.Sections {
		fmt.Fprintf(&b, "\n%d  %s\n", i+1, strings.ToUpper(section.Heading))
		for _, s := range section.Sentences {
			indent := "  " + s.Number + strings.Repeat(" ", max(1, 6-len(s.Number)))
			wrap(&b, indent, s.labelled(), width)
		}
	}
	return b.String()
}

func (t Text) heading() string {
	if t.Title == "" {
		return t.Contract
	}
	return t.Contract + ": " + oneLine(t.Title)
}

// labelled is the sentence behind what it is about.
func (s Sentence) labelled() string {
	if s.ID == "" {
		return s.Text
	}
	return s.ID + ": " + s.Text
}

// wrap writes words into lines, the first behind indent and the others below it.
func wrap(b *strings.Builder, indent, text string, width int) {
	column := utf8.RuneCountInString(indent)
	b.WriteString(indent)
	at := column
	for i, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case i == 0:
		case at+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", column))
			at = column
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += n
	}
	b.WriteByte('\n')
}

// Markdown writes the text as a Markdown document. Whatever the contract says is
// written so that Markdown shows it and does not act on it.
func (t Text) Markdown() string {
	var b strings.Builder
	b.WriteString("# " + escape(t.heading()) + "\n")
	for i, section := range t.Sections {
		fmt.Fprintf(&b, "\n## %d. %s\n\n", i+1, section.Heading)
		for _, s := range section.Sentences {
			b.WriteString("- **" + s.Number + "** ")
			if s.ID != "" {
				b.WriteString("`" + s.ID + "`: ")
			}
			b.WriteString(escape(oneLine(s.Text)) + "\n")
		}
	}
	fmt.Fprintf(&b, "\n`%s`\n", t.Digest)
	return b.String()
}

// escape puts a backslash before what Markdown or HTML would act on.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		if strings.ContainsRune("\\`*_[]<>#|~&!", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// writer numbers sentences as they come.
type writer struct{ text Text }

func (w *writer) section(name, heading string) {
	w.text.Sections = append(w.text.Sections, Section{Name: name, Heading: heading})
}

// say adds a sentence to the last section; keys are those it speaks of.
func (w *writer) say(id string, keys []string, format string, args ...any) {
	section := &w.text.Sections[len(w.text.Sections)-1]
	section.Sentences = append(section.Sentences, Sentence{
		Number: fmt.Sprintf("%d.%d", len(w.text.Sections), len(section.Sentences)+1),
		ID:     id, Keys: keys, Text: fmt.Sprintf(format, args...),
	})
}

// key is a list of one key or more.
func key(names ...string) []string { return names }
