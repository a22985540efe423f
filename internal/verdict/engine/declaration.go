package engine

import (
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// The checks that every contract has, so that conformance is never empty.
const (
	declaredInTimeCheck   = "declared_in_time"
	declarationValidCheck = "declaration_valid"
)

// declarationValid concludes whether every required parameter is there.
// A declaration is no evidence: leaving something out must not pay.
func (t *trial) declarationValid(problems []contract.BindProblem) finding {
	f := finding{Check: verdict.Check{ID: declarationValidCheck, Kind: verdict.DeclarationCheck, Lens: verdict.ConformanceLens, Final: true, Result: verdict.Pass}}
	for _, p := range problems {
		if p.Required {
			f.Result = verdict.Fail
			f.Reasons = append(f.Reasons, verdict.Reason{Code: verdict.RequiredParamMissing, About: "params." + p.Param})
		}
	}
	if f.Result == verdict.Pass {
		f.Reasons = []verdict.Reason{{Code: verdict.DeclarationValid}}
	}
	return f
}

// declaredInTime concludes whether the intent was declared before the effect.
// Only effects with the action's key can say otherwise.
func (t *trial) declaredInTime() finding {
	d := t.self.declared
	f := finding{Check: verdict.Check{ID: declaredInTimeCheck, Kind: verdict.DeclarationCheck, Lens: verdict.ConformanceLens}}
	first, early := t.firstKeyed(&f)
	fromStart, _ := t.stepsCovered(t.self.start)
	late := d.RequestedAt != 0 && d.ReceivedAt.Sub(d.RequestedAt) > t.k.Settle.MaxSkew
	switch {
	case early != nil:
		f.Result, f.Final = verdict.Fail, true
		f.Reasons = []verdict.Reason{{Code: verdict.EffectBeforeDeclaration, Source: early.Source, Fact: early.ExternalID}}
	case !late:
		f.Result, f.Reasons, f.Final = verdict.Pass, []verdict.Reason{{Code: verdict.DeclaredInTime}}, fromStart
	default:
		t.lifted(first, &f)
	}
	return f
}

// lifted concludes a late declaration: a proof, or a covered window whose first
// keyed effect came after the receipt, shows that it came before the effect.
func (t *trial) lifted(first timed, f *finding) {
	d := t.self.declared
	covered, waits := t.stepsCovered(t.self.settles)
	received := timed{at: d.ReceivedAt, unit: first.unit}
	proved := timed{at: d.ProvedAt, unit: first.unit}
	f.Final = covered
	switch {
	case d.ProvedAt != 0 && first.known && proved.compare(first) < 0,
		d.ProvedAt != 0 && !first.known && covered,
		covered && first.known && received.compare(first) < 0:
		f.Result, f.Reasons = verdict.Pass, []verdict.Reason{{Code: verdict.DeclaredInTime}}
	default:
		f.Result, f.Reasons = verdict.Unknown, []verdict.Reason{{Code: verdict.DeclaredLate}}
		f.open, f.Waits = !covered, waits
	}
}

// firstKeyed is when the first effect with the action's key happened, and the
// fact of one that happened before the window that any tolerance allows.
func (t *trial) firstKeyed(f *finding) (first timed, early *verdict.Seen) {
	for i := range t.k.Steps {
		step := t.step(i)
		for j := range step.Seen {
			seen := &step.Seen[j]
			if seen.Link == "" || seen.Link == "subject" || seen.Role == verdict.Untrusted || seen.Role == verdict.Elsewhere {
				continue
			}
			at := timed{known: true, at: seen.OccurredAt, unit: t.source(seen.Source).Unit()}
			first = earlier(first, at)
			if seen.Role == verdict.TooEarly && early == nil {
				early = seen
				f.Seen = append(f.Seen, *seen)
			}
		}
	}
	return first, early
}

// stepsCovered says whether every source of every step is complete up to a time.
func (t *trial) stepsCovered(until value.Instant) (bool, []verdict.Wait) {
	var waits []verdict.Wait
	for i := range t.k.Steps {
		if t.step(i).Result == verdict.NotApplicable {
			continue
		}
		s := t.scope(t.self, &t.k.Steps[i].Observation, 0)
		_, more := t.covered(&s, until)
		waits = append(waits, more...)
	}
	return len(waits) == 0, waits
}
