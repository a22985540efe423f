package weakening

import (
	"slices"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

func (c *comparison) limit(old, now *contract.Limit) {
	at := "limits." + old.ID
	switch {
	case old.Rolling == nil && now.Rolling == nil:
		c.single(old, now, at)
	case old.Rolling == nil || now.Rolling == nil:
		c.unsure(LimitChanged, at, kindOf(old), kindOf(now), old.ID+" limits something else", "")
	default:
		c.rolling(old.ID, old.Rolling, now.Rolling, at)
	}
}

func kindOf(l *contract.Limit) string {
	switch {
	case l.Check != nil:
		return l.Check.String()
	case l.Rolling.Total == nil:
		return "count"
	}
	return "total of " + l.Rolling.Total.String()
}

// single compares limits on one declaration, which pass where they are true.
func (c *comparison) single(old, now *contract.Limit, at string) {
	a, b := tree(old.Check), tree(now.Check)
	tighter, looser := implies(b, a), implies(a, b)
	where, was, is := at+".check", old.Check.String(), now.Check.String()
	higher, lower := ConditionLooser, ConditionTighter
	if isCap(a) && isCap(b) {
		higher, lower = CapHigher, CapLower
	}
	switch {
	case tighter && looser:
	case looser:
		c.add(Weaker, higher, where, was, is, "%s allows more", old.ID)
	case tighter:
		c.add(Stronger, lower, where, was, is, "%s allows less", old.ID)
	default:
		c.unsure(ConditionChanged, where, was, is, old.ID+" allows something else", "")
	}
}

func isCap(n *condition.Node) bool {
	b, ok := boundOf(n)
	return ok && b.upper
}

func (c *comparison) rolling(id string, old, now *contract.Rolling, at string) {
	if (old.Total == nil) != (now.Total == nil) || !alike(old.Total, now.Total) {
		c.unsure(LimitChanged, at, kindOf(&contract.Limit{Rolling: old}), kindOf(&contract.Limit{Rolling: now}), id+" limits something else", "")
		return
	}
	counts := old.Total == nil
	was, is := old.MaxTotal.String(), now.MaxTotal.String()
	order, ok := now.MaxTotal.Compare(old.MaxTotal)
	if counts {
		was, is, order, ok = whole(old.MaxCount), whole(now.MaxCount), now.MaxCount-old.MaxCount, true
	}
	switch {
	case !ok:
		c.unsure(CapChanged, at+".max", was, is, id+" has a cap in another currency", "")
	case order > 0:
		c.add(Weaker, CapHigher, at+".max", was, is, "%s allows %s instead of %s", id, is, was)
	case order < 0:
		c.add(Stronger, CapLower, at+".max", was, is, "%s allows %s instead of %s", id, is, was)
	}
	was, is = span(old.Over), span(now.Over)
	switch {
	case now.Over < old.Over:
		c.add(Weaker, OverShorter, at+".over", was, is, "%s looks back %s instead of %s", id, is, was)
	case now.Over > old.Over:
		c.shown(counts, OverLonger, at+".over", was, is, id+" looks back "+is+" instead of "+was, belowZero)
	}
	switch {
	case old.Per == now.Per:
	case old.Per == "":
		c.add(Weaker, PerChanged, at+".per", "", now.Per, "%s is now counted for each %s by itself", id, now.Per)
	case now.Per == "":
		c.shown(counts, PerChanged, at+".per", old.Per, "", id+" is now counted over all together", belowZero)
	default:
		c.unsure(PerChanged, at+".per", old.Per, now.Per, id+" is counted in other groups", "")
	}
}

const belowZero = "a declared amount may lie below zero and make room for others"

func (c *comparison) approval(old, now *contract.Approval) {
	at := "approvals." + old.ID
	// An approval that nobody else can claim, or of which all may make use.
	sole := c.both(func(k *contract.Contract) bool { return !k.Evidence.Exclusive }) || owned(old.Link) && owned(now.Link)
	const claimed = "another action may no longer claim the approval"
	c.expect(&old.Observation, &now.Observation, at)
	c.from(&old.Observation, &now.Observation, at,
		func(where, was, is, names string) {
			c.add(Weaker, SourcesMore, where, was, is, "%s may approve as well", names)
		},
		func(where, was, is, names string) {
			c.unsure(SourcesFewer, where, was, is, names+" may no longer approve", "what could not be told of its approvals no longer counts either")
		})
	c.trust(&old.Observation, &now.Observation, at, evidence.Attested, false)
	c.fewerFacts(old.ID, at+".where", old.Where, now.Where, sole, claimed)
	c.approvalLinks(old, now, at+".link", sole)
	was, is := span(old.Lookback), span(now.Lookback)
	switch {
	case now.Lookback > old.Lookback:
		c.add(Weaker, LookbackWider, at+".lookback", was, is, "an approval may be %s old instead of %s", is, was)
	case now.Lookback < old.Lookback:
		c.shown(sole, LookbackNarrower, at+".lookback", was, is, "an approval may be "+is+" old instead of "+was, claimed)
	}
	if old.Before != now.Before {
		c.unsure(OrderChanged, at+".before", old.Before, now.Before, old.ID+" must come before another step", "")
	}
	a, b := max(old.Quorum, 1), max(now.Quorum, 1)
	switch {
	case b < a:
		c.add(Weaker, QuorumLower, at+".quorum", whole(a), whole(b), "%d different sources are enough for %s, not %d", b, old.ID, a)
	case b > a:
		c.shown(sole, QuorumHigher, at+".quorum", whole(a), whole(b), whole(b)+" different sources must tell of "+old.ID, claimed)
	}
}

// approvalLinks: an approval that belongs by a rule which is left belongs by it
// still, unless a stronger one that kept it away is gone.
func (c *comparison) approvalLinks(old, now *contract.Approval, where string, sole bool) {
	if slices.Equal(old.Link, now.Link) {
		return
	}
	was, is := rulesOf(old.Link), rulesOf(now.Link)
	n := len(now.Link)
	switch {
	case n < len(old.Link) && slices.Equal(old.Link[:n], now.Link):
		c.shown(sole, LinkDropped, where, was, is, "fewer approvals belong to the action", "another action may no longer claim the approval")
	case len(old.Link) < n && slices.Equal(old.Link, now.Link[:len(old.Link)]):
		c.add(Weaker, LinkAdded, where, was, is, "more approvals belong to the action")
	default:
		c.unsure(LinkReordered, where, was, is, "other approvals belong to the action", "")
	}
}
