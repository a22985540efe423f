package verdict

import (
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

// never concludes a check for something that must not be seen.
func (t *trial) never(rule *contract.Never) finding {
	s := t.scope(t.self, &rule.Observation, 0)
	f := finding{Check: Check{ID: rule.ID, Kind: NeverCheck, Lens: OutcomeLens, From: s.from, Until: s.last}}
	if !f.applies(rule.When, t.self) {
		return f
	}
	v := t.look(t.self, &s)
	if rule.Anyone {
		t.anyone(&s, &v)
	}
	covered, waits := t.covered(&s, s.last)
	var violation, loose, unknown *sighting
	for i := range v.sightings {
		seen := &v.sightings[i]
		if seen.judged == wrong || seen.timing == tooEarly {
			continue
		}
		role := Contradicts
		switch {
		case seen.judged == undecided:
			role = Undecided
			if unknown == nil {
				unknown = seen
			}
		case seen.keyed || rule.Anyone:
			if violation == nil {
				violation = seen
			}
		case loose == nil:
			loose = seen
		}
		f.Seen = append(f.Seen, point(seen.fact, role, linkName(s.rules, seen.rank)))
	}
	t.showOthers(&s, &v, &f)
	f.Waits, f.open, f.Final = waits, !covered, covered
	reason := Reason{}
	switch {
	case violation != nil:
		f.Result, f.Final, f.open, f.Waits = Fail, true, false, nil
		reason = Reason{Code: EffectReversed, Source: violation.fact.Source, Fact: violation.fact.ExternalID}
	case unknown != nil:
		f.Result, reason = Unknown, unknown.reason
	case loose != nil:
		f.Result = Unknown
		reason = Reason{Code: NotAttributableViolation, Source: loose.fact.Source, Fact: loose.fact.ExternalID}
	case covered:
		f.Result, reason = Pass, Reason{Code: AbsentAndCovered}
	default:
		f.Result, reason = Unknown, Reason{Code: AwaitingEvidence}
	}
	f.Reasons = []Reason{reason}
	if f.Result == Unknown {
		f.weak(v.weak)
		if name, ok := t.untrusted(&s); ok && len(v.weak) == 0 {
			f.Reasons = append(f.Reasons, Reason{Code: TrustTooLow, Source: name})
		}
	}
	return f
}

// anyone takes what is on the subject for the action's, whoever did it.
func (t *trial) anyone(s *scope, v *view) {
	for _, other := range v.elsewhere {
		source := t.source(other.Source)
		seen := sighting{fact: other, source: source, rank: unlinked, timing: s.timing(other, source, false)}
		t.judge(t.self, s, &seen, t.disputed(other))
		v.sightings = append(v.sightings, seen)
	}
	v.elsewhere = nil
}

func (t *trial) disputed(f *evidence.Fact) bool {
	for i := range t.facts {
		if t.facts[i].Fact == f {
			return t.facts[i].Disputed
		}
	}
	return false
}
