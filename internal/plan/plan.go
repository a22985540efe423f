package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/access"
)

// Default is the plan of a workspace that was given no other.
const Default = "default"

// Feature is something that a plan may leave out.
type Feature string

// The features. Nothing that records, verifies or proves is one of them.
const (
	Drafts  Feature = "drafts"
	DryRuns Feature = "dry_runs"
)

// Described is a feature with what it is, for people.
type Described struct {
	Feature  Feature
	Sentence string
}

// Features is every feature that there is.
func Features() []Described {
	return []Described{
		{Drafts, "Contracts that are proposed from what was recorded."},
		{DryRuns, "Trying a version of a contract on actions that were declared."},
	}
}

func allFeatures() []Feature {
	var all []Feature
	for _, d := range Features() {
		all = append(all, d.Feature)
	}
	return all
}

// Plan is what a workspace has.
type Plan struct {
	Name  string
	Title string // for people; the name, unless the file says more
	// ActionsPerMonth is how many actions are included; of use if Limited.
	ActionsPerMonth int64
	Limited         bool
	Features        []Feature // those that are in it, in the order of [Features]
	UpgradeTo       string    // the next plan up; empty: there is none
	// Missing says that no file has it: there is no limit, and every feature.
	Missing bool
}

// Has says whether a feature is in the plan.
func (p *Plan) Has(f Feature) bool { return slices.Contains(p.Features, f) }

// Book has the plans of a server. It never changes; a nil one has just [Default],
// without limits.
type Book struct {
	plans map[string]Plan
	names []string // as they stand in the file
}

// Of is the plan of a name; an empty one is [Default]. A plan that the book does not
// have is without limits: what a mistake of the operator's takes out of the file is
// taken away from nobody.
func (b *Book) Of(name string) Plan {
	if name == "" {
		name = Default
	}
	if b != nil {
		if p, there := b.plans[name]; there {
			return p
		}
	}
	return Plan{Name: name, Title: name, Features: allFeatures(), Missing: name != Default}
}

// Names are the plans of the book, in the order of the file, with [Default] before
// them if the file does not have it.
func (b *Book) Names() []string {
	var names []string
	if b != nil {
		names = slices.Clone(b.names)
	}
	if !slices.Contains(names, Default) {
		names = slices.Insert(names, 0, Default)
	}
	return names
}

// Required is the code of a [RequiredError].
const Required access.Code = "plan_required"

// RequiredError says that a plan does not have what was asked for.
type RequiredError struct {
	Feature Feature
	Plan    string
	// UpgradeTo is the nearest plan up that has it; empty: none has.
	UpgradeTo string
}

func (e *RequiredError) Error() string {
	text := fmt.Sprintf("the plan %s does not include %s", e.Plan, e.Feature)
	if e.UpgradeTo != "" {
		text += "; the plan " + e.UpgradeTo + " does"
	}
	return text
}

// Code is [Required].
func (e *RequiredError) Code() access.Code { return Required }

// Require asks for a feature of the plan of a name. Error: a [RequiredError].
func (b *Book) Require(name string, f Feature) error {
	p := b.Of(name)
	if p.Has(f) {
		return nil
	}
	refused := &RequiredError{Feature: f, Plan: p.Name}
	for up := p.UpgradeTo; up != ""; { // which comes to an end: a file has no circles
		next := b.Of(up)
		if next.Has(f) {
			refused.UpgradeTo = up
			break
		}
		up = next.UpgradeTo
	}
	return refused
}

// NameForm says in words what [IsName] takes.
const NameForm = "a plan's name has up to 64 small letters, digits, _ and -, and begins with a letter"

// IsName says whether a text can be the name of a plan.
func IsName(s string) bool {
	const letters, more = "abcdefghijklmnopqrstuvwxyz", "0123456789_-"
	return s != "" && len(s) <= 64 && strings.Trim(s, letters+more) == "" && strings.ContainsRune(letters, rune(s[0]))
}
