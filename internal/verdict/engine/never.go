package engine

import (
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/verdict"
)

// never concludes a check for something that must not be seen.
func (t *trial) never(rule *contract.Never) finding {
	s := t.scope(t.self, &rule.Observation, 0)
	f := finding{Check: verdict.Check{ID: rule.ID, Kind: verdict.NeverCheck, Lens: verdict.OutcomeLens, From: s.from, Until: s.last}}
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
		role := verdict.Contradicts
		switch {
		case seen.judged == undecided:
			role = verdict.Undecided
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
	reason := verdict.Reason{}
	switch {
	case violation != nil:
		f.Result, f.Final, f.open, f.Waits = verdict.Fail, true, false, nil
		reason = verdict.Reason{Code: verdict.EffectReversed, Source: violation.fact.Source, Fact: violation.fact.ExternalID}
	case unknown != nil:
		f.Result, reason = verdict.Unknown, unknown.reason
	case loose != nil:
		f.Result = verdict.Unknown
		reason = verdict.Reason{Code: verdict.NotAttributableViolation, Source: loose.fact.Source, Fact: loose.fact.ExternalID}
	case covered:
		f.Result, reason = verdict.Pass, verdict.Reason{Code: verdict.AbsentAndCovered}
	default:
		f.Result, reason = verdict.Unknown, verdict.Reason{Code: verdict.AwaitingEvidence}
	}
	f.Reasons = []verdict.Reason{reason}
	if f.Result == verdict.Unknown {
		f.weak(v.weak)
		if name, ok := t.untrusted(&s); ok && len(v.weak) == 0 {
			f.Reasons = append(f.Reasons, verdict.Reason{Code: verdict.TrustTooLow, Source: name})
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
