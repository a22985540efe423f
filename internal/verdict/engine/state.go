package engine

import (
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/verdict"
)

// state concludes a check for how something stands at the end of its window:
// the latest snapshot at or before it counts, however old.
func (t *trial) state(rule *contract.State) finding {
	s := t.scope(t.self, &rule.Observation, rule.Window.Within)
	s.mode, s.from, s.last = evidence.State, 0, s.until
	f := finding{Check: verdict.Check{ID: rule.ID, Kind: verdict.StateCheck, Lens: verdict.OutcomeLens, From: t.self.start, Until: s.until}}
	if !f.applies(rule.When, t.self) {
		return f
	}
	v := t.look(t.self, &s)
	latest := latest(v.sightings, t.k.Evidence.Decides)
	for i := range latest {
		role := verdict.Undecided
		switch latest[i].judged {
		case right:
			role = verdict.Supports
		case wrong:
			role = verdict.Contradicts
		}
		f.Seen = append(f.Seen, point(latest[i].fact, role, linkName(s.rules, latest[i].rank)))
	}
	t.showOthers(&s, &v, &f)
	covered, waits := t.covered(&s, s.until)
	f.Result, f.Final = verdict.Unknown, covered
	switch {
	case !covered:
		f.open, f.Waits, f.Reasons = true, waits, []verdict.Reason{{Code: verdict.AwaitingEvidence}}
	case len(latest) == 0:
		f.Reasons = []verdict.Reason{{Code: verdict.StateNotSeen}}
	default:
		judged, reason := oneState(latest)
		switch judged {
		case right:
			f.Result, reason = verdict.Pass, verdict.Reason{Code: verdict.StateAsExpected}
		case wrong:
			f.Result = verdict.Fail
			if reason.Code == verdict.ValueMismatch {
				reason.Code = verdict.StateMismatch
			}
		}
		f.Reasons = []verdict.Reason{reason}
	}
	if f.Result == verdict.Unknown {
		f.weak(v.weak)
	}
	return f
}

// latest keeps the snapshots of the latest time, those with the strongest link,
// and of the source that decides if it is among them.
func latest(sightings []sighting, decides string) []sighting {
	var kept []sighting
	for _, seen := range sightings {
		if len(kept) == 0 {
			kept = []sighting{seen}
			continue
		}
		a, b := timeOf(&seen), timeOf(&kept[0])
		switch order := a.compare(b); {
		case seen.rank < kept[0].rank, seen.rank == kept[0].rank && order > 0:
			kept = []sighting{seen}
		case seen.rank == kept[0].rank && order == 0:
			kept = append(kept, seen)
		}
	}
	for _, seen := range kept {
		if seen.fact.Source == decides {
			its := kept[:0:0]
			for _, k := range kept {
				if k.fact.Source == decides {
					its = append(its, k)
				}
			}
			return its
		}
	}
	return kept
}

func timeOf(seen *sighting) timed {
	return timed{known: true, at: seen.fact.OccurredAt, unit: seen.source.Unit()}
}

// oneState is what snapshots of one time agree on.
func oneState(snapshots []sighting) (judgement, verdict.Reason) {
	first := &snapshots[0]
	for i := range snapshots[1:] {
		other := &snapshots[i+1]
		if other.judged == first.judged {
			continue
		}
		for _, seen := range []*sighting{first, other} {
			if seen.judged == undecided {
				return undecided, seen.reason
			}
		}
		code := verdict.SourcesDisagree
		if other.fact.Source == first.fact.Source {
			code = verdict.SourceContradictsItself
		}
		return undecided, verdict.Reason{Code: code, Source: other.fact.Source, Fact: other.fact.ExternalID}
	}
	return first.judged, first.reason
}
