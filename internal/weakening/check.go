package weakening

import (
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

// check is any check of a contract with where it stands.
type check struct {
	list, id string
	when     *condition.Expr
	outcome  bool // of the outcome lens; else of conformance
	index    int
}

func (k check) where() string { return k.list + "." + k.id }

func checksOf(k *contract.Contract) []check {
	var all []check
	for i := range k.Steps {
		all = append(all, check{"steps", k.Steps[i].ID, k.Steps[i].When, true, i})
	}
	for i := range k.Never {
		all = append(all, check{"never", k.Never[i].ID, k.Never[i].When, true, i})
	}
	for i := range k.State {
		all = append(all, check{"state", k.State[i].ID, k.State[i].When, true, i})
	}
	for i := range k.Limits {
		all = append(all, check{"limits", k.Limits[i].ID, k.Limits[i].When, false, i})
	}
	for i := range k.Approvals {
		all = append(all, check{"approvals", k.Approvals[i].ID, k.Approvals[i].When, false, i})
	}
	return all
}

func observations(k *contract.Contract) []*contract.Observation {
	var all []*contract.Observation
	for i := range k.Steps {
		all = append(all, &k.Steps[i].Observation)
	}
	for i := range k.Never {
		all = append(all, &k.Never[i].Observation)
	}
	for i := range k.State {
		all = append(all, &k.State[i].Observation)
	}
	for i := range k.Approvals {
		all = append(all, &k.Approvals[i].Observation)
	}
	return all
}

// checks pairs the checks of both versions by kind and id.
func (c *comparison) checks() {
	old, now := checksOf(c.before), checksOf(c.after)
	find := func(list []check, k check) int {
		return slices.IndexFunc(list, func(other check) bool { return other.list == k.list && other.id == k.id })
	}
	for _, was := range old {
		i := find(now, was)
		if i < 0 {
			c.add(Weaker, CheckRemoved, was.where(), was.id, "", "%s is no longer checked", was.id)
			continue
		}
		c.guard(was, now[i])
		c.pair(was, now[i])
	}
	for _, is := range now {
		if find(old, is) < 0 {
			c.shown(!is.outcome || c.stands(is.when), CheckAdded, is.where(), "", is.id, is.id+" is checked as well", nothingApplied)
		}
	}
}

const nothingApplied = "an action to which no check of the outcome applied was UNKNOWN, and may now pass"

// stands says that wherever a guard holds, some check of the old outcome applied
// already, so that an action to which none did cannot pass by a new one.
func (c *comparison) stands(when *condition.Expr) bool {
	holds := tree(when)
	return slices.ContainsFunc(checksOf(c.before), func(k check) bool {
		return k.outcome && (k.when == nil || implies(holds, tree(k.when)))
	})
}

// guard compares where a check applies.
func (c *comparison) guard(was, is check) {
	old, now := tree(was.when), tree(is.when)
	narrower, wider := implies(now, old), implies(old, now)
	where, from, to := was.where()+".when", expr(was.when), expr(is.when)
	switch {
	case narrower && wider:
	case narrower:
		c.add(Weaker, GuardNarrower, where, from, to, "%s applies to fewer actions", was.id)
	case !wider:
		c.unsure(GuardChanged, where, from, to, was.id+" applies to other actions", "")
	case !settles(now, old):
		c.unsure(GuardWider, where, from, to, was.id+" applies to more actions", "where it could not be told whether it applies it was UNKNOWN, and may now pass")
	case is.outcome && !c.stands(is.when):
		c.unsure(GuardWider, where, from, to, was.id+" applies to more actions", nothingApplied)
	case was.list == "steps" && !c.owned():
		c.unsure(GuardWider, where, from, to, was.id+" applies to more actions", "another action to which it now applies may claim what stood against this one")
	default:
		c.add(Stronger, GuardWider, where, from, to, "%s applies to more actions", was.id)
	}
}

func (c *comparison) pair(was, is check) {
	old, now := c.before, c.after
	switch was.list {
	case "steps":
		c.step(&old.Steps[was.index], &now.Steps[is.index])
	case "never":
		c.never(&old.Never[was.index], &now.Never[is.index])
	case "state":
		c.state(&old.State[was.index], &now.State[is.index])
	case "limits":
		c.limit(&old.Limits[was.index], &now.Limits[is.index])
	case "approvals":
		c.approval(&old.Approvals[was.index], &now.Approvals[is.index])
	}
}

func (c *comparison) expect(old, now *contract.Observation, at string) {
	if old.Expect != now.Expect {
		c.unsure(ExpectChanged, at+".expect", old.Expect, now.Expect, old.ID+" looks for other facts", "")
	}
}

// from compares the sources of a check.
func (c *comparison) from(old, now *contract.Observation, at string, more, fewer func(where, was, is, names string)) {
	gone := slices.DeleteFunc(slices.Clone(old.From), func(s string) bool { return slices.Contains(now.From, s) })
	come := slices.DeleteFunc(slices.Clone(now.From), func(s string) bool { return slices.Contains(old.From, s) })
	was, is := strings.Join(old.From, ", "), strings.Join(now.From, ", ")
	if len(come) > 0 {
		more(at+".from", was, is, strings.Join(come, ", "))
	}
	if len(gone) > 0 {
		fewer(at+".from", was, is, strings.Join(gone, ", "))
	}
}

// trust compares the least trust of a check. Where it has risen, the check must
// not be able to pass without a source that is now too weak.
func (c *comparison) trust(old, now *contract.Observation, at string, floor evidence.Trust, needsAll bool) {
	was, is := max(old.Trust, floor), max(now.Trust, floor)
	switch {
	case is < was:
		c.add(Weaker, TrustLower, at+".trust", old.Trust.String(), now.Trust.String(), "a source with less trust is enough for %s", old.ID)
	case is > was:
		holds := needsAll || len(old.From) == 1 && len(now.From) == 1
		c.shown(holds, TrustHigher, at+".trust", old.Trust.String(), now.Trust.String(), old.ID+" needs sources with more trust", weakIsUnseen)
	}
}

// fewerFacts compares a condition whose tightening lets fewer facts pass; holds
// says that then nothing passes that did not.
func (c *comparison) fewerFacts(id, where string, old, now *condition.Expr, holds bool, because string) {
	a, b := tree(old), tree(now)
	tighter, looser := implies(b, a), implies(a, b)
	switch {
	case tighter && looser:
	case looser:
		c.add(Weaker, ConditionLooser, where, expr(old), expr(now), "more facts satisfy %s", id)
	case tighter:
		c.shown(holds, ConditionTighter, where, expr(old), expr(now), "fewer facts satisfy "+id, because)
	default:
		c.unsure(ConditionChanged, where, expr(old), expr(now), "other facts satisfy "+id, "")
	}
}

func (c *comparison) never(old, now *contract.Never) {
	at := "never." + old.ID
	c.expect(&old.Observation, &now.Observation, at)
	c.from(&old.Observation, &now.Observation, at,
		func(where, was, is, names string) {
			c.add(Stronger, SourcesMore, where, was, is, "%s may tell of it as well, and must be complete", names)
		},
		func(where, was, is, names string) {
			c.add(Weaker, SourcesFewer, where, was, is, "what %s tells is no longer a violation", names)
		})
	c.trust(&old.Observation, &now.Observation, at, evidence.NoTrust, true)
	a, b := tree(old.Where), tree(now.Where)
	tighter, wider := implies(b, a), implies(a, b)
	where, was, is := at+".where", expr(old.Where), expr(now.Where)
	switch {
	case tighter && wider:
	case tighter:
		c.add(Weaker, ConditionTighter, where, was, is, "fewer facts violate %s", old.ID)
	case wider:
		c.add(Stronger, ConditionLooser, where, was, is, "more facts violate %s", old.ID)
	default:
		c.unsure(ConditionChanged, where, was, is, "other facts violate "+old.ID, "")
	}
	switch {
	case old.Anyone && !now.Anyone:
		c.add(Weaker, AnyoneOff, at+".anyone", "true", "false", "what is tied to the action by the subject alone no longer fails %s", old.ID)
	case !old.Anyone && now.Anyone:
		c.add(Stronger, AnyoneOn, at+".anyone", "false", "true", "%s fails whoever did it", old.ID)
	}
}

func (c *comparison) state(old, now *contract.State) {
	at := "state." + old.ID
	c.expect(&old.Observation, &now.Observation, at)
	c.from(&old.Observation, &now.Observation, at,
		func(where, was, is, names string) {
			c.add(Weaker, SourcesMore, where, was, is, "a snapshot of %s may count in place of another", names)
		},
		func(where, was, is, names string) {
			c.unsure(SourcesFewer, where, was, is, "snapshots of "+names+" no longer count", "they may have stood against the action")
		})
	c.trust(&old.Observation, &now.Observation, at, evidence.NoTrust, true)
	c.fewerFacts(old.ID, at+".where", old.Where, now.Where, true, "")
	if old.Window != now.Window {
		moment := func(w contract.Window) string {
			if w.Within == 0 {
				return "at settlement"
			}
			return span(w.Within)
		}
		c.unsure(MomentChanged, at+".within", moment(old.Window), moment(now.Window), "it is looked at another time how it stands", "")
	}
}
