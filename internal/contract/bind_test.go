package contract_test

import (
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/value"
)

// declared reads params as an agent sends them.
func declared(t *testing.T, text string) map[string]value.Value {
	t.Helper()
	var params map[string]value.Value
	if err := json.Unmarshal([]byte(text), &params); err != nil {
		t.Fatal(err)
	}
	return params
}

// shown writes what was bound, so that a table can be read.
func shown(v value.Value) string {
	switch v.Kind() {
	case value.Missing:
		return ""
	case value.Currency:
		return "currency " + v.Text()
	case value.Money:
		return v.Amount().String()
	}
	b, err := v.AppendJSON(nil)
	if err != nil {
		return err.Error()
	}
	return string(b)
}

func TestADeclaredParameterGetsItsType(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		params, declared string
		of, want         string // an empty want means ill-typed
	}{
		"a number in a declared currency":            {"a: {type: money, currency: c}, c: {type: currency}", `{"a": 180.00, "c": "usd"}`, "a", "180.00 USD"},
		"a decimal text":                             {"a: {type: money, currency: c}, c: {type: currency}", `{"a": "180.10", "c": "USD"}`, "a", "180.10 USD"},
		"a text that names its currency":             {"a: {type: money, currency: c}, c: {type: currency}", `{"a": "180 eur", "c": "EUR"}`, "a", "180 EUR"},
		"an amount":                                  {"a: {type: money, currency: c}, c: {type: currency}", `{"a": {"amount":"1.5","currency":"EUR"}, "c": "EUR"}`, "a", "1.5 EUR"},
		"an amount and no currency beside it":        {"a: {type: money, currency: c}, c: {type: currency}", `{"a": "1.5 EUR"}`, "a", "1.5 EUR"},
		"a number and no currency beside it":         {"a: {type: money, currency: c}, c: {type: currency}", `{"a": 1.5}`, "a", ""},
		"a number and a currency that is none":       {"a: {type: money, currency: c}, c: {type: currency}", `{"a": 1.5, "c": "$"}`, "a", ""},
		"an amount and a currency that is none":      {"a: {type: money, currency: c}, c: {type: currency}", `{"a": "1.5 USD", "c": "$"}`, "a", ""},
		"a number in the default currency":           {"a: {type: money, currency: c}, c: {type: currency, default: JPY}", `{"a": 1.5}`, "a", "1.5 JPY"},
		"a null currency is the default":             {"a: {type: money, currency: c}, c: {type: currency, default: JPY}", `{"a": 1.5, "c": null}`, "a", "1.5 JPY"},
		"a currency that contradicts the one beside": {"a: {type: money, currency: c}, c: {type: currency}", `{"a": "1.5 EUR", "c": "USD"}`, "a", ""},
		"a currency that contradicts the default":    {"a: {type: money, currency: c}, c: {type: currency, default: USD}", `{"a": "1.5 EUR"}`, "a", ""},
		"a currency declared before the amount":      {"c: {type: currency}, a: {type: money, currency: c}", `{"a": 1, "c": "EUR"}`, "a", "1 EUR"},
		"a fixed currency":                           {"a: {type: money, currency: USD}", `{"a": 1}`, "a", "1 USD"},
		"a currency that contradicts the fixed one":  {"a: {type: money, currency: USD}", `{"a": "1 EUR"}`, "a", ""},
		"money that must name its currency":          {"a: {type: money}", `{"a": "1 EUR"}`, "a", "1 EUR"},
		"money that must and does not":               {"a: {type: money}", `{"a": 1}`, "a", ""},
		"a text that is no amount":                   {"a: {type: money, currency: USD}", `{"a": "much"}`, "a", ""},
		"a boolean for money":                        {"a: {type: money, currency: USD}", `{"a": true}`, "a", ""},
		"a list for money":                           {"a: {type: money, currency: USD}", `{"a": [1]}`, "a", ""},
		"a default amount":                           {"a: {type: money, currency: USD, default: 0.30}", `{}`, "a", "0.30 USD"},

		"cents":                             {"a: {type: money, currency: USD, unit: minor}", `{"a": 18000}`, "a", "180.00 USD"},
		"cents as a text":                   {"a: {type: money, currency: USD, unit: minor}", `{"a": "18000"}`, "a", "180.00 USD"},
		"cents with a currency":             {"a: {type: money, currency: USD, unit: minor}", `{"a": {"amount":"18000","currency":"usd"}}`, "a", "180.00 USD"},
		"cents that JSON writes as a float": {"a: {type: money, currency: USD, unit: minor}", `{"a": 18000.0}`, "a", "180.00 USD"},
		"yen have no smaller unit":          {"a: {type: money, currency: c, unit: minor}, c: {type: currency}", `{"a": 18000, "c": "JPY"}`, "a", "18000 JPY"},
		"dinars have three decimals":        {"a: {type: money, currency: c, unit: minor}, c: {type: currency}", `{"a": 18000, "c": "kwd"}`, "a", "18.000 KWD"},
		"half a cent":                       {"a: {type: money, currency: USD, unit: minor}", `{"a": 18000.5}`, "a", ""},
		"dollars where cents are declared":  {"a: {type: money, currency: USD, unit: minor}", `{"a": "180.00 USD"}`, "a", ""},
		"the smallest unit of a coin":       {"a: {type: money, currency: c, unit: minor}, c: {type: currency}", `{"a": 1, "c": "USDC"}`, "a", ""},
		"a default in cents":                {"a: {type: money, currency: USD, unit: minor, default: 30}", `{}`, "a", "0.30 USD"},

		"a currency":               {"c: {type: currency}", `{"c": "eur"}`, "c", "currency EUR"},
		"a number for a currency":  {"c: {type: currency}", `{"c": 978}`, "c", ""},
		"a text":                   {"s: {type: string}", `{"s": "x"}`, "s", `"x"`},
		"a number for a text":      {"s: {type: string}", `{"s": 1}`, "s", ""},
		"an integer":               {"n: {type: integer}", `{"n": 12345678901234567890}`, "n", "12345678901234567890"},
		"an integer with decimals": {"n: {type: integer}", `{"n": 5.0}`, "n", "5"},
		"an integer as a power":    {"n: {type: integer}", `{"n": 5e2}`, "n", "500"},
		"an integer as a text":     {"n: {type: integer}", `{"n": "007"}`, "n", ""},
		"a plain integer text":     {"n: {type: integer}", `{"n": "7"}`, "n", "7"},
		"a fraction":               {"n: {type: integer}", `{"n": 5.5}`, "n", ""},
		"a decimal":                {"d: {type: decimal}", `{"d": 5.50}`, "d", "5.50"},
		"a decimal as a text":      {"d: {type: decimal}", `{"d": "5.50"}`, "d", "5.50"},
		"a word for a decimal":     {"d: {type: decimal}", `{"d": "five"}`, "d", ""},
		"a boolean":                {"b: {type: boolean}", `{"b": false}`, "b", "false"},
		"a text for a boolean":     {"b: {type: boolean}", `{"b": "false"}`, "b", ""},
		"a time":                   {"t: {type: timestamp}", `{"t": "2026-10-15T14:00:00+02:00"}`, "t", `{"time":"2026-10-15T12:00:00Z"}`},
		"a time of its own kind":   {"t: {type: timestamp}", `{"t": {"time":"2026-10-15T12:00:00Z"}}`, "t", `{"time":"2026-10-15T12:00:00Z"}`},
		"a time without a zone":    {"t: {type: timestamp}", `{"t": "2026-10-15T12:00:00"}`, "t", ""},
		"one of an enum":           {"e: {type: enum, values: [x, y]}", `{"e": "y"}`, "e", `"y"`},
		"none of an enum":          {"e: {type: enum, values: [x, y]}", `{"e": "z"}`, "e", ""},
		"an enum in another case":  {"e: {type: enum, values: [x, y]}", `{"e": "X"}`, "e", ""},
		"a list":                   {"l: {type: list}", `{"l": [1, "x", null]}`, "l", `[1,"x",null]`},
		"a default list":           {"l: {type: list, default: [1, x]}", `{}`, "l", `[1,"x"]`},
		"a text for a list":        {"l: {type: list}", `{"l": "x"}`, "l", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			contract := parse(t, "params: {"+c.params+"}\n"+steps)
			bound, problems := contract.Bind(declared(t, c.declared))
			if got := shown(bound[c.of]); got != c.want {
				t.Errorf("it is %q, want %q", got, c.want)
			}
			told := slices.ContainsFunc(problems, func(p Bound) bool { return p.Param == c.of && !p.Missing && p.Reason != nil })
			if told != (c.want == "") {
				t.Errorf("the problems are %+v", problems)
			}
			if _, there := bound[c.of]; there == (c.want == "") {
				t.Errorf("what is ill-typed was bound: %+v", bound)
			}
		})
	}
}

// Bound is short for a table.
type Bound = contract.BindProblem

func TestWhatIsMissingIsToldIfItIsRequired(t *testing.T) {
	t.Parallel()
	c := parse(t, `params:
  amount: {type: money, currency: USD, required: true}
  note: {type: string}
  reason: {type: string, required: true}
  level: {type: integer, default: 1}
`+steps)
	bound, problems := c.Bind(declared(t, `{"reason": null, "other": "x", "level": "high"}`))
	want := []Bound{{Param: "amount", Required: true, Missing: true}, {Param: "reason", Required: true, Missing: true}}
	if len(problems) != 3 || problems[0] != want[0] || problems[1] != want[1] {
		t.Fatalf("the problems are %+v", problems)
	}
	// What is ill-typed says something else than the default.
	if p := problems[2]; p.Param != "level" || p.Required || p.Missing || p.Reason == nil {
		t.Errorf("the third problem is %+v", p)
	}
	if len(bound) != 0 {
		t.Errorf("it is bound as %+v", bound)
	}
}
