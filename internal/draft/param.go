package draft

import (
	"maps"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// param is one parameter of the actions.
type param struct {
	name     string
	declared contract.Param
	present  int
	values   map[string]int // how often each was declared, as JSON
}

// bookkeeping are parameters that a recorder adds to each declaration.
var bookkeeping = map[string]bool{"mcp_tool": true, "mcp_request_id": true}

// readParams finds the parameters and their types, as far as they alone show
// them.
func (s *study) readParams() {
	names := map[string]bool{}
	for _, a := range s.actions {
		for name, v := range a.first.Params {
			if !v.IsMissing() && !bookkeeping[name] {
				names[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		p := &param{name: name, values: map[string]int{}}
		for _, v := range s.given(name) {
			p.present++
			if written, err := v.AppendJSON(nil); err == nil {
				p.values[string(written)]++
			}
		}
		p.declared = contract.Param{Name: name, Type: s.plainType(name), Required: p.present == len(s.actions)}
		switch {
		case !isIdentifier(name):
			s.warn("unnamed_param", "the parameter %q has a name that no condition can write, and was left out", name)
		case p.declared.Type == "":
			s.warn("mixed_param", "the parameter %s is of several kinds, and was left out", name)
		default:
			s.params = append(s.params, p)
			continue
		}
		s.stats.Params = append(s.stats.Params, ParamStatistic{Name: name, Present: p.present, Distinct: len(p.values)})
	}
}

// given are a parameter's values, one for each action that has it.
func (s *study) given(name string) []value.Value {
	var values []value.Value
	for _, a := range s.actions {
		if v := a.first.Params[name]; !v.IsMissing() {
			values = append(values, v)
		}
	}
	return values
}

// identifies says whether a parameter can be a key: nearly every action has a
// value of its own.
func (p *param) identifies(actions int) bool {
	keyed := p.declared.Type == contract.StringParam || p.declared.Type == contract.IntegerParam
	return keyed && share(p.present, actions, linking) && share(len(p.values), p.present, 90)
}

// plainType is the type of a parameter by its values, and empty if they are of
// several kinds. Numbers may turn out to be money later.
func (s *study) plainType(name string) contract.ParamType {
	values := s.given(name)
	all := func(is func(value.Value) bool) bool {
		return !slices.ContainsFunc(values, func(v value.Value) bool { return !is(v) })
	}
	kind := func(kinds ...value.Kind) func(value.Value) bool {
		return func(v value.Value) bool { return slices.Contains(kinds, v.Kind()) }
	}
	switch {
	case all(kind(value.Bool)):
		return contract.BooleanParam
	case all(kind(value.List)):
		return contract.ListParam
	case all(isInstant):
		return contract.TimestampParam
	case all(isAmount):
		return contract.MoneyParam
	case namesCurrency(name) && all(isCurrency):
		return contract.CurrencyParam
	case all(kind(value.Decimal)) && all(func(v value.Value) bool { return v.Decimal().IsInteger() }):
		return contract.IntegerParam
	case all(kind(value.Decimal)):
		return contract.DecimalParam
	case all(kind(value.String, value.Currency)):
		return contract.StringParam
	}
	return ""
}

func isInstant(v value.Value) bool {
	if v.Kind() == value.String {
		_, err := value.ParseInstant(v.Text())
		return err == nil
	}
	return v.Kind() == value.Time
}

func isAmount(v value.Value) bool {
	if v.Kind() == value.String {
		_, err := money.ParseLiteral(v.Text())
		return err == nil
	}
	return v.Kind() == value.Money
}

func isCurrency(v value.Value) bool {
	_, err := money.ParseCurrency(v.Text())
	return err == nil
}

func namesCurrency(name string) bool {
	return name == "currency" || strings.HasSuffix(name, "_currency")
}

// number is a value as a number, be it written as a text.
func number(v value.Value) (money.Decimal, bool) {
	if v.Kind() == value.String {
		d, err := money.ParseDecimal(v.Text())
		return d, err == nil
	}
	return v.Decimal(), v.Kind() == value.Decimal
}

// beside is the parameter that names a parameter's currency: its own, or the
// only one there is.
func (s *study) beside(name string) string {
	var currencies []string
	for _, p := range s.params {
		if p.declared.Type == contract.CurrencyParam {
			currencies = append(currencies, p.name)
		}
	}
	switch {
	case slices.Contains(currencies, name+"_currency"):
		return name + "_currency"
	case slices.Contains(currencies, "currency"):
		return "currency"
	case len(currencies) == 1:
		return currencies[0]
	}
	return ""
}

// moneyNames are parts of the names that amounts have.
var moneyNames = []string{"amount", "total", "price", "fee", "refund", "cost", "sum", "charge", "payment", "balance"}

func soundsLikeMoney(name string) bool {
	return slices.ContainsFunc(strings.Split(strings.ToLower(name), "_"), func(part string) bool {
		return slices.Contains(moneyNames, part)
	})
}

// typeMoney makes amounts of the numbers that are amounts: those that the facts
// of their actions repeat as money, and those that have a currency beside them
// and the name of an amount.
func (s *study) typeMoney() {
	for _, p := range s.params {
		switch p.declared.Type {
		case contract.DecimalParam, contract.IntegerParam, contract.StringParam:
			s.typeNumber(p)
		case contract.MoneyParam:
			if !slices.ContainsFunc(s.given(p.name), func(v value.Value) bool { return v.Kind() != value.Money && v.Kind() != value.String }) {
				p.declared.Currency = ""
			}
		}
		t := ParamStatistic{Name: p.name, Present: p.present, Distinct: len(p.values), Type: string(p.declared.Type)}
		if p.declared.Minor {
			t.Unit = "minor"
		}
		s.stats.Params = append(s.stats.Params, t)
	}
	slices.SortFunc(s.stats.Params, func(a, b ParamStatistic) int { return strings.Compare(a.Name, b.Name) })
}

// repeated counts how the facts of actions repeat a number as money.
type repeated struct {
	actions, major, minor int
	currencies            []money.Currency
}

func (s *study) repeats(p *param) repeated {
	var r repeated
	for _, a := range s.actions {
		n, ok := number(a.first.Params[p.name])
		if !ok || n.IsZero() {
			continue
		}
		var amounts []money.Amount
		for _, e := range a.events {
			for _, name := range slices.Sorted(maps.Keys(e.fact.Attrs)) {
				if v := e.fact.Attrs[name]; v.Kind() == value.Money {
					amounts = append(amounts, v.Amount())
				}
			}
		}
		if len(amounts) == 0 {
			continue
		}
		r.actions++
		inMajor := slices.ContainsFunc(amounts, func(x money.Amount) bool { return money.Compare(x.Value, n) == 0 })
		inMinor := slices.ContainsFunc(amounts, func(x money.Amount) bool {
			y, err := money.FromMinor(n, x.Currency)
			return err == nil && n.IsInteger() && money.Compare(x.Value, y.Value) == 0
		})
		if inMajor {
			r.major++
		}
		if inMinor {
			r.minor++
		}
		for _, x := range amounts {
			if !slices.Contains(r.currencies, x.Currency) {
				r.currencies = append(r.currencies, x.Currency)
			}
		}
	}
	return r
}

func (s *study) typeNumber(p *param) {
	if slices.ContainsFunc(s.rules, func(l contract.Link) bool { return l.Param == p.name }) ||
		slices.ContainsFunc(s.given(p.name), func(v value.Value) bool { _, ok := number(v); return !ok }) {
		return // it is a key, or no number
	}
	r := s.repeats(p)
	currency := s.beside(p.name)
	minor := share(r.minor, r.actions, holding) && r.minor > r.major
	shown := minor || share(r.major, r.actions, holding)
	switch {
	case !shown && (currency == "" || !soundsLikeMoney(p.name)):
		return
	case currency == "" && len(r.currencies) != 1:
		s.warn("mixed_currencies", "the parameter %s is an amount, but nothing beside it names its currency, and the facts are in several; it is proposed as a number", p.name)
		return
	}
	p.declared.Type, p.declared.Minor, p.declared.Currency = contract.MoneyParam, minor, currency
	if currency == "" {
		p.declared.Fixed = r.currencies[0]
		s.warn("currency_guessed", "nothing beside the parameter %s names its currency; it is taken for %s because all facts are in that", p.name, p.declared.Fixed)
	}
}

// bind types what the actions declared.
func (s *study) bind() {
	s.contract.Params = nil
	for _, p := range s.params {
		s.contract.Params = append(s.contract.Params, p.declared)
	}
	for _, a := range s.actions {
		a.params, _ = s.contract.Bind(a.first.Params)
	}
}
