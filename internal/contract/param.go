package contract

import (
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/likeness"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// kind of a parameter's values in conditions.
func (t ParamType) kind() value.Kind {
	switch t {
	case MoneyParam:
		return value.Money
	case CurrencyParam:
		return value.Currency
	case StringParam, EnumParam:
		return value.String
	case IntegerParam, DecimalParam:
		return value.Decimal
	case BooleanParam:
		return value.Bool
	case TimestampParam:
		return value.Time
	case ListParam:
		return value.List
	}
	return value.Missing
}

func (c *Contract) kinds() map[string]value.Kind {
	kinds := make(map[string]value.Kind, len(c.Params))
	for _, p := range c.Params {
		kinds[p.Name] = p.Type.kind()
	}
	return kinds
}

func mayBeMoney(e *condition.Expr) bool { return e.Kind() == value.Money || e.Kind() == value.Missing }

// params reads the declared parameters. A currency may be declared after the
// amount that names it, so what refers to another comes in a second pass.
func (r *reader) params(f fields) {
	var mappings []fields
	for _, e := range f.named("params", "parameter") {
		path := join("params", e.key.text)
		if !r.form(e.key, path, isIdentifier, "a parameter's name has up to 64 letters, digits and _, and begins with a letter") {
			continue
		}
		if reservedNames[e.key.text] {
			r.problem(e.key, path, "choose another name", "params.%s could not be written in a condition", e.key.text)
			continue
		}
		p := Param{Name: e.key.text}
		g, ok := r.mapping(e.value, "params", path)
		if ok {
			p.Type = ParamType(g.word("type"))
			p.Required = g.flag("required", false)
			for _, n := range g.texts("values", false) {
				p.Values = append(p.Values, n.text)
			}
		}
		r.contract.Params = append(r.contract.Params, p)
		mappings = append(mappings, g)
	}
	for i, g := range mappings {
		if g.node != nil && r.contract.Params[i].Type != "" {
			r.paramDetails(g, &r.contract.Params[i])
		}
	}
}

// reservedNames are words that the condition language keeps for itself.
var reservedNames = map[string]bool{"in": true, "true": true, "false": true, "null": true}

func (r *reader) paramDetails(g fields, p *Param) {
	for _, only := range []struct {
		key string
		of  ParamType
	}{{"currency", MoneyParam}, {"unit", MoneyParam}, {"values", EnumParam}} {
		if n := g.get(only.key); n != nil && p.Type != only.of {
			r.problem(n, g.at(only.key), fmt.Sprintf("leave it out, or write `type: %s`", only.of), "%s is for parameters of type %s, and this is a %s", only.key, only.of, p.Type)
		}
	}
	if p.Type == EnumParam && len(p.Values) == 0 {
		n := g.node
		if v := g.get("values"); v != nil {
			n = v
		}
		r.problem(n, g.at("values"), "write `values: [one, other]`", "an enum lists what it may be")
	}
	if p.Type == MoneyParam {
		p.Minor = g.word("unit") == "minor"
		r.currency(g, p)
	}
	r.defaultValue(g, p)
}

// currency reads the code or the parameter that says what money is in.
func (r *reader) currency(g fields, p *Param) {
	n := g.get("currency")
	if n == nil {
		if p.Minor {
			r.problem(g.node, g.at("currency"), "write `currency: USD`, or the name of a parameter", "the smallest unit depends on the currency, which is missing")
		}
		return
	}
	name, ok := r.plain(n, g.at("currency"))
	if !ok {
		return
	}
	if other := r.contract.param(name); other != nil {
		if other.Type != CurrencyParam {
			r.problem(n, g.at("currency"), "declare it with `type: currency`", "params.%s is a %s, not a currency", name, other.Type)
		}
		p.Currency = name
		return
	}
	code, err := money.ParseCurrency(name)
	if err != nil || string(code) != name {
		hint := "write a code in capitals as in USD, or the name of a parameter of type currency"
		if near := likeness.Closest(name, r.contract.paramNames()); near != "" {
			hint = "did you mean " + near + "?"
		} else if err == nil && len(name) == 3 {
			hint = "write " + string(code)
		}
		r.problem(n, g.at("currency"), hint, "%q is neither a parameter nor a currency code in capitals", clip(name))
		return
	}
	if _, err := money.FromMinor(money.Decimal{}, code); p.Minor && err != nil {
		r.problem(n, g.at("currency"), "write `unit: major`", "%v", err)
	}
	r.currencyKnown(n, g.at("currency"), code)
	p.Fixed = code
}

// defaultValue reads a default as a declaration would give it, and tries it.
func (r *reader) defaultValue(g fields, p *Param) {
	n := g.get("default")
	if n == nil {
		return
	}
	path := g.at("default")
	v, ok := r.value(n, path)
	if !ok {
		return
	}
	if p.Required {
		r.warn(n, path, "leave one of both out", "a parameter with a default is never missing, so `required` means nothing")
	}
	code := p.Fixed
	if p.Currency != "" {
		code = "USD" // any will do to try the number
		if v.Kind() == value.Money {
			code = v.Amount().Currency
		}
	}
	if _, err := p.convert(v, code); errors.Is(err, errNoCurrency) && g.get("currency") != nil {
		return // what is wrong with the currency was said
	} else if err != nil {
		r.problem(n, path, "write it as a declaration would give it", "this is no %s: %v", p.Type, err)
		return
	}
	p.Default = v
}

// value reads a node as a declaration's JSON would have it.
func (r *reader) value(n *node, path string) (value.Value, bool) {
	switch n.kind {
	case text:
		if _, err := money.ParseDecimal(n.text); err == nil && n.style == 0 {
			r.problem(n, path, "write it out, or in quotes if it is a text", "%s is a number to some readers of YAML and a text to others", clip(n.text))
			return value.Value{}, false
		}
		return value.OfString(n.text), true
	case boolean:
		return value.OfBool(n.text == "true"), n.text == "true" || n.text == "false"
	case number:
		d, err := money.ParseDecimal(n.text)
		if err != nil {
			r.problem(n, path, "write it as in 180 or 180.00, or in quotes if it is a text", "%s is no plain number", clip(n.text))
			return value.Value{}, false
		}
		return value.OfDecimal(d), true
	case sequence:
		elements := make([]value.Value, 0, len(n.items))
		for i, item := range n.items {
			v, ok := r.value(item, fmt.Sprintf("%s[%d]", path, i))
			if !ok {
				return value.Value{}, false
			}
			elements = append(elements, v)
		}
		return value.OfList(elements), true
	}
	r.problem(n, path, "write the value, or leave the key out", "here stands %s instead of a value", n.is())
	return value.Value{}, false
}
