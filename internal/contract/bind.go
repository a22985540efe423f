package contract

import (
	"errors"
	"fmt"
	"slices"

	"github.com/shopspring/decimal"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// BindProblem is a parameter that a declaration leaves out although it is
// required, or gives in a form that is not its type.
type BindProblem struct {
	Param    string
	Required bool
	Missing  bool  // else it is ill-typed
	Reason   error // of an ill-typed one
}

// Bind types what an action declared. Defaults are filled in, amounts get their
// currency and come in its major unit; what is ill-typed, or not declared by
// the contract, is left out. Problems stand in the order of the parameters.
//
// A default stands for a declaration that says nothing, so it is read as if it
// had been declared. What is ill-typed gets no default: it says something else.
func (c *Contract) Bind(declared map[string]value.Value) (map[string]value.Value, []BindProblem) {
	bound := make(map[string]value.Value, len(c.Params))
	var problems []BindProblem
	given := func(p *Param) value.Value {
		if v := declared[p.Name]; !v.IsMissing() {
			return v
		}
		return p.Default
	}
	for i := range c.Params {
		p := &c.Params[i]
		v := given(p)
		if v.IsMissing() {
			if p.Required {
				problems = append(problems, BindProblem{Param: p.Name, Required: true, Missing: true})
			}
			continue
		}
		code := p.Fixed
		if p.Currency != "" {
			code = ""
			if other := c.param(p.Currency); other != nil {
				named, err := other.convert(given(other), "")
				if err == nil {
					code = money.Currency(named.Text())
				} else if !given(other).IsMissing() {
					problems = append(problems, BindProblem{Param: p.Name, Required: p.Required, Reason: fmt.Errorf("its currency %s: %w", p.Currency, err)})
					continue
				}
			}
		}
		typed, err := p.convert(v, code)
		if err != nil {
			problems = append(problems, BindProblem{Param: p.Name, Required: p.Required, Reason: err})
			continue
		}
		bound[p.Name] = typed
	}
	return bound, problems
}

// convert gives a declared value the parameter's type. The currency is what
// money without one is in, and what money with one must be in, unless empty.
func (p *Param) convert(v value.Value, currency money.Currency) (value.Value, error) {
	wrong := func() error { return fmt.Errorf("a %s where a %s is wanted", v.Kind(), p.Type) }
	switch p.Type {
	case MoneyParam:
		return p.convertMoney(v, currency)
	case CurrencyParam:
		if v.Kind() == value.Currency {
			return v, nil
		}
		if v.Kind() != value.String {
			return value.Value{}, wrong()
		}
		code, err := money.ParseCurrency(v.Text())
		return value.OfCurrency(code), err
	case StringParam, EnumParam:
		if v.Kind() != value.String {
			return value.Value{}, wrong()
		}
		if p.Type == EnumParam && !slices.Contains(p.Values, v.Text()) {
			return value.Value{}, fmt.Errorf("%q is not one of its values", clip(v.Text()))
		}
		return v, nil
	case IntegerParam, DecimalParam:
		d, err := numberOf(v)
		switch {
		case err != nil:
			return value.Value{}, err
		case p.Type == DecimalParam:
			return value.OfDecimal(d), nil
		case !d.IsInteger():
			return value.Value{}, fmt.Errorf("%s is no integer", d)
		}
		// One integer has one text, since links compare texts.
		return value.OfDecimal(decimal.NewFromBigInt(d.BigInt(), 0)), nil
	case BooleanParam:
		if v.Kind() == value.Bool {
			return v, nil
		}
	case ListParam:
		if v.Kind() == value.List {
			return v, nil
		}
	case TimestampParam:
		if v.Kind() == value.Time {
			return v, nil
		}
		if v.Kind() == value.String {
			instant, err := value.ParseInstant(v.Text())
			return value.OfTime(instant), err
		}
	}
	return value.Value{}, wrong()
}

// numberOf reads a number, or a text that is one: exact amounts and long
// integers often come as text.
func numberOf(v value.Value) (money.Decimal, error) {
	switch v.Kind() {
	case value.Decimal:
		return v.Decimal(), nil
	case value.String:
		return money.ParseDecimal(v.Text())
	}
	return money.Decimal{}, fmt.Errorf("a %s where a number is wanted", v.Kind())
}

var errNoCurrency = errors.New("an amount without a currency")

// convertMoney reads a number, a decimal text, a text with a currency, or an
// amount.
func (p *Param) convertMoney(v value.Value, currency money.Currency) (value.Value, error) {
	amount := v.Amount()
	switch v.Kind() {
	case value.Money:
	case value.String:
		parsed, err := money.Parse(v.Text())
		if err != nil {
			d, plain := money.ParseDecimal(v.Text())
			if plain != nil {
				return value.Value{}, err
			}
			parsed = money.Amount{Value: d}
		}
		amount = parsed
	default:
		d, err := numberOf(v)
		if err != nil {
			return value.Value{}, err
		}
		amount = money.Amount{Value: d}
	}
	switch {
	case amount.Currency == "":
		amount.Currency = currency
	case currency != "" && amount.Currency != currency:
		return value.Value{}, fmt.Errorf("an amount in %s where %s is declared", amount.Currency, currency)
	}
	if amount.Currency == "" {
		return value.Value{}, errNoCurrency
	}
	if p.Minor {
		return minor(v, amount)
	}
	return value.OfMoney(amount), nil
}

// minor turns smallest units into major ones. An amount that is written with
// decimals is not in smallest units, whatever the contract says; taken for one
// it would be wrong by a hundred. A number that JSON writes as 18000.0 is whole.
func minor(v value.Value, amount money.Amount) (value.Value, error) {
	if !amount.Value.IsInteger() || v.Kind() != value.Decimal && amount.Value.Exponent() < 0 {
		return value.Value{}, fmt.Errorf("%s where a whole number of smallest units is wanted", amount)
	}
	units := decimal.NewFromBigInt(amount.Value.BigInt(), 0)
	major, err := money.FromMinor(units, amount.Currency)
	return value.OfMoney(major), err
}
