package report

import (
	"strings"

	"github.com/deed-dev/deed/internal/explanation"
	"github.com/deed-dev/deed/internal/terminal"
)

// explanationWidth is how long the lines of an explanation are.
const explanationWidth = 96

// Explanation is a contract in plain language.
type Explanation struct {
	Explained explanation.Text
	Markdown  bool // for a document instead of a terminal
}

// Text is the numbered sentences under their headings.
func (e Explanation) Text(View) string {
	text := e.Explained.Plain(explanationWidth)
	if e.Markdown {
		text = e.Explained.Markdown()
	}
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = terminal.Clean(lines[i])
	}
	return strings.Join(lines, "\n")
}

// ExplanationDocument is a contract in plain language, as JSON.
type ExplanationDocument struct {
	Kind       string            `json:"kind"`        // "explanation"
	ContractID string            `json:"contract_id"` // by which declarations name it
	Title      string            `json:"title"`       // for people; may be empty
	Digest     string            `json:"digest"`      // by which verdicts name the version
	Sections   []SectionDocument `json:"sections"`    // in the order of the text
}

// SectionDocument is what a contract says about one question.
type SectionDocument struct {
	Name      string             `json:"name"`      // for programs, as in steps
	Heading   string             `json:"heading"`   // for people
	Sentences []SentenceDocument `json:"sentences"` // at least one
}

// SentenceDocument is one statement.
type SentenceDocument struct {
	Number string   `json:"number"` // by which it can be quoted, as in 3.2
	ID     string   `json:"id"`     // the check, source or parameter that it is about; may be empty
	Keys   []string `json:"keys"`   // the keys of the contract that it speaks of
	Text   string   `json:"text"`   // the sentence
}

// Document is the explanation as JSON.
func (e Explanation) Document() any {
	d := ExplanationDocument{Kind: "explanation", ContractID: e.Explained.Contract, Title: e.Explained.Title, Digest: e.Explained.Digest}
	for _, section := range e.Explained.Sections {
		s := SectionDocument{Name: section.Name, Heading: section.Heading}
		for _, sentence := range section.Sentences {
			s.Sentences = append(s.Sentences, SentenceDocument{Number: sentence.Number, ID: sentence.ID, Keys: sentence.Keys, Text: sentence.Text})
		}
		d.Sections = append(d.Sections, s)
	}
	return d
}
