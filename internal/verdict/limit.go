package verdict

import (
	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// limit concludes what the declaration, alone or with others, was allowed.
func (t *trial) limit(rule *contract.Limit) finding {
	f := finding{Check: Check{ID: rule.ID, Kind: LimitCheck, Lens: ConformanceLens}}
	if !f.applies(rule.When, t.self) {
		return f
	}
	f.Final = true
	if rule.Rolling != nil {
		t.rolling(rule, &f)
		return f
	}
	outcome := rule.Check.Truth(&scene{party: t.self})
	switch outcome.Truth {
	case condition.True:
		f.Result, f.Reasons = Pass, []Reason{{Code: WithinLimit}}
	case condition.False:
		f.Result, f.Reasons = Fail, []Reason{{Code: LimitExceeded}}
	default:
		f.Result, f.Reasons = Unknown, []Reason{causeCode(outcome)}
	}
	return f
}

// rolling adds the action to the others within its window, (start - over, start].
func (t *trial) rolling(rule *contract.Limit, f *finding) {
	r := rule.Rolling
	f.From, f.Until = t.self.start.Add(-r.Over), t.self.start
	history := t.history(rule.ID, f.From, f.Until)
	exceeded, reason := r.Total == nil && history.Count+1 > r.MaxCount, Reason{}
	if r.Total != nil {
		exceeded, reason = t.total(r, history)
	}
	complete := history.CompleteTo >= f.Until
	switch {
	case exceeded:
		// What is declared later can only add to it.
		f.Result, f.Reasons = Fail, []Reason{{Code: LimitExceeded}}
	case reason.Code != "":
		f.Result, f.Reasons = Unknown, []Reason{reason}
	case !complete:
		f.Result, f.Reasons, f.open, f.Final = Unknown, []Reason{{Code: HistoryNotCovered}}, true, false
		f.Waits = []Wait{{Source: Declarations, Type: rule.ID, Until: f.Until, Watermark: history.CompleteTo}}
	default:
		f.Result, f.Reasons = Pass, []Reason{{Code: WithinLimit}}
	}
}

// Declarations is the source that a rolling limit waits for: our own record of
// what was declared.
const Declarations = "declarations"

// history is the one that the case has for a limit; if it has none for this
// window, nothing is known of it.
func (t *trial) history(limit string, from, to value.Instant) *History {
	for i := range t.c.History {
		h := &t.c.History[i]
		if h.Limit == limit && h.From == from && h.To == to {
			return h
		}
	}
	return &History{Limit: limit, From: from, To: to}
}

// total says whether the limit's currency alone exceeds it, and if not, what
// keeps the sum from being known.
func (t *trial) total(r *contract.Rolling, history *History) (bool, Reason) {
	v, outcome := r.Total.Value(&scene{party: t.self})
	sum := money.Amount{Currency: r.MaxTotal.Currency}
	reason := Reason{}
	switch {
	case v.IsMissing():
		reason = causeCode(outcome)
	case v.Kind() != value.Money:
		reason = Reason{Code: ValueNotComparable, About: r.Total.String()}
	case v.Amount().Currency != sum.Currency:
		reason = Reason{Code: CurrencyDiffers, About: r.Total.String()}
	default:
		sum = v.Amount()
	}
	for _, total := range history.Totals {
		if total.Currency == sum.Currency {
			sum, _ = sum.Add(total)
		} else if reason.Code == "" && !total.IsZero() {
			reason = Reason{Code: CurrencyDiffers, About: r.Total.String()}
		}
	}
	if over, _ := sum.Compare(r.MaxTotal); over > 0 && !v.IsMissing() {
		return true, Reason{}
	}
	if reason.Code == "" && history.Unvalued > 0 {
		reason = Reason{Code: ValueMissing, About: r.Total.String()}
	}
	return false, reason
}
