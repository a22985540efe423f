package view

import (
	"strconv"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/explanation"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/weakening"
)

// VersionStatus says what became of a contract's version.
type VersionStatus string

// The statuses of a version.
const (
	Draft      VersionStatus = "draft"      // never active
	Active     VersionStatus = "active"     // governs what is declared now
	Superseded VersionStatus = "superseded" // governed once
)

// Version is a version of a contract without its text.
type Version struct {
	ContractID  string            `json:"contract_id"`
	Version     int               `json:"version"`
	Status      VersionStatus     `json:"status"`
	Digest      string            `json:"digest"`
	Note        string            `json:"note,omitzero"`
	SavedAt     value.Instant     `json:"saved_at"`
	SavedBy     access.Actor      `json:"saved_by"`
	Approvers   []access.MemberID `json:"approvers"`
	Mode        verdict.Mode      `json:"mode,omitzero"`
	ActiveFrom  value.Instant     `json:"active_from,omitzero"`
	ActiveUntil value.Instant     `json:"active_until,omitzero"`
	ActivatedBy access.Actor      `json:"activated_by,omitzero"`
}

// VersionOf is a version without its text.
func VersionOf(v *store.ContractVersion) Version {
	status := Active
	switch {
	case v.From == 0:
		status = Draft
	case v.Until != 0:
		status = Superseded
	}
	return Version{
		ContractID: v.ContractID, Version: v.Version, Status: status, Digest: v.Digest, Note: v.Note,
		SavedAt: v.SavedAt, SavedBy: v.SavedBy, Approvers: v.Approvers,
		Mode: v.Mode, ActiveFrom: v.From, ActiveUntil: v.Until, ActivatedBy: v.ActivatedBy,
	}
}

// Contract is a contract in a list.
type Contract struct {
	ID         string        `json:"id"`
	Latest     int           `json:"latest" jsonschema:"the latest version"`
	Active     int           `json:"active,omitzero" jsonschema:"the version that governs now"`
	Mode       verdict.Mode  `json:"mode,omitzero"`
	ActiveFrom value.Instant `json:"active_from,omitzero"`
}

// ContractOf is a contract by its latest version and by the one that governs, if
// one does.
func ContractOf(latest, active *store.ContractVersion) Contract {
	c := Contract{ID: latest.ContractID, Latest: latest.Version}
	if active != nil {
		c.Active, c.Mode, c.ActiveFrom = active.Version, active.Mode, active.From
	}
	return c
}

// ActiveOf is the version that governs now, or nil.
func ActiveOf(versions []store.ContractVersion) *store.ContractVersion {
	for i := range versions {
		if v := &versions[i]; v.From != 0 && v.Until == 0 {
			return v
		}
	}
	return nil
}

// Rules are what a contract comes to, in few words.
type Rules struct {
	Contract     string      `json:"contract"`
	Title        string      `json:"title,omitzero"`
	Owner        string      `json:"owner,omitzero"`
	ActionType   string      `json:"action_type,omitzero"`
	SubjectKind  string      `json:"subject_kind,omitzero"`
	Params       []string    `json:"params"`
	Checks       []RuleCheck `json:"checks"`
	Sources      []string    `json:"sources"`
	SettlesAfter string      `json:"settles_after"`
	Grace        string      `json:"grace"`
}

// RuleCheck is a check that the contract makes of every action.
type RuleCheck struct {
	ID   string       `json:"id"`
	Kind verdict.Kind `json:"kind"`
	Lens string       `json:"lens"`
}

// RulesOf is what a compiled contract comes to.
func RulesOf(k *contract.Contract) *Rules {
	r := &Rules{
		Contract: k.ID, Title: k.Title, Owner: k.Owner,
		ActionType: k.AppliesTo.ActionType, SubjectKind: k.AppliesTo.SubjectKind,
		SettlesAfter: span(k.Settle.After), Grace: span(k.Settle.Grace),
	}
	for _, p := range k.Params {
		r.Params = append(r.Params, p.Name)
	}
	for _, s := range k.Sources {
		r.Sources = append(r.Sources, s.Name)
	}
	add := func(id string, kind verdict.Kind, lens string) {
		r.Checks = append(r.Checks, RuleCheck{ID: id, Kind: kind, Lens: lens})
	}
	for i := range k.Steps {
		add(k.Steps[i].ID, verdict.StepCheck, verdict.OutcomeLens)
	}
	for i := range k.Never {
		add(k.Never[i].ID, verdict.NeverCheck, verdict.OutcomeLens)
	}
	for i := range k.State {
		add(k.State[i].ID, verdict.StateCheck, verdict.OutcomeLens)
	}
	for i := range k.Limits {
		add(k.Limits[i].ID, verdict.LimitCheck, verdict.ConformanceLens)
	}
	for i := range k.Approvals {
		add(k.Approvals[i].ID, verdict.ApprovalCheck, verdict.ConformanceLens)
	}
	return r
}

// span writes a duration as contracts do: in the largest unit up to hours that
// leaves no rest.
func span(d time.Duration) string {
	switch {
	case d != 0 && d%time.Hour == 0:
		return strconv.FormatInt(int64(d/time.Hour), 10) + "h"
	case d != 0 && d%time.Minute == 0:
		return strconv.FormatInt(int64(d/time.Minute), 10) + "m"
	}
	return strconv.FormatInt(int64(d/time.Second), 10) + "s"
}

// Problem is something that is wrong, or odd, about a contract's text.
type Problem struct {
	Line    int    `json:"line" jsonschema:"from 1; 0 where it is about no place in the text"`
	Column  int    `json:"column"`
	Path    string `json:"path,omitzero"`
	Text    string `json:"text,omitzero"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitzero"`
}

// ProblemsOf are problems in the order of the text.
func ProblemsOf(problems []contract.Problem) []Problem {
	list := make([]Problem, 0, len(problems))
	for _, p := range problems {
		list = append(list, Problem{Line: p.Line, Column: p.Column, Path: p.Path, Text: p.Text, Message: p.Message, Hint: p.Hint})
	}
	return list
}

// SourceProblem is why a source cannot carry what a contract asks of it.
type SourceProblem struct {
	Source  string `json:"source"`
	Type    string `json:"type,omitzero" jsonschema:"of facts, where it is about one"`
	Code    string `json:"code" jsonschema:"source_unknown, source_too_weak, type_not_provided or no_watermark"`
	Message string `json:"message"`
}

// Change is a difference between two versions of a contract.
type Change struct {
	What      weakening.Kind      `json:"what"`
	Where     string              `json:"where"`
	Old       string              `json:"old"`
	New       string              `json:"new"`
	Direction weakening.Direction `json:"direction"`
	Sentence  string              `json:"sentence"`
}

// ChangesOf are differences in the order of the language.
func ChangesOf(changes []weakening.Change) []Change {
	list := make([]Change, 0, len(changes))
	for _, c := range changes {
		list = append(list, Change(c))
	}
	return list
}

// Section is what a contract says about one question, in plain language.
type Section struct {
	Name      string     `json:"name"`
	Heading   string     `json:"heading"`
	Sentences []Sentence `json:"sentences"`
}

// Sentence is one statement, numbered so that it can be quoted.
type Sentence struct {
	Number string   `json:"number"`
	ID     string   `json:"id,omitzero" jsonschema:"the check, source or parameter that it is about"`
	Keys   []string `json:"keys"`
	Text   string   `json:"text"`
}

// PlainText is a contract in plain language.
func PlainText(k *contract.Contract) []Section { return PlainOf(explanation.Explain(k)) }

// PlainOf is an explanation as it is shown.
func PlainOf(text explanation.Text) []Section {
	sections := make([]Section, 0, len(text.Sections))
	for _, section := range text.Sections {
		s := Section{Name: section.Name, Heading: section.Heading}
		for _, sentence := range section.Sentences {
			s.Sentences = append(s.Sentences, Sentence{Number: sentence.Number, ID: sentence.ID, Keys: sentence.Keys, Text: sentence.Text})
		}
		sections = append(sections, s)
	}
	return sections
}
