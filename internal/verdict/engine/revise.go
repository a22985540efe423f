package engine

import (
	"slices"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/verdict"
)

// revise holds a verdict against the settled one before it. If nothing has
// changed, not even a reason, that one stands; else this one supersedes it, and
// says what has come in between. Nothing is ever edited.
func (t *trial) revise(v *verdict.Verdict) {
	before := t.c.Previous
	if before == nil {
		return
	}
	v.Revision, v.SettledAt = before.Revision, before.SettledAt
	if same(v, before) {
		v.Status = verdict.Settled
		return
	}
	v.Status, v.Revision, v.SettledAt, v.Supersedes = verdict.Revised, before.Revision+1, t.c.At, before.Digest
	t.note(t.cause(v))
}

func same(v *verdict.Verdict, before *verdict.Previous) bool {
	if v.Outcome.Result != before.Outcome || v.Conformance.Result != before.Conformance || len(v.Checks) != len(before.Checks) {
		return false
	}
	for i := range v.Checks {
		was := &before.Checks[i]
		if v.Checks[i].ID != was.ID || v.Checks[i].Result != was.Result || !slices.Equal(v.Checks[i].Codes(), was.Codes) {
			return false
		}
	}
	return true
}

// cause says what has come since the verdict before.
func (t *trial) cause(v *verdict.Verdict) verdict.Reason {
	since := t.c.Previous.SettledAt
	for _, f := range t.retracted {
		if f.IngestedAt > since {
			return verdict.Reason{Code: verdict.FactRetracted, Source: f.Source, Fact: f.ExternalID}
		}
	}
	for i := range v.Checks {
		for _, seen := range v.Checks[i].Seen {
			if f := t.fact(&seen); f != nil && f.IngestedAt > since {
				return verdict.Reason{Code: verdict.LateEvidence, Source: f.Source, Fact: f.ExternalID}
			}
		}
	}
	for i := range t.facts {
		if f := t.facts[i].Fact; f.IngestedAt > since {
			return verdict.Reason{Code: verdict.LateEvidence, Source: f.Source, Fact: f.ExternalID}
		}
	}
	for i := range v.Checks {
		if i < len(t.c.Previous.Checks) && slices.Contains(t.c.Previous.Checks[i].Codes, verdict.SourceNotCovered) &&
			!slices.Contains(v.Checks[i].Codes(), verdict.SourceNotCovered) {
			return verdict.Reason{Code: verdict.LateCoverage, About: v.Checks[i].ID}
		}
	}
	return verdict.Reason{Code: verdict.LateDeclaration}
}

// fact finds the current fact that a pointer points to.
func (t *trial) fact(seen *verdict.Seen) *evidence.Fact {
	for i := range t.facts {
		f := t.facts[i].Fact
		if f.ExternalID == seen.ExternalID && f.Source == seen.Source && f.Type == seen.Type {
			return f
		}
	}
	return nil
}
