package explanation

import (
	"fmt"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
)

func (w *writer) seen(k *contract.Contract) {
	w.section("steps", "What must be seen")
	for i := range k.Steps {
		w.step(k, &k.Steps[i])
	}
}

func (w *writer) step(k *contract.Contract, s *contract.Step) {
	at := "steps." + s.ID + "."
	w.say(s.ID, key(at+"expect", at+"from", at+"where"), "%s must be seen, told by %s%s.", s.Expect, list(s.From, "or"), such(s.Where))
	w.guard(s.ID, at, s.When)
	switch c := s.Count; {
	case c.Max == c.Min:
		w.say(s.ID, key(at+"count"), "exactly %s; a %s one is a failure, at whatever time until the verdict settles.", count(c.Min), ordinal(c.Max+1))
	case c.Max > 0:
		w.say(s.ID, key(at+"count"), "at least %s and at most %s; a %s one is a failure, at whatever time until the verdict settles.", count(c.Min), count(c.Max), ordinal(c.Max+1))
	default:
		w.say(s.ID, key(at+"count"), "at least %s; more are no failure.", count(c.Min))
	}
	w.sum(s, at)
	if s.Window.Within == 0 {
		w.say(s.ID, key(at+"within"), "it may happen until the verdict settles, %s after the start.", Span(k.Settle.After))
	} else {
		w.say(s.ID, key(at+"within"), "it must happen within %s of the start (the earlier of request and receipt), both ends included; what comes later does not count.", Span(s.Window.Within))
	}
	if s.After != "" {
		w.say(s.ID, key(at+"after"), "it must not come before %s; at the same time is in order.", s.After)
	}
	if s.Quorum > 1 {
		w.say(s.ID, key(at+"quorum"), "%s different sources must confirm it.", count(s.Quorum))
	} else if len(s.From) > 1 {
		w.say(s.ID, key(at+"from", at+"quorum"), "one of these sources is enough to show it; all of them must be complete to show that it is missing.")
	}
	w.trust(s.ID, at, s.Trust)
}

// such says what must be true of a fact for it to count.
func such(where *condition.Expr) string {
	if where == nil {
		return "; any that belongs to the action counts"
	}
	return "; it counts if " + Condition(where)
}

func (w *writer) guard(id, at string, when *condition.Expr) {
	if when == nil {
		w.say(id, key(at+"when"), "it applies to every action of this contract.")
		return
	}
	w.say(id, key(at+"when"), "it applies only if %s; elsewhere it is not applicable, which is no pass, and where that cannot be told it is UNKNOWN.", Condition(when))
}

func (w *writer) trust(id, at string, t evidence.Trust) {
	if t != evidence.NoTrust {
		w.say(id, key(at+"trust"), "for this check a source must be %s.", trusted(t))
	}
}

func (w *writer) sum(s *contract.Step, at string) {
	if s.Sum == nil {
		return
	}
	of := Expression(s.Sum.Of)
	switch sum := s.Sum; {
	case sum.Exactly:
		w.say(s.ID, key(at+"sum.of", at+"sum.exactly"), "added up over all of them, %s must come to exactly %s; less is a part, and more is a failure.", of, Expression(sum.Min))
	case sum.Min != nil && sum.Max != nil:
		w.say(s.ID, key(at+"sum.of", at+"sum.min", at+"sum.max"), "added up over all of them, %s must come to at least %s and at most %s.", of, Expression(sum.Min), Expression(sum.Max))
	case sum.Max != nil:
		w.say(s.ID, key(at+"sum.of", at+"sum.max"), "added up over all of them, %s must come to at most %s.", of, Expression(sum.Max))
	default:
		w.say(s.ID, key(at+"sum.of", at+"sum.min"), "added up over all of them, %s must come to at least %s.", of, Expression(sum.Min))
	}
}

func ordinal(n int) string {
	switch n {
	case 2:
		return "second"
	case 3:
		return "third"
	case 4:
		return "fourth"
	case 5:
		return "fifth"
	}
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return fmt.Sprintf("%d%s", n, suffix)
}

func (w *writer) unseen(k *contract.Contract) {
	w.section("never", "What must not be seen")
	if len(k.Never) == 0 {
		w.say("", key("never"), "Nothing is named.")
	}
	for i := range k.Never {
		n := &k.Never[i]
		at := "never." + n.ID + "."
		w.say(n.ID, key(at+"expect", at+"from", at+"where"), "%s must not be seen until the verdict settles, told by %s%s.", n.Expect, list(n.From, "or"), such(n.Where))
		w.guard(n.ID, at, n.When)
		if n.Anyone {
			w.say(n.ID, key(at+"anyone"), "it counts whoever did it: a fact on the subject of the action is enough.")
		} else {
			w.say(n.ID, key(at+"anyone"), "it is a failure only with a key of the action; one that is tied to it by the subject alone leaves this UNKNOWN.")
		}
		w.trust(n.ID, at, n.Trust)
	}
}

func (w *writer) standing(k *contract.Contract) {
	w.section("state", "How it must stand")
	if len(k.State) == 0 {
		w.say("", key("state"), "Nothing is named.")
	}
	for i := range k.State {
		s := &k.State[i]
		at := "state." + s.ID + "."
		w.say(s.ID, key(at+"expect", at+"from", at+"where"), "of the snapshots %s that %s gives, the latest counts; it must be so that %s.", s.Expect, list(s.From, "or"), Condition(s.Where))
		w.guard(s.ID, at, s.When)
		if s.Window.Within == 0 {
			w.say(s.ID, key(at+"at"), "it must stand so when the verdict settles, %s after the start.", Span(k.Settle.After))
		} else {
			w.say(s.ID, key(at+"within"), "it must stand so %s after the start.", Span(s.Window.Within))
		}
		w.say(s.ID, key(at+"from"), "without a snapshot it is UNKNOWN.")
		w.trust(s.ID, at, s.Trust)
	}
}

func (w *writer) allowed(k *contract.Contract) {
	w.section("limits", "What was allowed")
	for i := range k.Limits {
		l := &k.Limits[i]
		at := "limits." + l.ID + "."
		if r := l.Rolling; r != nil {
			w.rolling(l.ID, at, r)
		} else {
			w.say(l.ID, key(at+"check"), "it is allowed only if %s.", Condition(l.Check))
		}
		w.guard(l.ID, at, l.When)
	}
	w.say("declared_in_time", key("settle.max_skew"), "the action must be declared before it happens: received within %s of its request. An effect with its key from before its start is a failure; a declaration that came later than that is UNKNOWN unless a witnessed proof, or complete sources, show that it came first.", Span(k.Settle.MaxSkew))
	w.say("declaration_valid", key("params"), "every parameter that must be declared is there and can be read.")
}

func (w *writer) rolling(id, at string, r *contract.Rolling) {
	keys := key(at+"max", at+"over", at+"per")
	per := "all actions of this contract together"
	switch r.Per {
	case "":
	case "agent_id":
		per = "the actions of this contract by one agent"
	case "subject_id":
		per = "the actions of this contract on one subject"
	case "workflow_id":
		per = "the actions of this contract in one workflow"
	default:
		per = "the actions of this contract with the same " + r.Per
	}
	if r.Total == nil {
		w.say(id, append(keys, at+"count"), "of %s, at most %d may be declared in any %s, this one included, whatever came of them.", per, r.MaxCount, Span(r.Over))
		return
	}
	w.say(id, append(keys, at+"total"), "over %s, %s may add up to at most %s in any %s, this one included, whatever came of them.", per, Expression(r.Total), r.MaxTotal, Span(r.Over))
}

func (w *writer) agreed(k *contract.Contract) {
	w.section("approvals", "Who must have agreed")
	if len(k.Approvals) == 0 {
		w.say("", key("approvals"), "Nobody needs to agree.")
	}
	for i := range k.Approvals {
		a := &k.Approvals[i]
		at := "approvals." + a.ID + "."
		w.say(a.ID, key(at+"expect", at+"from", at+"where"), "%s must be seen, told by %s%s.", a.Expect, list(a.From, "or"), such(a.Where))
		w.guard(a.ID, at, a.When)
		w.say(a.ID, key(at+"lookback", at+"before"), "it must have been given before the effect of %s happened, and no more than %s before the start; at the same time as the effect is UNKNOWN, and where nothing happened none is needed.", a.Before, Span(a.Lookback))
		if a.Quorum > 1 {
			w.say(a.ID, key(at+"quorum"), "%s different sources must have told of one.", count(a.Quorum))
		}
		w.say(a.ID, key(at+"link"), "an approval is for this action if %s.", links(a.Link))
		w.trust(a.ID, at, max(a.Trust, evidence.Attested))
	}
}
