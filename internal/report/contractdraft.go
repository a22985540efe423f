package report

import (
	"github.com/deed-dev/deed/internal/draft"
)

// Draft is a proposed contract.
type Draft struct{ *draft.Proposal }

// DraftDocument is a proposed contract and what it was made of.
type DraftDocument struct {
	Kind       string           `json:"kind"`       // "draft"
	YAML       string           `json:"yaml"`       // the contract, with what stands behind each line as comments
	Statistics draft.Statistics `json:"statistics"` // the counts behind it
	Warnings   []draft.Warning  `json:"warnings"`   // what makes it weak
}

// Text is the contract, whose comments say the rest.
func (d Draft) Text(View) string { return d.YAML }

// Document is the draft as JSON.
func (d Draft) Document() any {
	warnings := d.Warnings
	if warnings == nil {
		warnings = []draft.Warning{}
	}
	return DraftDocument{Kind: "draft", YAML: d.YAML, Statistics: d.Statistics, Warnings: warnings}
}
