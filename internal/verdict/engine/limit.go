package engine

import (
	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// limit concludes what the declaration, alone or with others, was allowed.
func (t *trial) limit(rule *contract.Limit) finding {
	f := finding{Check: verdict.Check{ID: rule.ID, Kind: verdict.LimitCheck, Lens: verdict.ConformanceLens}}
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
		f.Result, f.Reasons = verdict.Pass, []verdict.Reason{{Code: verdict.WithinLimit}}
	case condition.False:
		f.Result, f.Reasons = verdict.Fail, []verdict.Reason{{Code: verdict.LimitExceeded}}
	default:
		f.Result, f.Reasons = verdict.Unknown, []verdict.Reason{causeCode(outcome)}
	}
	return f
}

// rolling adds the action to the others within its window, (start - over, start].
func (t *trial) rolling(rule *contract.Limit, f *finding) {
	r := rule.Rolling
	f.From, f.Until = t.self.start.Add(-r.Over), t.self.start
	history := t.history(rule.ID, f.From, f.Until)
	exceeded, reason := r.Total == nil && history.Count+1 > r.MaxCount, verdict.Reason{}
	if r.Total != nil {
		exceeded, reason = t.total(r, history)
	}
	complete := history.CompleteTo >= f.Until
	switch {
	case exceeded:
		// What is declared later can only add to it.
		f.Result, f.Reasons = verdict.Fail, []verdict.Reason{{Code: verdict.LimitExceeded}}
	case reason.Code != "":
		f.Result, f.Reasons = verdict.Unknown, []verdict.Reason{reason}
	case !complete:
		f.Result, f.Reasons, f.open, f.Final = verdict.Unknown, []verdict.Reason{{Code: verdict.HistoryNotCovered}}, true, false
		f.Waits = []verdict.Wait{{Source: Declarations, Type: rule.ID, Until: f.Until, Watermark: history.CompleteTo}}
	default:
		f.Result, f.Reasons = verdict.Pass, []verdict.Reason{{Code: verdict.WithinLimit}}
	}
}

// Declarations is the source that a rolling limit waits for: our own record of
// what was declared.
const Declarations = "declarations"

// history is the one that the case has for a limit; if it has none for this
// window, nothing is known of it.
func (t *trial) history(limit string, from, to value.Instant) *verdict.History {
	for i := range t.c.History {
		h := &t.c.History[i]
		if h.Limit == limit && h.From == from && h.To == to {
			return h
		}
	}
	return &verdict.History{Limit: limit, From: from, To: to}
}

// total says whether the limit's currency alone exceeds it, and if not, what
// keeps the sum from being known.
func (t *trial) total(r *contract.Rolling, history *verdict.History) (bool, verdict.Reason) {
	v, outcome := r.Total.Value(&scene{party: t.self})
	sum := money.Amount{Currency: r.MaxTotal.Currency}
	reason := verdict.Reason{}
	switch {
	case v.IsMissing():
		reason = causeCode(outcome)
	case v.Kind() != value.Money:
		reason = verdict.Reason{Code: verdict.ValueNotComparable, About: r.Total.String()}
	case v.Amount().Currency != sum.Currency:
		reason = verdict.Reason{Code: verdict.CurrencyDiffers, About: r.Total.String()}
	default:
		sum = v.Amount()
	}
	for _, total := range history.Totals {
		if total.Currency == sum.Currency {
			sum, _ = sum.Add(total)
		} else if reason.Code == "" && !total.IsZero() {
			reason = verdict.Reason{Code: verdict.CurrencyDiffers, About: r.Total.String()}
		}
	}
	if over, _ := sum.Compare(r.MaxTotal); over > 0 && !v.IsMissing() {
		return true, verdict.Reason{}
	}
	if reason.Code == "" && history.Unvalued > 0 {
		reason = verdict.Reason{Code: verdict.ValueMissing, About: r.Total.String()}
	}
	return false, reason
}
