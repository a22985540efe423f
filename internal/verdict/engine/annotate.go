package engine

import (
	"slices"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// annotate says what is to be said beside the checks, and how much was seen.
func (t *trial) annotate(v *verdict.Verdict, findings []finding) {
	d := t.self.declared
	for i := range t.c.Declarations[1:] {
		if !t.sameIntent(d, &t.c.Declarations[i+1]) {
			t.note(verdict.Reason{Code: verdict.DeclarationChanged})
			break
		}
	}
	if d.ContractVersion != 0 && d.ContractVersion != t.c.Governing.Version {
		t.note(verdict.Reason{Code: verdict.ContractVersionIgnored})
	}
	if d.RequestedAt.Sub(d.ReceivedAt) > t.k.Settle.MaxSkew {
		t.note(verdict.Reason{Code: verdict.ClockSkew})
	}
	for _, f := range t.retracted {
		if t.self.rank(f, t.k.Link) != unlinked {
			t.note(verdict.Reason{Code: verdict.FactRetracted, Source: f.Source, Fact: f.ExternalID})
		}
	}
	for i := range v.Checks {
		t.annotateEvidence(&v.Checks[i])
	}
	t.verifiedAmount(v, findings)
}

// annotateEvidence notes a link that is weak and evidence that is shared.
func (t *trial) annotateEvidence(check *verdict.Check) {
	for i := range check.Seen {
		seen := &check.Seen[i]
		if seen.Role != verdict.Supports {
			continue
		}
		if seen.Link == "subject" && check.Kind == verdict.StepCheck {
			t.note(verdict.Reason{Code: verdict.WeakLink, About: check.ID})
		}
		for _, shared := range t.c.Shared {
			if shared.Source == seen.Source && shared.Type == seen.Type && shared.ExternalID == seen.ExternalID {
				t.note(verdict.Reason{Code: verdict.EvidenceShared, Source: seen.Source, Fact: seen.ExternalID, About: shared.ActionID})
			}
		}
	}
}

// sameIntent compares what two declarations of one action declare, by value:
// when and how they were sent does not matter.
func (t *trial) sameIntent(a, b *verdict.Declaration) bool {
	if a.ContractID != b.ContractID || a.ActionType != b.ActionType || a.SubjectID != b.SubjectID || a.SubjectKind != b.SubjectKind ||
		a.AgentID != b.AgentID || a.WorkflowID != b.WorkflowID || a.Compensates != b.Compensates {
		return false
	}
	left, _ := t.k.Bind(a.Params)
	right, _ := t.k.Bind(b.Params)
	return sameParams(a.Params, b.Params, left, right) && sameParams(b.Params, a.Params, right, left)
}

// sameParams says that every parameter of a is in b with the same value: as the
// contract types it, or as it came.
func sameParams(a, b, typedA, typedB map[string]value.Value) bool {
	for name, raw := range a {
		if name == "mcp_request_id" || name == "mcp_tool" {
			continue
		}
		other, ok := b[name]
		if !ok {
			return false
		}
		if x, y := typedA[name], typedB[name]; !x.IsMissing() && !y.IsMissing() {
			if value.Compare(x, y) != value.Equal {
				return false
			}
			continue
		}
		if value.Compare(raw, other) != value.Equal && !(raw.IsMissing() && other.IsMissing()) {
			return false
		}
	}
	return true
}

// verifiedAmount adds up what the facts of a step say, if it passed: what was
// seen, not what was declared.
func (t *trial) verifiedAmount(v *verdict.Verdict, findings []finding) {
	rule := t.k.VerifiedAmount
	if rule == nil {
		return
	}
	i := slices.IndexFunc(v.Checks, func(c verdict.Check) bool { return c.Kind == verdict.StepCheck && c.ID == rule.Step })
	if i < 0 || v.Checks[i].Result != verdict.Pass {
		return
	}
	var amounts []money.Amount
	var told []string
	for _, seen := range v.Checks[i].Seen {
		f := t.fact(&seen)
		if f == nil || seen.Role != verdict.Supports {
			continue
		}
		if name := t.k.Evidence.SameEffect; name != "" && f.Refs[name] != "" {
			if slices.Contains(told, f.Refs[name]) {
				continue
			}
			told = append(told, f.Refs[name])
		}
		amount, ok := t.amountOf(f)
		if !ok {
			return
		}
		amounts = append(amounts, amount)
	}
	v.VerifiedAmount = addUp(amounts, findings[i].counted)
}

// addUp adds the amounts of the effects that are the action's. Where rivals
// share in them, which are its own matters only if they are not all alike.
func addUp(amounts []money.Amount, counted int) *money.Amount {
	if len(amounts) == 0 {
		return nil
	}
	if counted > 0 && counted < len(amounts) {
		for _, other := range amounts[1:] {
			if order, ok := amounts[0].Compare(other); !ok || order != 0 {
				return nil
			}
		}
		amounts = amounts[:counted]
	}
	total := amounts[0]
	for _, amount := range amounts[1:] {
		sum, ok := total.Add(amount)
		if !ok {
			return nil
		}
		total = sum
	}
	return &total
}

func (t *trial) amountOf(f *evidence.Fact) (money.Amount, bool) {
	v, _ := t.k.VerifiedAmount.Of.Value(&scene{party: t.self, fact: f})
	return v.Amount(), v.Kind() == value.Money
}
