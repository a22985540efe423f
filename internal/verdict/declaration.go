package verdict

import (
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/value"
)

// The checks that every contract has, so that conformance is never empty.
const (
	declaredInTimeCheck   = "declared_in_time"
	declarationValidCheck = "declaration_valid"
)

// declarationValid concludes whether every required parameter is there.
// A declaration is no evidence: leaving something out must not pay.
func (t *trial) declarationValid(problems []contract.BindProblem) finding {
	f := finding{Check: Check{ID: declarationValidCheck, Kind: DeclarationCheck, Lens: ConformanceLens, Final: true, Result: Pass}}
	for _, p := range problems {
		if p.Required {
			f.Result = Fail
			f.Reasons = append(f.Reasons, Reason{Code: RequiredParamMissing, About: "params." + p.Param})
		}
	}
	if f.Result == Pass {
		f.Reasons = []Reason{{Code: DeclarationValid}}
	}
	return f
}

// declaredInTime concludes whether the intent was declared before the effect.
// Only effects with the action's key can say otherwise.
func (t *trial) declaredInTime() finding {
	d := t.self.declared
	f := finding{Check: Check{ID: declaredInTimeCheck, Kind: DeclarationCheck, Lens: ConformanceLens}}
	first, early := t.firstKeyed(&f)
	fromStart, _ := t.stepsCovered(t.self.start)
	late := d.RequestedAt != 0 && d.ReceivedAt.Sub(d.RequestedAt) > t.k.Settle.MaxSkew
	switch {
	case early != nil:
		f.Result, f.Final = Fail, true
		f.Reasons = []Reason{{Code: EffectBeforeDeclaration, Source: early.Source, Fact: early.ExternalID}}
	case !late:
		f.Result, f.Reasons, f.Final = Pass, []Reason{{Code: DeclaredInTime}}, fromStart
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
		f.Result, f.Reasons = Pass, []Reason{{Code: DeclaredInTime}}
	default:
		f.Result, f.Reasons = Unknown, []Reason{{Code: DeclaredLate}}
		f.open, f.Waits = !covered, waits
	}
}

// firstKeyed is when the first effect with the action's key happened, and the
// fact of one that happened before the window that any tolerance allows.
func (t *trial) firstKeyed(f *finding) (first timed, early *Seen) {
	for i := range t.k.Steps {
		step := t.step(i)
		for j := range step.Seen {
			seen := &step.Seen[j]
			if seen.Link == "" || seen.Link == "subject" || seen.Role == Untrusted || seen.Role == Elsewhere {
				continue
			}
			at := timed{known: true, at: seen.OccurredAt, unit: t.source(seen.Source).Unit()}
			first = earlier(first, at)
			if seen.Role == TooEarly && early == nil {
				early = seen
				f.Seen = append(f.Seen, *seen)
			}
		}
	}
	return first, early
}

// stepsCovered says whether every source of every step is complete up to a time.
func (t *trial) stepsCovered(until value.Instant) (bool, []Wait) {
	var waits []Wait
	for i := range t.k.Steps {
		if t.step(i).Result == NotApplicable {
			continue
		}
		s := t.scope(t.self, &t.k.Steps[i].Observation, 0)
		_, more := t.covered(&s, until)
		waits = append(waits, more...)
	}
	return len(waits) == 0, waits
}
