package store

import (
	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
)

// Fact is one revision of a fact, as it is kept for ever.
type Fact struct {
	evidence.Fact
	Body []byte // what was sent, byte for byte; nil for one that a connector made
	By   access.Actor
	Seq  int64 // set when read: the order in which they were kept
}

// FactFilter narrows a list of facts. Empty members do not.
type FactFilter struct {
	Source, Type, SubjectID, ExternalID string
	Ref, RefValue                       string
	From, To                            value.Instant // OccurredAt lies in [From, To)
}

// SourceState is a source as the workspace has it, and how it does.
type SourceState struct {
	evidence.Source
	Title      string
	CreatedAt  value.Instant
	CreatedBy  access.Actor
	LastFactAt value.Instant // when a fact of it was last kept
	Facts      int64         // revisions kept; may lag by a second
}

// Evidence is what systems of record say.
type Evidence interface {
	// AddFacts keeps revisions of facts. For each it says whether it is new: one
	// whose content is there already ([evidence.Fact.Same]) is left out, within the
	// list too. Two units may add one fact: one of them is told that it is new.
	AddFacts(facts []Fact) ([]bool, error)
	// ListFacts returns the latest kept first.
	ListFacts(f FactFilter, p Page) ([]Fact, Cursor, error)
	// FactRevisions returns all revisions of a fact, in the order they were kept.
	FactRevisions(id evidence.Identity) ([]Fact, error)
	// Sources returns all sources, or those of the names, in the order of names.
	SourceStates(names ...string) ([]SourceState, error)
	// PutSource keeps what a source is; its watermarks stay as they are.
	PutSource(s SourceState)
	// PutWatermark says up to when facts of a type are complete.
	PutWatermark(source, factType string, at value.Instant, by access.Actor)
}
