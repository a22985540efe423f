package engine

import (
	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// summand is what one effect adds to a sum.
type summand struct {
	v      value.Value
	reason verdict.Reason // why there is no value; its code is empty if there is one
}

// summed is what the effects of a step come to.
type summed struct {
	reason  verdict.Reason // why the sum is not known; its code is empty if it is
	outside verdict.Reason // why what lies out of the window cannot be added to it
	enough  bool           // the effects in the window reach the lower bound
	// over: all effects together exceed the upper bound. one says that a single
	// effect alone would have met the bounds, so that the rest is surplus.
	over, one bool
	// late: what came out of the window leaves no room for what is missing.
	late bool
	at   timed // when the lower bound was reached
}

// summands reads what each effect adds. Facts that tell one effect must agree.
func (t *trial) summands(sum *contract.Sum, effects []effect) {
	for i := range effects {
		e := &effects[i]
		for j, seen := range e.believed(t.k.Evidence.Decides) {
			s := t.summand(sum, seen.fact)
			switch {
			case j == 0:
				e.amount = s
			case e.amount.reason.Code != "":
			case s.reason.Code != "":
				e.amount.reason = s.reason
			case value.Compare(e.amount.v, s.v) != value.Equal:
				e.amount.reason = verdict.Reason{Code: verdict.SourcesDisagree, Source: seen.fact.Source, Fact: seen.fact.ExternalID}
				if seen.fact.Source == e.told[0].fact.Source {
					e.amount.reason.Code = verdict.SourceContradictsItself
				}
			}
		}
	}
}

// summand reads what a fact adds.
func (t *trial) summand(sum *contract.Sum, f *evidence.Fact) summand {
	v, outcome := sum.Of.Value(&scene{party: t.self, fact: f})
	s := summand{v: v}
	switch v.Kind() {
	case value.Decimal, value.Money:
		return s
	case value.Missing:
		s.reason = causeCode(outcome)
	default:
		s.reason = verdict.Reason{Code: verdict.ValueNotComparable}
	}
	s.reason.Source, s.reason.Fact = f.Source, f.ExternalID
	return s
}

// sum adds up: inside are the effects in the window, by time, outside those
// before and after it.
func (t *trial) sum(sum *contract.Sum, inside, outside []*effect) summed {
	low, reason := t.bound(sum.Min)
	if reason.Code != "" {
		return summed{reason: reason}
	}
	high, reason := t.bound(sum.Max)
	if reason.Code != "" {
		return summed{reason: reason}
	}
	var r summed
	var in, out value.Value
	for _, e := range inside {
		if r.add(&in, e.amount) && !r.enough && notBelow(in, low) {
			r.enough, r.at = true, e.at
		}
		r.one = r.one || within(e.amount.v, low, high)
	}
	if r.reason.Code != "" {
		return summed{reason: r.reason}
	}
	for _, e := range outside {
		r.add(&out, e.amount)
		r.one = r.one || within(e.amount.v, low, high)
	}
	// An amount that was taken back lowers the sum again.
	r.enough = len(inside) > 0 && notBelow(in, low)
	if code := incomparable(in, low, high); code != "" {
		return summed{reason: verdict.Reason{Code: code}}
	}
	if !high.IsMissing() && r.reason.Code == "" {
		all := in
		if r.add(&all, summand{v: out}); !all.IsMissing() {
			r.over = value.Compare(all, high) == value.Greater
		}
		if needed := out; !needed.IsMissing() && !low.IsMissing() && !r.enough {
			r.add(&needed, summand{v: low})
			r.late = value.Compare(needed, high) == value.Greater
		}
	}
	r.outside, r.reason = r.reason, verdict.Reason{}
	return r
}

// bound evaluates a bound of a sum; there is no value where there is no bound.
func (t *trial) bound(expr *condition.Expr) (value.Value, verdict.Reason) {
	if expr == nil {
		return value.Value{}, verdict.Reason{}
	}
	v, outcome := expr.Value(&scene{party: t.self})
	if v.IsMissing() {
		return v, causeCode(outcome)
	}
	return v, verdict.Reason{}
}

// add adds one more, and reports whether there is a sum now.
func (r *summed) add(to *value.Value, s summand) bool {
	switch {
	case s.reason.Code != "":
		if r.reason.Code == "" {
			r.reason = s.reason
		}
		return false
	case s.v.IsMissing():
		return !to.IsMissing()
	case to.IsMissing():
		*to = s.v
		return true
	}
	total, ok := plus(*to, s.v)
	if !ok {
		if r.reason.Code == "" {
			r.reason = verdict.Reason{Code: verdict.CurrencyDiffers}
			if to.Kind() != s.v.Kind() {
				r.reason.Code = verdict.ValueNotComparable
			}
		}
		return false
	}
	*to = total
	return true
}

// plus adds two decimals or two amounts of one currency.
func plus(a, b value.Value) (value.Value, bool) {
	switch {
	case a.Kind() == value.Decimal && b.Kind() == value.Decimal:
		return value.OfDecimal(a.Decimal().Add(b.Decimal())), true
	case a.Kind() == value.Money && b.Kind() == value.Money:
		sum, ok := a.Amount().Add(b.Amount())
		return value.OfMoney(sum), ok
	}
	return value.Value{}, false
}

func notBelow(v, low value.Value) bool {
	if low.IsMissing() {
		return true
	}
	r := value.Compare(v, low)
	return r == value.Equal || r == value.Greater
}

func within(v, low, high value.Value) bool {
	if v.IsMissing() || !notBelow(v, low) {
		return false
	}
	if high.IsMissing() {
		return true
	}
	r := value.Compare(v, high)
	return r == value.Equal || r == value.Less
}

// incomparable says why a sum cannot be held against its bounds, if it cannot.
func incomparable(v, low, high value.Value) verdict.Code {
	for _, bound := range []value.Value{low, high} {
		if v.IsMissing() || bound.IsMissing() {
			continue
		}
		switch value.Compare(v, bound) {
		case value.CurrencyDiffers:
			return verdict.CurrencyDiffers
		case value.NotComparable:
			return verdict.ValueNotComparable
		}
	}
	return ""
}
