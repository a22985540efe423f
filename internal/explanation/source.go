package explanation

import (
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

func links(rules []contract.Link) string {
	all := make([]string, len(rules))
	for i, rule := range rules {
		all[i] = Link(rule)
	}
	return strings.Join(all, "; else, if ")
}

// belonging says how a fact is tied to an action.
func (w *writer) belonging(k *contract.Contract) {
	w.section("link", "How evidence belongs to an action")
	strongest := ""
	if len(k.Link) > 1 {
		strongest = " The strongest of these that any fact satisfies is the one that counts."
	}
	w.say("", key("link"), "A fact belongs to an action if %s.%s", links(k.Link), strongest)
	keyed := false
	for _, rule := range k.Link {
		keyed = keyed || rule.Keyed()
	}
	if keyed {
		w.say("", key("link"), "A fact that carries such a key with another value belongs to somebody else. A wrong value or another subject under the action's key is a failure, which a right one does not heal.")
	}
	if !k.Link[len(k.Link)-1].Keyed() {
		w.say("", key("link"), "A fact that is tied by the subject alone is a weak link: it is shown as such, and contradicts nothing beside a right one.")
	}
	if k.Evidence.Exclusive {
		w.say("", key("evidence.exclusive"), "One fact backs one action only; where several could claim it and nothing decides, each is UNKNOWN.")
	} else {
		w.say("", key("evidence.exclusive"), "One fact may back several actions.")
	}
	confirmed := slices.ContainsFunc(k.Steps, func(s contract.Step) bool { return s.Quorum > 1 })
	switch ref := k.Evidence.SameEffect; {
	case ref != "":
		w.say("", key("evidence.same_effect"), "Facts with the same key %s tell of one effect, and count once.", ref)
	case confirmed:
		w.say("", key("evidence.same_effect"), "Each fact is an effect of its own; only where several sources must confirm a step, the first that each tells is taken for one effect, and so is the second.")
	default:
		w.say("", key("evidence.same_effect"), "Each fact is an effect of its own, even where two sources tell of one.")
	}
	if k.Orphans != nil {
		w.say("", key("orphans.where"), "An effect that no action claims is reported, unless it is certain that it is not so that %s.", Condition(k.Orphans))
	} else {
		w.say("", key("orphans"), "Every effect that no action claims is reported.")
	}
}

// weighed says how sources are believed.
func (w *writer) weighed(k *contract.Contract) {
	w.section("sources", "How sources are weighed")
	for _, s := range k.Sources {
		w.say(s.Name, key("sources."+s.Name+".trust"), "it must be %s; if it is less, it shows nothing and proves nothing missing.", trusted(max(s.Trust, evidence.SelfReported)))
	}
	if d := k.Evidence.Decides; d != "" {
		w.say("", key("evidence.decides"), "Where sources disagree about an effect, %s decides.", d)
	} else {
		w.say("", key("evidence.decides"), "Where sources disagree about an effect, none decides: it is UNKNOWN.")
	}
	w.say("", key("sources"), "A value that is missing from a fact leaves what asks for it unknown, neither true nor false; two currencies are never compared nor added.")
}
