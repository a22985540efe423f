package explanation

import (
	"strings"

	"github.com/deed-dev/deed/internal/contract"
)

// Explain says what a compiled contract demands.
func Explain(k *contract.Contract) Text {
	w := &writer{text: Text{Contract: k.ID, Title: k.Title, Digest: k.Digest}}
	w.purpose(k)
	w.declared(k)
	w.seen(k)
	w.unseen(k)
	w.standing(k)
	w.allowed(k)
	w.agreed(k)
	w.final(k)
	w.belonging(k)
	w.weighed(k)
	w.undone(k)
	w.stated(k)
	w.unchecked(k)
	return w.text
}

func (w *writer) purpose(k *contract.Contract) {
	w.section("purpose", "Who and what it is for")
	name := "This is the contract " + k.ID
	if k.Title != "" {
		name += ", " + quote(k.Title)
	}
	if k.Owner != "" {
		w.say("", key("contract", "title", "owner"), "%s. %s answers for it.", name, oneLine(k.Owner))
	} else {
		w.say("", key("contract", "title", "owner"), "%s. It names nobody who answers for it.", name)
	}
	var of []string
	if t := k.AppliesTo.ActionType; t != "" {
		of = append(of, "of the type "+oneLine(t))
	}
	if s := k.AppliesTo.SubjectKind; s != "" {
		of = append(of, "on a subject of the kind "+oneLine(s))
	}
	if len(of) == 0 {
		w.say("", key("applies_to"), "It is for every action that names it, whatever its type and its subject.")
	} else {
		w.say("", key("applies_to"), "It is for actions %s that name it; any other action that names it is recorded and stays UNKNOWN.", strings.Join(of, " "))
	}
	w.say("", key("contract"), "It answers two questions of each action: did it happen (the outcome), and was it allowed (the conformance)? Each answer is PASS, FAIL or UNKNOWN; one FAIL makes the answer FAIL, else one UNKNOWN makes it UNKNOWN.")
}

var typeNames = map[contract.ParamType]string{
	contract.MoneyParam: "an amount of money", contract.CurrencyParam: "a currency", contract.StringParam: "a text",
	contract.IntegerParam: "a whole number", contract.DecimalParam: "a number", contract.BooleanParam: "true or false",
	contract.TimestampParam: "a time", contract.EnumParam: "one of a list", contract.ListParam: "a list",
}

func (w *writer) declared(k *contract.Contract) {
	w.section("declared", "What the agent declares")
	w.say("", key("params"), "What an agent declares is no evidence that anything happened; it is only what the evidence is held against.")
	for _, p := range k.Params {
		keys := key("params."+p.Name, "params."+p.Name+".type")
		is := typeNames[p.Type]
		if p.Type == contract.EnumParam {
			is = "one of " + list(quoted(p.Values), "and")
		}
		switch {
		case p.Fixed != "":
			is += " in " + string(p.Fixed)
		case p.Currency != "":
			is += " in the currency that is declared as " + p.Currency
		case p.Type == contract.MoneyParam:
			is += " that names its currency itself"
		}
		if p.Minor {
			is += ", declared in the smallest unit of that currency, as in cents"
		}
		switch {
		case !p.Default.IsMissing():
			w.say(p.Name, append(keys, "params."+p.Name+".default"), "%s; where it is left out, %s is meant.", is, literal(p.Default))
		case p.Required:
			w.say(p.Name, append(keys, "params."+p.Name+".required"), "%s; it must be declared, or conformance fails.", is)
		default:
			w.say(p.Name, append(keys, "params."+p.Name+".required"), "%s; it may be left out, and then whatever needs it is unknown.", is)
		}
	}
}

func quoted(texts []string) []string {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = exactly(t)
	}
	return all
}

func (w *writer) final(k *contract.Contract) {
	w.section("settlement", "When it is final")
	s := k.Settle
	w.say("", key("settle.after"), "A verdict settles %s after the start of the action; until then it is provisional.", Span(s.After))
	w.say("", key("settle.after"), "The start is the earlier of the time at which the action was requested and the time at which its declaration was received.")
	w.say("", key("settle.after"), "That something is missing is FAIL, and that something must not be there is PASS, only where every source named for it has stated that it is complete to the end of the time; until then the answer is UNKNOWN.")
	if s.Grace == 0 {
		w.say("", key("settle.grace"), "A source that is not complete by then is not waited for: what it would have to show settles as UNKNOWN at once.")
	} else {
		w.say("", key("settle.grace"), "A source that is not complete by then is waited for up to %s longer; then what it would have to show settles as UNKNOWN.", Span(s.Grace))
	}
	w.say("", key("settle.max_skew"), "Clocks may differ by up to %s: an effect that carries a key of the action may lie that much before its start, and a declaration that is received that much after its request still counts as made in time.", Span(s.MaxSkew))
	w.say("", key("evidence.late"), "Evidence of the time before settlement that arrives after it makes a revision, which stands beside the settled verdict; nothing is ever edited. What happens after settlement changes nothing.")
}

func (w *writer) undone(k *contract.Contract) {
	w.section("compensation", "What undoes it")
	c := k.Compensation
	if c == nil {
		w.say("", key("compensation"), "Nothing undoes such an action: an action that says it does is refused as compensation.")
		return
	}
	w.say("", key("compensation.by"), "Actions of the contract %s may undo it. That is an action of its own with a verdict of its own; the verdict of this one stands.", c.By)
	if c.NetZero {
		w.say("", key("compensation.net"), "It is said whether what was undone leaves nothing; only what passed counts as undone.")
	}
}

func (w *writer) stated(k *contract.Contract) {
	w.section("amount", "Which amount counts as verified")
	v := k.VerifiedAmount
	if v == nil {
		w.say("", key("verified_amount"), "No amount is stated as verified.")
		return
	}
	w.say(v.Step, key("verified_amount.step", "verified_amount.of"), "the sum of %s over the effects that were seen, stated only if the step passed.", Expression(v.Of))
}

func (w *writer) unchecked(k *contract.Contract) {
	w.section("not_checked", "What it does not check")
	for _, n := range k.NotChecked {
		w.say("", key("not_checked"), "It does not check %s.", strings.TrimSuffix(oneLine(n), "."))
	}
	if len(k.NotChecked) == 0 {
		w.say("", key("not_checked"), "Its author names nothing.")
	}
	if len(k.Never) == 0 {
		w.say("", key("never"), "It does not check whether anything happened that should not have.")
	}
	if len(k.State) == 0 {
		w.say("", key("state"), "It does not check how anything stands in the end.")
	}
	if len(k.Limits) == 0 {
		w.say("", key("limits"), "It sets no limits.")
	}
	if len(k.Approvals) == 0 {
		w.say("", key("approvals"), "It does not check whether anybody agreed.")
	}
	w.say("", key("sources"), "It does not check whether a source tells the truth: it says what the sources said and how complete they were.")
}
