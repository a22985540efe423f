package engine

import (
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Evaluate says what a case comes to. It reads nothing but the case and gives
// the same verdict for the same case, always. An error means that the case is
// none, never anything about the action.
func Evaluate(c *verdict.Case) (verdict.Verdict, error) {
	v, _, err := Await(c)
	return v, err
}

// Await evaluates a case as [Evaluate] does, and lists the coverage that it asked
// for and did not find, each source, type and time once. More than the verdict's
// own waits, these are all the watermarks that can change any part of it: until one
// of them is reached, no coverage makes another verdict.
func Await(c *verdict.Case) (verdict.Verdict, []verdict.Wait, error) {
	if err := check(c); err != nil {
		return verdict.Verdict{}, nil, err
	}
	c = c.InOrder()
	governing := &c.Declarations[0]
	v := verdict.Verdict{
		Engine: verdict.Engine, Case: c.Digest(), ActionID: governing.ActionID, ContractID: governing.ContractID,
		EvaluatedAt: c.At,
	}
	if c.Governing == nil {
		return without(v, c, verdict.ContractNotFound), nil, nil
	}
	k := c.Governing.Contract
	v.ContractID, v.ContractVersion, v.ContractDigest, v.Mode = k.ID, c.Governing.Version, k.Digest, c.Governing.Mode
	if !applies(k, governing) {
		return without(v, c, verdict.ContractDoesNotApply), nil, nil
	}
	self, problems := newParty(k, governing)
	t := &trial{c: c, k: k, self: self, steps: make([]finding, len(k.Steps)), stepDone: make([]bool, len(k.Steps))}
	t.sources = sourcesOf(c)
	for _, fact := range evidence.Current(c.Facts, c.At) {
		if fact.Fact.Retracted && !fact.Disputed {
			t.retracted = append(t.retracted, fact.Fact)
			continue
		}
		if !fact.Disputed {
			t.facts = append(t.facts, fact)
			continue
		}
		// Whatever the source said may be so.
		for _, content := range fact.Contents {
			if !content.Retracted {
				t.facts = append(t.facts, evidence.Resolved{Fact: content, Disputed: true})
			}
		}
	}
	findings := t.findings(problems)
	t.settle(&v, findings)
	t.annotate(&v, findings)
	t.revise(&v)
	t.compensate(&v)
	v.Notes = t.notes
	return v, distinct(t.lacking), nil
}

// distinct leaves out what is there already.
func distinct(waits []verdict.Wait) []verdict.Wait {
	var kept []verdict.Wait
	for _, w := range waits {
		if !slices.Contains(kept, w) {
			kept = append(kept, w)
		}
	}
	return kept
}

// check refuses what is no case of this engine.
func check(c *verdict.Case) error {
	switch {
	case c.Engine != verdict.Engine:
		return fmt.Errorf("evaluate case: it was made for engine %d, and this is engine %d", c.Engine, verdict.Engine)
	case c.At == 0:
		return fmt.Errorf("evaluate case: it names no time")
	case len(c.Declarations) == 0:
		return fmt.Errorf("evaluate case: it holds no declaration")
	case c.Governing != nil && c.Governing.Contract == nil:
		return fmt.Errorf("evaluate case: its governing contract is not there")
	}
	for i := range c.Declarations {
		if c.Declarations[i].ReceivedAt == 0 {
			return fmt.Errorf("evaluate case: declaration %d has no time of receipt", i+1)
		}
	}
	return nil
}

func applies(k *contract.Contract, d *verdict.Declaration) bool {
	return (k.AppliesTo.ActionType == "" || k.AppliesTo.ActionType == d.ActionType) &&
		(k.AppliesTo.SubjectKind == "" || k.AppliesTo.SubjectKind == d.SubjectKind)
}

// without is the verdict of an action that no contract governs. There is
// nothing to wait for, so it is settled.
func without(v verdict.Verdict, c *verdict.Case, code verdict.Code) verdict.Verdict {
	lens := verdict.Lens{Result: verdict.Unknown, Codes: []verdict.Code{code}, Decided: true}
	v.Status, v.Decided, v.Badge, v.Outcome, v.Conformance, v.Revision = verdict.Settled, true, verdict.Unknown, lens, lens, 1
	v.SettlesAt = c.Declarations[0].ReceivedAt
	v.SettledAt = v.SettlesAt
	if c.Previous != nil {
		v.Revision, v.SettledAt = c.Previous.Revision, c.Previous.SettledAt
	}
	return v
}

// sourcesOf are the case's sources, each complete at least as far as it was
// when the previous verdict settled.
func sourcesOf(c *verdict.Case) []evidence.Source {
	if c.Previous == nil {
		return c.Sources
	}
	merged := make([]evidence.Source, len(c.Sources), len(c.Sources)+len(c.Previous.Sources))
	copy(merged, c.Sources)
	for _, before := range c.Previous.Sources {
		i := 0
		for i < len(merged) && merged[i].Name != before.Name {
			i++
		}
		if i == len(merged) {
			merged = append(merged, before)
			continue
		}
		marks := make(map[string]value.Instant, len(before.Watermarks))
		for factType, at := range merged[i].Watermarks {
			marks[factType] = at
		}
		for factType, at := range before.Watermarks {
			marks[factType] = max(at, marks[factType])
		}
		merged[i].Watermarks = marks
	}
	return merged
}

// findings concludes every check, in the order in which they are shown.
func (t *trial) findings(problems []contract.BindProblem) []finding {
	k := t.k
	found := make([]finding, 0, 2+len(k.Steps)+len(k.Never)+len(k.State)+len(k.Limits)+len(k.Approvals))
	for i := range k.Steps {
		found = append(found, *t.step(i))
	}
	for i := range k.Never {
		found = append(found, t.never(&k.Never[i]))
	}
	for i := range k.State {
		found = append(found, t.state(&k.State[i]))
	}
	for i := range k.Limits {
		found = append(found, t.limit(&k.Limits[i]))
	}
	for i := range k.Approvals {
		found = append(found, t.approval(&k.Approvals[i]))
	}
	return append(found, t.declaredInTime(), t.declarationValid(problems))
}
