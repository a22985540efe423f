package verdict

import (
	"slices"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

// approval concludes whether somebody said yes before it happened.
func (t *trial) approval(rule *contract.Approval) finding {
	s := t.approvalScope(t.self, rule)
	f := finding{Check: Check{ID: rule.ID, Kind: ApprovalCheck, Lens: ConformanceLens, From: s.from}}
	if !f.applies(rule.When, t.self) {
		return f
	}
	effect := t.stepNamed(rule.Before)
	if effect == nil || effect.Result == NotApplicable || effect.absent {
		f.Result, f.Reasons, f.Final = NotApplicable, []Reason{{Code: NoEffectToApprove, About: rule.Before}}, true
		return f
	}
	v := t.look(t.self, &s)
	if !effect.first.known {
		t.showOthers(&s, &v, &f)
		f.Result, f.Reasons = Unknown, []Reason{{Code: AwaitingEvidence, About: rule.Before}}
		f.open, f.Waits = effect.open, effect.Waits
		return f
	}
	f.Until = effect.first.at
	covered, waits := t.covered(&s, f.Until)
	n := t.countApprovals(rule, &s, v.sightings, effect.first, &f)
	t.showOthers(&s, &v, &f)
	f.Final = covered && effect.Final
	needed := max(rule.Quorum, 1)
	unknown := func(reason Reason) {
		f.Result, f.Reasons, f.open, f.Waits = Unknown, []Reason{reason}, !covered, waits
	}
	switch {
	case n.before >= needed:
		f.Result, f.Reasons = Pass, []Reason{{Code: ApprovedBefore}}
	case n.contested:
		unknown(Reason{Code: AmbiguousMatch})
	case n.unknown.Code != "":
		unknown(n.unknown)
	case n.same != nil && n.before == needed-1:
		unknown(Reason{Code: OrderNotEstablished, Source: n.same.fact.Source, Fact: n.same.fact.ExternalID, About: rule.Before})
	case n.after != nil && n.before == 0:
		f.Result = Fail
		f.Reasons = []Reason{{Code: ApprovalTooLate, Source: n.after.fact.Source, Fact: n.after.fact.ExternalID, About: rule.Before}}
	case covered && n.before > 0:
		f.Result, f.Reasons = Fail, []Reason{{Code: QuorumNotReached, About: rule.ID}}
	case covered:
		f.Result, f.Reasons = Fail, []Reason{{Code: ApprovalMissing, About: rule.Before}}
	default:
		unknown(Reason{Code: AwaitingEvidence})
		f.weak(v.weak)
		if name, ok := t.untrusted(&s); ok && len(v.weak) == 0 {
			f.Reasons = append(f.Reasons, Reason{Code: TrustTooLow, Source: name})
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
	unknown     Reason
	contested   bool
}

func (t *trial) countApprovals(rule *contract.Approval, s *scope, sightings []sighting, effect timed, f *finding) approvals {
	var n approvals
	var sources []string
	for i := range sightings {
		seen := &sightings[i]
		link := linkName(s.rules, seen.rank)
		order := timeOf(seen).compare(effect)
		role := Supports
		switch {
		case seen.timing == tooEarly:
			role = TooEarly
		case seen.judged == wrong:
			role = Contradicts
		case seen.judged == undecided:
			role = Undecided
			if order < 0 && n.unknown.Code == "" {
				n.unknown = seen.reason
			}
		case order > 0:
			role = TooLate
			if n.after == nil {
				n.after = seen
			}
		case order == 0:
			role = Undecided
			if n.same == nil {
				n.same = seen
			}
		case t.claimed(rule, seen.fact):
			role, n.contested = Contested, true
		case !slices.Contains(sources, seen.fact.Source):
			sources = append(sources, seen.fact.Source)
		}
		f.Seen = append(f.Seen, point(seen.fact, role, link))
	}
	n.before = len(sources)
	return n
}

// claimed says that a rival could count on the same approval.
func (t *trial) claimed(rule *contract.Approval, approval *evidence.Fact) bool {
	if !t.k.Evidence.Exclusive || len(t.c.Rivals) == 0 {
		return false
	}
	t.bindRivals()
	for _, rival := range t.rivals {
		s := t.approvalScope(rival, rule)
		if guard(rule.When, rival).Truth == condition.False || rival.rank(approval, s.rules) == unlinked {
			continue
		}
		if s.timing(approval, t.source(approval.Source), false) != inWindow {
			continue
		}
		if rule.Where == nil || rule.Where.Truth(&scene{party: rival, fact: approval}).Truth == condition.True {
			return true
		}
	}
	return false
}
