package engine

import (
	"slices"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/verdict"
)

// approval concludes whether somebody said yes before it happened.
func (t *trial) approval(rule *contract.Approval) finding {
	s := t.approvalScope(t.self, rule)
	f := finding{Check: verdict.Check{ID: rule.ID, Kind: verdict.ApprovalCheck, Lens: verdict.ConformanceLens, From: s.from}}
	if !f.applies(rule.When, t.self) {
		return f
	}
	effect := t.stepNamed(rule.Before)
	if effect == nil || effect.Result == verdict.NotApplicable || effect.absent && len(effect.unseen) == 0 {
		f.Result, f.Reasons, f.Final = verdict.NotApplicable, []verdict.Reason{{Code: verdict.NoEffectToApprove, About: rule.Before}}, true
		return f
	}
	v := t.look(t.self, &s)
	if !effect.first.known {
		t.showOthers(&s, &v, &f)
		f.Result, f.Reasons = verdict.Unknown, []verdict.Reason{{Code: verdict.AwaitingEvidence, About: rule.Before}}
		f.open, f.Waits = effect.open, effect.Waits
		if effect.absent {
			// One that comes too late needs an approval as well.
			f.open, f.Waits = true, effect.unseen
		}
		return f
	}
	f.Until = effect.first.at
	covered, waits := t.covered(&s, f.Until)
	// The strongest link that any approval has is the one that counts.
	strongest := v.strongest()
	v.sightings = slices.DeleteFunc(v.sightings, func(seen sighting) bool { return seen.rank != strongest })
	n := t.countApprovals(rule, &s, v.sightings, effect.first, &f)
	t.showOthers(&s, &v, &f)
	f.Final = covered && effect.Final
	needed := max(rule.Quorum, 1)
	unknown := func(reason verdict.Reason) {
		f.Result, f.Reasons, f.open, f.Waits = verdict.Unknown, []verdict.Reason{reason}, !covered, waits
	}
	switch {
	case n.before >= needed && !n.contested:
		f.Result, f.Reasons = verdict.Pass, []verdict.Reason{{Code: verdict.ApprovedBefore}}
	case n.contested && n.before >= needed:
		unknown(verdict.Reason{Code: verdict.AmbiguousMatch})
	case n.unknown.Code != "":
		unknown(n.unknown)
	case n.same != nil && n.before == needed-1:
		unknown(verdict.Reason{Code: verdict.OrderNotEstablished, Source: n.same.fact.Source, Fact: n.same.fact.ExternalID, About: rule.Before})
	case n.after != nil && n.before == 0:
		f.Result = verdict.Fail
		f.Reasons = []verdict.Reason{{Code: verdict.ApprovalTooLate, Source: n.after.fact.Source, Fact: n.after.fact.ExternalID, About: rule.Before}}
		if !covered {
			// One in time may already lie in the source.
			f.open, f.Waits = true, waits
		}
	case covered && n.before > 0:
		f.Result, f.Reasons = verdict.Fail, []verdict.Reason{{Code: verdict.QuorumNotReached, About: rule.ID}}
	case covered:
		f.Result, f.Reasons = verdict.Fail, []verdict.Reason{{Code: verdict.ApprovalMissing, About: rule.Before}}
	default:
		unknown(verdict.Reason{Code: verdict.AwaitingEvidence})
		f.weak(v.weak)
		if name, ok := t.untrusted(&s); ok && len(v.weak) == 0 {
			f.Reasons = append(f.Reasons, verdict.Reason{Code: verdict.TrustTooLow, Source: name})
		}
	}
	return f
}

// approvalScope reaches from the lookback before the start to settlement; what
// counts within it depends on when the effect happened.
func (t *trial) approvalScope(p *party, rule *contract.Approval) scope {
	return scope{
		o: &rule.Observation, rules: rule.Link, mode: evidence.Event, floor: evidence.Attested,
		from: p.start.Add(-rule.Lookback), until: p.settles, last: p.settles, subject: true,
	}
}

// approvals is what was given before, at and after the effect.
type approvals struct {
	before      int // by different sources
	same, after *sighting
	unknown     verdict.Reason
	contested   bool
}

func (t *trial) countApprovals(rule *contract.Approval, s *scope, sightings []sighting, happened timed, f *finding) approvals {
	var n approvals
	var sources []string
	var given []effect // right, and before the effect
	for i := range sightings {
		seen := &sightings[i]
		link := linkName(s.rules, seen.rank)
		order := timeOf(seen).compare(happened)
		role := verdict.Supports
		switch {
		case seen.timing == tooEarly:
			role = verdict.TooEarly
		case seen.judged == wrong:
			role = verdict.Contradicts
		case seen.judged == undecided:
			role = verdict.Undecided
			if order < 0 && n.unknown.Code == "" {
				n.unknown = seen.reason
			}
		case order > 0:
			role = verdict.TooLate
			if n.after == nil {
				n.after = seen
			}
		case order == 0:
			role = verdict.Undecided
			if n.same == nil {
				n.same = seen
			}
		default:
			given = append(given, effect{told: []sighting{*seen}, judged: right, timing: inWindow})
			if !slices.Contains(sources, seen.fact.Source) {
				sources = append(sources, seen.fact.Source)
			}
		}
		f.Seen = append(f.Seen, point(seen.fact, role, link))
	}
	n.before = len(sources)
	n.contested = !t.contestApprovals(rule, given)
	return n
}

// contestApprovals says whether the action has what it needs however approvals
// are shared out among it and its rivals: one approval is for one action.
func (t *trial) contestApprovals(rule *contract.Approval, given []effect) bool {
	if !t.k.Evidence.Exclusive || len(t.c.Rivals) == 0 || len(given) == 0 {
		return true
	}
	t.bindRivals()
	needed := max(rule.Quorum, 1)
	g := market{wants: []int{needed}}
	for i := range given {
		g.add(&given[i], 0)
	}
	for _, rival := range t.rivals {
		if guard(rule.When, rival).Truth == condition.False {
			continue
		}
		s := t.approvalScope(rival, rule)
		v := t.look(rival, &s)
		strongest := v.strongest()
		g.wants = append(g.wants, needed)
		for _, seen := range v.sightings {
			if seen.rank == strongest && seen.judged == right && seen.timing != tooEarly {
				g.add(&effect{told: []sighting{seen}, judged: right, timing: inWindow}, len(g.wants)-1)
			}
		}
	}
	share := g.share(given, contract.Count{Min: needed}, len(t.rivals) > maxRivals)
	return share.certain || share.possible < needed
}
