package engine

import (
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// unlinked is the rank of a fact that belongs to the action by no rule.
const unlinked = -1

// rank is the number of the strongest rule by which a fact belongs to a party,
// or unlinked. A fact that carries the key of a rule with another value is
// somebody else's, whatever weaker rules say; and one that names another actor
// than the agent never belongs to it by subject alone.
func (p *party) rank(f *evidence.Fact, rules []contract.Link) int {
	for i, rule := range rules {
		if !rule.Keyed() {
			if p.onSubject(f) && p.couldBeActor(f) {
				return i
			}
			continue
		}
		got := f.Refs[rule.Ref]
		want := p.key(rule)
		if got == "" || want == "" {
			continue
		}
		if got != want {
			return unlinked
		}
		return i
	}
	return unlinked
}

// foreign is the number of the strongest keyed rule whose key a fact carries
// with another value than the party's, or unlinked if there is none.
func (p *party) foreign(f *evidence.Fact, rules []contract.Link) int {
	for i, rule := range rules {
		if !rule.Keyed() {
			continue
		}
		got, want := f.Refs[rule.Ref], p.key(rule)
		if got != "" && want != "" && got != want {
			return i
		}
	}
	return unlinked
}

// key is what the party's side of a keyed rule comes to; empty if it is not
// declared.
func (p *party) key(rule contract.Link) string {
	switch rule.By {
	case contract.ByActionID:
		return p.declared.ActionID
	case contract.BySubjectID:
		return p.declared.SubjectID
	case contract.ByParam:
		v := p.params[rule.Param]
		if v.Kind() == value.Decimal {
			return money.Text(v.Decimal())
		}
		return v.Text()
	}
	return ""
}

// onSubject says that a fact is about the party's subject, kind and id.
func (p *party) onSubject(f *evidence.Fact) bool {
	return f.SubjectID != "" && f.SubjectID == p.declared.SubjectID && f.SubjectKind == p.declared.SubjectKind
}

// onOtherSubject says that a fact is about another subject of the same kind.
// Subjects of different kinds, such as an order and a charge, say nothing about
// each other.
func (p *party) onOtherSubject(f *evidence.Fact) bool {
	if f.SubjectID == "" || f.SubjectID == p.declared.SubjectID {
		return false
	}
	return f.SubjectKind == p.declared.SubjectKind || f.SubjectKind == "" || p.declared.SubjectKind == ""
}

func (p *party) couldBeActor(f *evidence.Fact) bool {
	actor := f.Actor()
	return actor == "" || actor == p.declared.AgentID
}

// linkName is how a rule is shown with a piece of evidence.
func linkName(rules []contract.Link, rank int) string {
	switch {
	case rank == unlinked:
		return ""
	case rules[rank].Keyed():
		return "refs." + rules[rank].Ref
	}
	return "subject"
}
