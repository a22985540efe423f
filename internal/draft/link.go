package draft

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// candidate is a link rule and how well it does.
type candidate struct {
	rule    contract.Link
	actions int
}

func (c candidate) text() string { return c.rule.String() }

// strength orders rules: what names the action itself, then what the agent
// declared, then what many actions can share.
func strength(l contract.Link) int {
	return slices.Index([]contract.LinkBy{contract.ByActionID, contract.ByParam, contract.BySubjectID, contract.BySubject}, l.By)
}

// link finds the rules by which facts belong to the actions, and applies them.
func (s *study) link() {
	candidates := s.candidates()
	slices.SortFunc(candidates, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(strength(a.rule), strength(b.rule)), cmp.Compare(b.actions, a.actions), strings.Compare(a.text(), b.text()))
	})
	for _, c := range candidates {
		if s.accepts(c) {
			s.rules = append(s.rules, c.rule)
			s.stats.Links = append(s.stats.Links, LinkStatistic{Rule: c.text(), Actions: c.actions, Proposed: true})
		}
	}
	if len(s.rules) == 0 {
		// Nothing reaches half of the actions. The best there is shows at least
		// what is missing.
		best := slices.Clone(candidates)
		slices.SortStableFunc(best, func(a, b candidate) int { return cmp.Compare(b.actions, a.actions) })
		if len(best) > 0 && best[0].actions > 0 {
			s.rules = append(s.rules, best[0].rule)
			s.stats.Links = append(s.stats.Links, LinkStatistic{Rule: best[0].text(), Actions: best[0].actions, Proposed: true})
		}
	}
	for _, c := range candidates {
		if c.actions > 0 && !slices.Contains(s.rules, c.rule) {
			s.stats.Links = append(s.stats.Links, LinkStatistic{Rule: c.text(), Actions: c.actions})
		}
	}
	s.contract = &contract.Contract{Link: s.rules, Settle: contract.Settle{After: horizon}}
	for _, p := range s.params {
		s.contract.Params = append(s.contract.Params, p.declared)
	}
	for _, a := range s.actions {
		a.claimant = engine.NewClaimant(s.contract, &a.first)
		a.events = s.belonging(a)
		if len(a.events) > 0 {
			s.stats.Seen++
		}
	}
}

// candidates are the rules that could hold, with how many actions each reaches.
func (s *study) candidates() []candidate {
	var found []candidate
	for _, ref := range slices.Sorted(maps.Keys(s.byRef)) {
		if !formed(ref, "_-.", 64) {
			continue
		}
		rules := []contract.Link{{Ref: ref, By: contract.ByActionID}, {Ref: ref, By: contract.BySubjectID}}
		for _, p := range s.params {
			if p.identifies(len(s.actions)) {
				rules = append(rules, contract.Link{Ref: ref, By: contract.ByParam, Param: p.name})
			}
		}
		for _, rule := range rules {
			c := candidate{rule: rule}
			for _, a := range s.actions {
				if slices.ContainsFunc(s.byRef[ref][a.key(rule)], a.follows) {
					c.actions++
				}
			}
			if c.actions > 0 {
				found = append(found, c)
			}
		}
	}
	subject := candidate{rule: contract.Link{By: contract.BySubject}}
	for _, a := range s.actions {
		if slices.ContainsFunc(s.bySubject[a.first.SubjectID], func(f *evidence.Fact) bool { return a.isAbout(f) && a.follows(f) }) {
			subject.actions++
		}
	}
	return append(found, subject)
}

// key is the action's side of a rule.
func (a *action) key(rule contract.Link) string {
	switch rule.By {
	case contract.ByActionID:
		return a.first.ActionID
	case contract.BySubjectID:
		return a.first.SubjectID
	}
	return keyText(a.first.Params[rule.Param])
}

// follows says whether a fact lies where an effect of the action may lie.
func (a *action) follows(f *evidence.Fact) bool {
	start := a.first.Start()
	return f.OccurredAt >= start.Add(-skew) && f.OccurredAt <= start.Add(horizon)
}

// isAbout says whether a fact is on the action's subject, and by nobody else
// than its agent.
func (a *action) isAbout(f *evidence.Fact) bool {
	return f.SubjectID == a.first.SubjectID && f.SubjectKind == a.first.SubjectKind &&
		(f.Actor() == "" || f.Actor() == a.first.AgentID)
}

// accepts says whether a rule is proposed beside the stronger ones: it reaches
// enough actions, and no fact that they claim contradicts it.
func (s *study) accepts(c candidate) bool {
	if !share(c.actions, len(s.actions), linking) {
		return false
	}
	if c.rule.By == contract.BySubject {
		return true
	}
	same := func(l contract.Link) bool { return l.Ref == c.rule.Ref }
	if slices.ContainsFunc(s.rules, same) {
		return false
	}
	agreed, contradicted := 0, 0
	for _, a := range s.actions {
		key := a.key(c.rule)
		for _, stronger := range s.rules {
			if key == "" || a.key(stronger) == "" {
				continue
			}
			for _, f := range s.byRef[stronger.Ref][a.key(stronger)] {
				switch got := f.Refs[c.rule.Ref]; {
				case got == "" || !a.follows(f):
				case got == key:
					agreed++
				default:
					contradicted++
				}
			}
		}
	}
	return contradicted == 0 || share(agreed, agreed+contradicted, quantile)
}

// belonging are the facts of an action by the rules, the earliest first.
func (s *study) belonging(a *action) []linked {
	var near []*evidence.Fact
	for _, rule := range s.rules {
		if rule.Keyed() {
			if key := a.key(rule); key != "" {
				near = append(near, s.byRef[rule.Ref][key]...)
			}
			continue
		}
		if a.first.SubjectID != "" {
			near = append(near, s.bySubject[a.first.SubjectID]...)
		}
	}
	var events []linked
	seen := map[*evidence.Fact]bool{}
	for _, f := range near {
		rule, ok := a.claimant.Link(f, s.rules)
		back := skew
		if !rule.Keyed() {
			back = 0
		}
		if ok && !seen[f] && a.claimant.Reaches(f, s.unit(f.Source), back, 0) {
			seen[f] = true
			events = append(events, linked{f, rule.Keyed()})
		}
	}
	slices.SortFunc(events, func(a, b linked) int {
		return cmp.Or(cmp.Compare(a.fact.OccurredAt, b.fact.OccurredAt), evidence.Compare(a.fact, b.fact))
	})
	return events
}
