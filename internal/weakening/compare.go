package weakening

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/explanation"
)

// Compare lists what differs between two versions of a contract, in the order of
// the language. What only reads differently is no change.
func Compare(before, after *contract.Contract) []Change {
	c := &comparison{before: before, after: after}
	c.head()
	c.params()
	c.settle()
	c.sources()
	c.links()
	c.checks()
	c.rest()
	return c.changes
}

// comparison is one under way.
type comparison struct {
	before, after *contract.Contract
	changes       []Change
}

func (c *comparison) add(d Direction, what Kind, where, before, after, format string, args ...any) {
	c.changes = append(c.changes, Change{What: what, Where: where, Old: before, New: after, Direction: d, Sentence: fmt.Sprintf(format, args...)})
}

// cannotShow are the words for whatever the structure leaves open.
const cannotShow = "; cannot show that this is not weaker"

// unsure adds a change that may be weaker, with what stands in the way.
func (c *comparison) unsure(what Kind, where, before, after, sentence, because string) {
	if because != "" {
		because = ": " + because
	}
	c.add(Unclear, what, where, before, after, "%s", sentence+cannotShow+because)
}

// shown adds a change that is stronger if that holds, else one that is unclear.
func (c *comparison) shown(holds bool, what Kind, where, before, after, sentence, because string) {
	if holds {
		c.add(Stronger, what, where, before, after, "%s", sentence)
		return
	}
	c.unsure(what, where, before, after, sentence, because)
}

// both says that something is true of both versions. Conditions of a proof are
// asked of both, so that they hold in whatever order the changes are made.
func (c *comparison) both(holds func(*contract.Contract) bool) bool {
	return holds(c.before) && holds(c.after)
}

// owned says that facts belong to an action by its own id and nothing else, so
// that no other action can claim them, and none is left aside as a weak one.
func owned(rules []contract.Link) bool {
	return !slices.ContainsFunc(rules, func(l contract.Link) bool { return l.By != contract.ByActionID })
}

func (c *comparison) owned() bool {
	return c.both(func(k *contract.Contract) bool { return owned(k.Link) })
}

const notOwned = "a fact that is tied to the action by less than its own id may now be left aside, where it stood against the action or was claimed by two"

func (c *comparison) head() {
	old, now := c.before, c.after
	if old.ID != now.ID {
		c.unsure(ContractReplaced, "contract", old.ID, now.ID, "it is another contract", "actions name a contract by its id")
	}
	for _, text := range []struct{ key, old, now string }{{"title", old.Title, now.Title}, {"owner", old.Owner, now.Owner}} {
		if text.old != text.now {
			c.add(Different, Described, text.key, text.old, text.now, "the %s is another; no verdict depends on it", text.key)
		}
	}
	for _, text := range []struct{ key, old, now string }{
		{"applies_to.action_type", old.AppliesTo.ActionType, now.AppliesTo.ActionType},
		{"applies_to.subject_kind", old.AppliesTo.SubjectKind, now.AppliesTo.SubjectKind},
	} {
		switch {
		case text.old == text.now:
		case text.now == "":
			c.add(Different, AppliesWider, text.key, text.old, text.now, "it is for more actions than before; those had no contract")
		default:
			c.add(Weaker, AppliesNarrower, text.key, text.old, text.now, "actions that it was for are no longer looked at")
		}
	}
}

func (c *comparison) settle() {
	old, now := c.before.Settle, c.after.Settle
	was, is := span(old.After), span(now.After)
	switch {
	case now.After < old.After:
		c.add(Weaker, SettleSooner, "settle.after", was, is, "an action is watched for %s instead of %s; what happens after that is not seen", is, was)
	case now.After > old.After && c.openEnded():
		c.add(Weaker, SettleLater, "settle.after", was, is, "what has no time of its own may take %s instead of %s", is, was)
	case now.After > old.After:
		c.unsure(SettleLater, "settle.after", was, is, "an action is watched for "+is+" instead of "+was, "what is seen only then may also speak for the action")
	}
	was, is = span(old.Grace), span(now.Grace)
	switch {
	case now.Grace > old.Grace:
		c.add(Weaker, GraceLonger, "settle.grace", was, is, "a source that is not complete is waited for %s instead of %s; until then a check that would be UNKNOWN may show PASS", is, was)
	case now.Grace < old.Grace:
		c.add(Stronger, GraceShorter, "settle.grace", was, is, "a source that is not complete is waited for %s instead of %s", is, was)
	}
	was, is = span(old.MaxSkew), span(now.MaxSkew)
	switch {
	case now.MaxSkew > old.MaxSkew:
		c.add(Weaker, SkewWider, "settle.max_skew", was, is, "an effect may lie %s before its declaration instead of %s", is, was)
	case now.MaxSkew < old.MaxSkew:
		c.unsure(SkewNarrower, "settle.max_skew", was, is, "clocks may differ by "+is+" instead of "+was, "what happened before that no longer counts against the action either")
	}
}

// openEnded says that something is looked for until the verdict settles.
func (c *comparison) openEnded() bool {
	for _, k := range []*contract.Contract{c.before, c.after} {
		if slices.ContainsFunc(k.Steps, func(s contract.Step) bool { return s.Window.Within == 0 }) ||
			slices.ContainsFunc(k.State, func(s contract.State) bool { return s.Window.Within == 0 }) {
			return true
		}
	}
	return false
}

func (c *comparison) rest() {
	c.compensation()
	c.evidence()
	c.verifiedAmount()
	c.orphans()
	old, now := strings.Join(c.before.NotChecked, "; "), strings.Join(c.after.NotChecked, "; ")
	if old != now {
		c.add(Different, Described, "not_checked", old, now, "it says something else of what it does not check; no verdict depends on it")
	}
}

func (c *comparison) compensation() {
	old, now := c.before.Compensation, c.after.Compensation
	text := func(k *contract.Compensation) string {
		switch {
		case k == nil:
			return ""
		case k.NetZero:
			return k.By + ", net zero"
		}
		return k.By
	}
	switch {
	case text(old) == text(now):
	case old == nil:
		c.add(Different, CompensationChanged, "compensation", text(old), text(now), "actions of %s may now be shown as undoing this one; its own verdict stands", now.By)
	case now == nil:
		c.add(Different, CompensationChanged, "compensation", text(old), text(now), "no action is shown as undoing this one any more; its own verdict stands")
	case old.By != now.By:
		c.unsure(CompensationChanged, "compensation.by", text(old), text(now), "actions of "+now.By+" count as undoing this one, and those of "+old.By+" no longer do", "")
	case old.NetZero:
		c.add(Weaker, CompensationChanged, "compensation.net", text(old), text(now), "it is no longer said whether what was undone leaves nothing")
	default:
		c.add(Stronger, CompensationChanged, "compensation.net", text(old), text(now), "it is now said whether what was undone leaves nothing")
	}
}

func (c *comparison) evidence() {
	old, now := c.before.Evidence, c.after.Evidence
	switch {
	case old.Exclusive && !now.Exclusive:
		c.add(Weaker, ExclusiveOff, "evidence.exclusive", "true", "false", "one fact may now back several actions")
	case !old.Exclusive && now.Exclusive:
		sole := c.owned() && c.both(func(k *contract.Contract) bool { return k.Evidence.SameEffect == "" })
		c.shown(sole, ExclusiveOn, "evidence.exclusive", "false", "true", "one fact backs one action only", "an effect that was one too many may now be another action's")
	}
	if old.Decides != now.Decides {
		switch {
		case c.both(single):
			c.add(Different, DecidesChanged, "evidence.decides", old.Decides, now.Decides, "no check has two sources that could disagree")
		case old.Decides == "":
			c.add(Weaker, DecidesChanged, "evidence.decides", "", now.Decides, "where sources disagree, %s now decides; until now that was UNKNOWN", now.Decides)
		default:
			c.unsure(DecidesChanged, "evidence.decides", old.Decides, now.Decides, "where sources disagree, it is no longer "+old.Decides+" that decides", "")
		}
	}
	where, was, is := "evidence.same_effect", ref(old.SameEffect), ref(now.SameEffect)
	switch {
	case was == is:
	case was == "":
		c.add(Weaker, SameEffectAdded, where, was, is, "facts that share %s now count as one effect; until now each was one, and one too many a failure", is)
	case is == "":
		c.unsure(SameEffectDropped, where, was, is, "each fact is an effect of its own now", "what counted once may count twice towards what is wanted")
	default:
		c.unsure(SameEffectChanged, where, was, is, "other facts than before count as one effect", "")
	}
}

// single says that every check has one source.
func single(k *contract.Contract) bool {
	for _, o := range observations(k) {
		if len(o.From) > 1 {
			return false
		}
	}
	return true
}

func ref(name string) string {
	if name == "" {
		return ""
	}
	return "refs." + name
}

func (c *comparison) verifiedAmount() {
	old, now := c.before.VerifiedAmount, c.after.VerifiedAmount
	text := func(v *contract.VerifiedAmount) string {
		if v == nil {
			return ""
		}
		return v.Of.String() + " of " + v.Step
	}
	switch {
	case old == nil && now == nil, old != nil && now != nil && old.Step == now.Step && alike(old.Of, now.Of):
	case old == nil:
		c.add(Stronger, AmountAdded, "verified_amount", "", text(now), "an amount is now stated as verified")
	case now == nil:
		c.add(Weaker, AmountDropped, "verified_amount", text(old), "", "no amount is stated as verified any more")
	default:
		c.unsure(AmountChanged, "verified_amount", text(old), text(now), "another amount counts as verified", "")
	}
}

// orphans are reported unless their condition is false.
func (c *comparison) orphans() {
	old, now := tree(c.before.Orphans), tree(c.after.Orphans)
	was, is := expr(c.before.Orphans), expr(c.after.Orphans)
	narrower, wider := implies(now, old), implies(old, now)
	switch {
	case narrower && wider:
	case wider:
		c.add(Stronger, OrphansWider, "orphans.where", was, is, "more of the effects that no action claims are reported")
	case narrower:
		c.add(Weaker, OrphansNarrower, "orphans.where", was, is, "fewer of the effects that no action claims are reported")
	default:
		c.unsure(OrphansChanged, "orphans.where", was, is, "other effects that no action claims are reported", "")
	}
}

func expr(e *condition.Expr) string {
	if e == nil {
		return ""
	}
	return e.String()
}

func span(d time.Duration) string { return explanation.Span(d) }

func whole(n int) string { return strconv.Itoa(n) }
