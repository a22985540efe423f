package view

import (
	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// Fact is one revision of a fact as it is kept.
type Fact struct {
	Source      string                 `json:"source"`
	ExternalID  string                 `json:"external_id"`
	Type        string                 `json:"type"`
	SubjectID   string                 `json:"subject_id,omitzero"`
	SubjectKind string                 `json:"subject_kind,omitzero"`
	Refs        map[string]string      `json:"refs,omitempty" jsonschema:"correlation keys"`
	Attrs       map[string]value.Value `json:"attrs,omitempty" jsonschema:"what conditions read"`
	OccurredAt  value.Instant          `json:"occurred_at" jsonschema:"by the source's clock"`
	ObservedAt  value.Instant          `json:"observed_at,omitzero" jsonschema:"when the source was read"`
	IngestedAt  value.Instant          `json:"ingested_at,omitzero" jsonschema:"when the server got it"`
	Mode        evidence.Mode          `json:"mode,omitzero"`
	Revision    int64                  `json:"revision,omitzero" jsonschema:"the source's own number"`
	Retracted   bool                   `json:"retracted,omitzero"`
	Payload     string                 `json:"payload,omitzero" jsonschema:"digest of what the source sent"`
	RecordedBy  access.Actor           `json:"recorded_by,omitzero"`
}

// FactOf is a fact as it is kept, with who brought it.
func FactOf(f *store.Fact) Fact {
	v := EffectOf(&f.Fact)
	v.RecordedBy = f.By
	return v
}

// EffectOf is a fact alone.
func EffectOf(f *evidence.Fact) Fact {
	return Fact{
		Source: f.Source, ExternalID: f.ExternalID, Type: f.Type, SubjectID: f.SubjectID, SubjectKind: f.SubjectKind,
		Refs: f.Refs, Attrs: f.Attrs, OccurredAt: f.OccurredAt, ObservedAt: f.ObservedAt, IngestedAt: f.IngestedAt,
		Mode: f.Mode, Revision: f.Revision, Retracted: f.Retracted, Payload: f.Payload,
	}
}

// Orphan is an effect that a contract looks for and no action claims.
type Orphan struct {
	ContractID string `json:"contract_id"`
	Fact       Fact   `json:"fact"`
}

// Source is a source as the workspace has it.
type Source struct {
	Name       string                   `json:"name"`
	Title      string                   `json:"title,omitzero"`
	Trust      evidence.Trust           `json:"trust"`
	Provides   []string                 `json:"provides" jsonschema:"fact types; empty means any"`
	Resolution evidence.Resolution      `json:"resolution" jsonschema:"the unit of its times"`
	Watermarks map[string]value.Instant `json:"watermarks" jsonschema:"up to when the facts of each type are complete"`
	Facts      int64                    `json:"facts" jsonschema:"revisions kept; may lag by a second"`
	LastFactAt value.Instant            `json:"last_fact_at,omitzero"`
	CreatedAt  value.Instant            `json:"created_at"`
	CreatedBy  access.Actor             `json:"created_by,omitzero"`
}

// SourceOf is a source as the workspace has it.
func SourceOf(s *store.SourceState) Source {
	v := Source{
		Name: s.Name, Title: s.Title, Trust: s.Trust, Provides: s.Provides,
		Resolution: evidence.Resolution(s.Unit()), Watermarks: s.Watermarks,
		Facts: s.Facts, LastFactAt: s.LastFactAt, CreatedAt: s.CreatedAt, CreatedBy: s.CreatedBy,
	}
	if v.Watermarks == nil {
		v.Watermarks = map[string]value.Instant{}
	}
	return v
}
