package weakening

import (
	"slices"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

func (c *comparison) step(old, now *contract.Step) {
	at := "steps." + old.ID
	c.expect(&old.Observation, &now.Observation, at)
	c.from(&old.Observation, &now.Observation, at,
		func(where, was, is, names string) {
			c.add(Weaker, SourcesMore, where, was, is, "%s may supply it as well", names)
		},
		func(where, was, is, names string) {
			c.unsure(SourcesFewer, where, was, is, names+" may no longer supply it", "what it tells no longer counts against the action either")
		})
	c.trust(&old.Observation, &now.Observation, at, evidence.NoTrust, false)
	c.stepWhere(old, now, at)
	c.count(old, now, at)
	c.sum(old, now, at)
	c.window(old, now, at)
	c.follows(old, now, at)
	c.stepQuorum(old, now, at)
}

// stepWhere: what no longer matches stands against the action if it has the
// action's key, and is left aside if it is tied to it by the subject.
func (c *comparison) stepWhere(old, now *contract.Step, at string) {
	undivided := c.both(func(k *contract.Contract) bool { return k.Evidence.Decides == "" })
	oneSource := len(old.From) == 1 && len(now.From) == 1
	holds := c.owned() && (undivided || oneSource)
	because := notOwned
	if c.owned() {
		because = "a source that decides may now overrule one that stood against the action"
	}
	c.fewerFacts(old.ID, at+".where", old.Where, now.Where, holds, because)
}

func bounds(k contract.Count) string {
	switch {
	case k.Max == k.Min:
		return "exactly " + whole(k.Min)
	case k.Max == 0:
		return "at least " + whole(k.Min)
	}
	return whole(k.Min) + " to " + whole(k.Max)
}

func (c *comparison) count(old, now *contract.Step, at string) {
	a, b := old.Count, now.Count
	was, is := bounds(a), bounds(b)
	fewer := b.Min < a.Min
	more := a.Max > 0 && (b.Max == 0 || b.Max > a.Max)
	switch {
	case a == b:
	case fewer:
		c.add(Weaker, CountLooser, at+".count", was, is, "%s is enough for %s, which was %s", is, old.ID, was)
	case more:
		c.add(Weaker, CountLooser, at+".count", was, is, "more effects than before are no failure of %s", old.ID)
	default:
		// How many each rival needs decides which effects are left for this one.
		holds := b.Min == a.Min || c.owned()
		c.shown(holds, CountTighter, at+".count", was, is, old.ID+" wants "+is+" instead of "+was, notOwned)
	}
}

// followed says that the time at which a step was fulfilled bounds another.
func (c *comparison) followed(id string) bool {
	return !c.both(func(k *contract.Contract) bool {
		return !slices.ContainsFunc(k.Steps, func(s contract.Step) bool { return s.After == id })
	})
}

func (c *comparison) sum(old, now *contract.Step, at string) {
	a, b := old.Sum, now.Sum
	at += ".sum"
	switch {
	case a == nil && b == nil:
		return
	case b == nil:
		c.add(Weaker, SumDropped, at, a.Of.String(), "", "%s need no longer add up", old.ID)
		return
	case a == nil:
		c.shown(!c.followed(old.ID), SumAdded, at, "", b.Of.String(), old.ID+" must add up", "it may be fulfilled earlier, and a step that must come after it too")
		return
	case !alike(a.Of, b.Of):
		c.unsure(SumChanged, at+".of", a.Of.String(), b.Of.String(), "something else is added up for "+old.ID, "")
	}
	c.sumBound(old.ID, at+".min", a.Min, b.Min, 1)
	c.sumBound(old.ID, at+".max", a.Max, b.Max, -1)
}

// sumBound compares a bound that is tighter the higher it is (sign 1) or the
// lower it is (sign -1).
func (c *comparison) sumBound(id, where string, old, now *condition.Expr, sign int) {
	was, is := expr(old), expr(now)
	if alike(old, now) {
		return
	}
	if old == nil || now == nil {
		if now == nil {
			c.add(Weaker, SumLooser, where, was, is, "what %s adds up to has one bound less", id)
		} else {
			c.add(Stronger, SumTighter, where, was, is, "what %s adds up to has one bound more", id)
		}
		return
	}
	a, b := old.Tree(), now.Tree()
	order, ok := 0, false
	if literal(a) && literal(b) {
		order, ok = compareLiterals(b.Value, a.Value)
	}
	switch {
	case !ok:
		c.unsure(SumChanged, where, was, is, "what "+id+" adds up to has another bound", "")
	case order*sign > 0:
		c.add(Stronger, SumTighter, where, was, is, "what %s adds up to is bounded by %s instead of %s", id, is, was)
	case order*sign < 0:
		c.add(Weaker, SumLooser, where, was, is, "what %s adds up to is bounded by %s instead of %s", id, is, was)
	}
}

// window compares the time for a step. Where a window of its own stands against
// none, the one that none means is that of its version.
func (c *comparison) window(old, now *contract.Step, at string) {
	a, b := old.Window.Within, now.Window.Within
	if a == b {
		return
	}
	if a == 0 {
		a = c.before.Settle.After
	}
	if b == 0 {
		b = c.after.Settle.After
	}
	was, is := span(a), span(b)
	switch {
	case b > a:
		c.add(Weaker, WindowWider, at+".within", was, is, "%s may happen within %s instead of %s", old.ID, is, was)
	case b < a:
		plain := old.Sum == nil && now.Sum == nil
		because := notOwned
		if !plain {
			because = "an amount that was taken back after that no longer counts"
		}
		c.shown(plain && c.owned(), WindowNarrower, at+".within", was, is, old.ID+" must happen within "+is+" instead of "+was, because)
	}
}

func (c *comparison) follows(old, now *contract.Step, at string) {
	where := at + ".after"
	switch {
	case old.After == now.After:
	case now.After == "":
		c.add(Weaker, OrderDropped, where, old.After, "", "%s need no longer come after %s", old.ID, old.After)
	case old.After == "":
		c.shown(old.Sum == nil && now.Sum == nil, OrderAdded, where, "", now.After, old.ID+" must come after "+now.After, "what came before it no longer adds to what is too much")
	default:
		c.unsure(OrderChanged, where, old.After, now.After, old.ID+" must come after another step", "")
	}
}

func (c *comparison) stepQuorum(old, now *contract.Step, at string) {
	a, b := max(old.Quorum, 1), max(now.Quorum, 1)
	where := at + ".quorum"
	switch {
	case b < a:
		c.add(Weaker, QuorumLower, where, whole(a), whole(b), "%d different sources are enough for %s, not %d", b, old.ID, a)
	case b > a:
		// Without a shared reference, what different sources tell is put together
		// as soon as a quorum is asked for, so that two become one.
		unpaired := c.both(func(k *contract.Contract) bool { return k.Evidence.SameEffect != "" })
		loose := c.owned() && old.Count.Max == 0 && now.Count.Max == 0 && old.Sum == nil && now.Sum == nil
		c.shown(a > 1 || unpaired || loose, QuorumHigher, where, whole(a), whole(b), whole(b)+" different sources must confirm "+old.ID,
			"effects that were two are put together as one where no reference tells them apart")
	}
}
