package report

import (
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/weakening"
)

// Validation is what is right and wrong with contracts.
type Validation struct{ Files []ValidatedFile }

// ValidatedFile is what was found in one file.
type ValidatedFile struct {
	Name     string
	Text     string
	Contract *contract.Contract // nil where there are problems
	Problems []contract.Problem
	// Compared says that the contract was held against an earlier version, and
	// Changes what differs.
	Compared bool
	Changes  []weakening.Change
}

// Good says that every file is a contract and none is weaker than before.
func (v *Validation) Good() bool {
	for i := range v.Files {
		if f := &v.Files[i]; f.Contract == nil || weakening.Suspect(f.Changes) {
			return false
		}
	}
	return true
}

// Text is a line for each problem, with the line of the file that it is about
// and what to write instead, and a line for each file.
func (v *Validation) Text(view View) string {
	var b strings.Builder
	for i := range v.Files {
		f := &v.Files[i]
		for _, p := range f.Problems {
			f.problem(&b, p, "", view)
		}
		if f.Contract == nil {
			fmt.Fprintf(&b, "%s: %s\n", terminal.Clean(f.Name), view.Style.Bad("not valid, "+terminal.Plural(int64(len(f.Problems)), "problem")))
			continue
		}
		for _, p := range f.Contract.Warnings {
			f.problem(&b, p, "warning: ", view)
		}
		f.changes(&b, view)
		fmt.Fprintf(&b, "%s: %s, %s\n", terminal.Clean(f.Name), view.Style.Good("valid"), terminal.Clean(f.Contract.ID+": "+Rules(f.Contract)))
	}
	return b.String()
}

// longestExcerpt is how many columns of a line are shown.
const longestExcerpt = 100

// problem writes what is wrong, the line with a caret below the place, and a way
// out.
func (f *ValidatedFile) problem(b *strings.Builder, p contract.Problem, word string, view View) {
	place := fmt.Sprintf("%s:%d:%d: ", f.Name, p.Line, p.Column)
	message := p.Message
	if p.Path != "" {
		message = p.Path + ": " + message
	}
	paint := view.Style.Bad
	if word != "" {
		paint = view.Style.Warn
	}
	fmt.Fprintf(b, "%s%s\n", terminal.Clean(place), paint(terminal.Clean(word+message)))
	lines := strings.Split(f.Text, "\n")
	if p.Line >= 1 && p.Line <= len(lines) && strings.TrimSpace(lines[p.Line-1]) != "" {
		line := []rune(strings.TrimRight(lines[p.Line-1], " \t\r"))
		at := min(max(p.Column-1, 0), len(line))
		from, left := 0, ""
		if at > longestExcerpt/2 {
			from, left = at-longestExcerpt/4, "…"
		}
		before := left + terminal.Clean(string(line[from:at]))
		fmt.Fprintf(b, "    %s\n", before+terminal.Cut(string(line[at:]), longestExcerpt-terminal.Width(before)))
		fmt.Fprintf(b, "    %s^\n", strings.Repeat(" ", terminal.Width(before)))
	}
	if p.Hint != "" {
		fmt.Fprintf(b, "  %s\n", terminal.Clean(p.Hint))
	}
}

func (f *ValidatedFile) changes(b *strings.Builder, view View) {
	if f.Compared && len(f.Changes) == 0 {
		fmt.Fprintf(b, "%s: nothing that a verdict depends on changed\n", terminal.Clean(f.Name))
	}
	for _, c := range f.Changes {
		paint := func(s string) string { return s }
		if c.Suspect() {
			paint = view.Style.Warn
		}
		fmt.Fprintf(b, "%s: %s\n", terminal.Clean(f.Name), paint(terminal.Clean(fmt.Sprintf("%s: %s: %s", c.Direction, c.Where, c.Sentence))))
	}
}

// Rules says in a few words how much a contract asks.
func Rules(c *contract.Contract) string {
	var parts []string
	for _, of := range []struct {
		n         int
		one, many string
	}{
		{len(c.Steps), "step", "steps"},
		{len(c.Never), "never", "never"},
		{len(c.State), "state", "states"},
		{len(c.Limits), "limit", "limits"},
		{len(c.Approvals), "approval", "approvals"},
	} {
		switch of.n {
		case 0:
		case 1:
			parts = append(parts, "1 "+of.one)
		default:
			parts = append(parts, fmt.Sprintf("%d %s", of.n, of.many))
		}
	}
	return strings.Join(parts, ", ")
}

// ValidationDocument is what is right and wrong with contracts, as JSON.
type ValidationDocument struct {
	Kind  string                  `json:"kind"`  // "validation"
	Valid bool                    `json:"valid"` // every file is a contract
	Files []ValidatedFileDocument `json:"files"` // in the order of the command line
}

// ValidatedFileDocument is what was found in one file.
type ValidatedFileDocument struct {
	File       string              `json:"file"`        // as it was named
	Valid      bool                `json:"valid"`       // it is a contract
	ContractID string              `json:"contract_id"` // empty where it is none
	Digest     string              `json:"digest"`      // by which verdicts name the version; empty where it is none
	Problems   []ProblemDocument   `json:"problems"`    // in the order of the text
	Warnings   []ProblemDocument   `json:"warnings"`    // what is allowed but odd
	Rules      *RulesDocument      `json:"rules"`       // how much it asks; null where it is none
	Changes    []WeakeningDocument `json:"changes"`     // against the earlier version, where one was named
}

// ProblemDocument is one thing that is wrong or odd, and its place.
type ProblemDocument struct {
	Line    int64  `json:"line"`    // from 1
	Column  int64  `json:"column"`  // from 1, in characters
	Path    string `json:"path"`    // where it stands in the contract, as in steps[0].where
	Text    string `json:"text"`    // what it is about, as it stands there
	Message string `json:"message"` // what is wrong
	Hint    string `json:"hint"`    // what to write instead; may be empty
}

// RulesDocument counts what a contract asks for.
type RulesDocument struct {
	Params    int64 `json:"params"`    // declared parameters
	Sources   int64 `json:"sources"`   // systems of record
	Links     int64 `json:"links"`     // rules by which facts belong to actions
	Steps     int64 `json:"steps"`     // what must be seen
	Never     int64 `json:"never"`     // what must not be seen
	State     int64 `json:"state"`     // how things must stand
	Limits    int64 `json:"limits"`    // what was allowed
	Approvals int64 `json:"approvals"` // who must have said yes
}

// WeakeningDocument is one difference from an earlier version.
type WeakeningDocument struct {
	What      string `json:"what"`      // the kind of the change, as in cap_higher
	Where     string `json:"where"`     // the key
	Old       string `json:"old"`       // as the earlier version writes it
	New       string `json:"new"`       // as this one writes it
	Direction string `json:"direction"` // weaker, unclear, stronger or different
	Sentence  string `json:"sentence"`  // what it means
}

// Document is the validation as JSON.
func (v *Validation) Document() any {
	d := ValidationDocument{Kind: "validation", Valid: true, Files: []ValidatedFileDocument{}}
	for i := range v.Files {
		file := v.Files[i].document()
		d.Valid = d.Valid && file.Valid
		d.Files = append(d.Files, file)
	}
	return d
}

func (f *ValidatedFile) document() ValidatedFileDocument {
	d := ValidatedFileDocument{
		File: f.Name, Valid: f.Contract != nil, Problems: problemDocuments(f.Problems),
		Warnings: []ProblemDocument{}, Changes: []WeakeningDocument{},
	}
	if c := f.Contract; c != nil {
		d.ContractID, d.Digest, d.Warnings = c.ID, c.Digest, problemDocuments(c.Warnings)
		d.Rules = &RulesDocument{
			Params: int64(len(c.Params)), Sources: int64(len(c.Sources)), Links: int64(len(c.Link)), Steps: int64(len(c.Steps)),
			Never: int64(len(c.Never)), State: int64(len(c.State)), Limits: int64(len(c.Limits)), Approvals: int64(len(c.Approvals)),
		}
	}
	for _, c := range f.Changes {
		d.Changes = append(d.Changes, WeakeningDocument{
			What: string(c.What), Where: c.Where, Old: c.Old, New: c.New, Direction: string(c.Direction), Sentence: c.Sentence,
		})
	}
	return d
}

func problemDocuments(problems []contract.Problem) []ProblemDocument {
	documents := make([]ProblemDocument, 0, len(problems))
	for _, p := range problems {
		documents = append(documents, ProblemDocument{
			Line: int64(p.Line), Column: int64(p.Column), Path: p.Path, Text: p.Text, Message: p.Message, Hint: p.Hint,
		})
	}
	return documents
}
