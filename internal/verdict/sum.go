package verdict

import (
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/value"
)

// summand is what one effect adds to a sum.
type summand struct {
	v      value.Value
	reason Reason // why there is no value; its code is empty if there is one
}

// summed is what the effects of a step come to.
type summed struct {
	reason  Reason // why the sum is not known; its code is empty if it is
	outside Reason // why what lies out of the window cannot be added to it
	enough  bool   // the effects in the window reach the lower bound
	// over: all effects together exceed the upper bound. one says that a single
	// effect alone would have met the bounds, so that the rest is surplus.
	over, one bool
	// late: what came out of the window leaves no room for what is missing.
	late bool
	at   timed // when the lower bound was reached
}

// summands reads what each effect adds. Facts that tell one effect must agree.
func (t *trial) summands(sum *contract.Sum, effects []effect) {
	decides := t.k.Evidence.Decides
	for i := range effects {
		e := &effects[i]
		for j := range e.told {
			f := e.told[j].fact
			v, outcome := sum.Of.Value(&scene{party: t.self, fact: f})
			s := summand{v: v}
			if v.IsMissing() {
				s.reason = causeCode(outcome)
			} else if v.Kind() != value.Decimal && v.Kind() != value.Money {
				s.reason = Reason{Code: ValueNotComparable}
			}
			if s.reason.Code != "" {
				s.reason.Source, s.reason.Fact = f.Source, f.ExternalID
			}
			switch {
			case j == 0 || f.Source == decides && !contains([]string{decides}, e.told[0].fact.Source):
				e.amount = s
			case decides != "" && e.from(decides) && f.Source != decides:
			case e.amount.reason.Code == "" && s.reason.Code == "" && value.Compare(e.amount.v, s.v) != value.Equal:
				code := SourcesDisagree
				if f.Source == e.told[0].fact.Source {
					code = SourceContradictsItself
				}
				e.amount.reason = Reason{Code: code, Source: f.Source, Fact: f.ExternalID}
			case s.reason.Code != "":
				e.amount.reason = s.reason
			}
		}
	}
}

// sum adds up: inside are the effects in the window, by time, outside those
// before and after it.
func (t *trial) sum(sum *contract.Sum, inside, outside []*effect) summed {
	names := &scene{party: t.self}
	var low, high value.Value
	for _, bound := range []struct {
		given bool
		to    *value.Value
	}{{sum.Min != nil, &low}, {sum.Max != nil, &high}} {
		if !bound.given {
			continue
		}
		expr := sum.Min
		if bound.to == &high {
			expr = sum.Max
		}
		v, outcome := expr.Value(names)
		if v.IsMissing() {
			return summed{reason: causeCode(outcome)}
		}
		*bound.to = v
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
		return summed{reason: Reason{Code: code}}
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
	r.outside, r.reason = r.reason, Reason{}
	return r
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
			r.reason = Reason{Code: CurrencyDiffers}
			if to.Kind() != s.v.Kind() {
				r.reason.Code = ValueNotComparable
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
func incomparable(v, low, high value.Value) Code {
	for _, bound := range []value.Value{low, high} {
		if v.IsMissing() || bound.IsMissing() {
			continue
		}
		switch value.Compare(v, bound) {
		case value.CurrencyDiffers:
			return CurrencyDiffers
		case value.NotComparable:
			return ValueNotComparable
		}
	}
	return ""
}
