package verdict

import (
	"slices"

	"github.com/deed-dev/deed/internal/evidence"
)

// revise holds a verdict against the settled one before it. If nothing has
// changed, not even a reason, that one stands; else this one supersedes it, and
// says what has come in between. Nothing is ever edited.
func (t *trial) revise(v *Verdict) {
	before := t.c.Previous
	if before == nil {
		return
	}
	v.Revision, v.SettledAt = before.Revision, before.SettledAt
	if same(v, before) {
		v.Status = Settled
		return
	}
	v.Status, v.Revision, v.SettledAt, v.Supersedes = Revised, before.Revision+1, t.c.At, before.Digest
	t.note(t.cause(v))
}

func same(v *Verdict, before *Previous) bool {
	if v.Outcome.Result != before.Outcome || v.Conformance.Result != before.Conformance || len(v.Checks) != len(before.Checks) {
		return false
	}
	for i := range v.Checks {
		was := &before.Checks[i]
		if v.Checks[i].ID != was.ID || v.Checks[i].Result != was.Result || !slices.Equal(v.Checks[i].codes(), was.Codes) {
			return false
		}
	}
	return true
}

func (c *Check) codes() []Code {
	codes := make([]Code, len(c.Reasons))
	for i := range c.Reasons {
		codes[i] = c.Reasons[i].Code
	}
	return codes
}

// Before is what a later verdict on the same action needs of this one, once it
// has settled.
func (v *Verdict) Before(sources []evidence.Source) *Previous {
	p := &Previous{
		Digest: v.Digest(), Revision: v.Revision, SettledAt: v.SettledAt,
		Outcome: v.Outcome.Result, Conformance: v.Conformance.Result, Sources: sources,
	}
	for i := range v.Checks {
		p.Checks = append(p.Checks, PreviousCheck{ID: v.Checks[i].ID, Result: v.Checks[i].Result, Codes: v.Checks[i].codes()})
	}
	return p
}

// cause says what has come since the verdict before.
func (t *trial) cause(v *Verdict) Reason {
	since := t.c.Previous.SettledAt
	for _, f := range t.retracted {
		if f.IngestedAt > since {
			return Reason{Code: FactRetracted, Source: f.Source, Fact: f.ExternalID}
		}
	}
	for i := range v.Checks {
		for _, seen := range v.Checks[i].Seen {
			if f := t.fact(&seen); f != nil && f.IngestedAt > since {
				return Reason{Code: LateEvidence, Source: f.Source, Fact: f.ExternalID}
			}
		}
	}
	for i := range t.facts {
		if f := t.facts[i].Fact; f.IngestedAt > since {
			return Reason{Code: LateEvidence, Source: f.Source, Fact: f.ExternalID}
		}
	}
	for i := range v.Checks {
		if i < len(t.c.Previous.Checks) && slices.Contains(t.c.Previous.Checks[i].Codes, SourceNotCovered) &&
			!slices.Contains(v.Checks[i].codes(), SourceNotCovered) {
			return Reason{Code: LateCoverage, About: v.Checks[i].ID}
		}
	}
	return Reason{Code: LateDeclaration}
}

// fact finds the current fact that a pointer points to.
func (t *trial) fact(seen *Seen) *evidence.Fact {
	for i := range t.facts {
		f := t.facts[i].Fact
		if f.ExternalID == seen.ExternalID && f.Source == seen.Source && f.Type == seen.Type {
			return f
		}
	}
	return nil
}
