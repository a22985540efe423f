package contract_test

import (
	"testing"

	"github.com/deed-dev/deed/internal/contract"
)

func TestAnAmountThatIsComparedWithoutItsCurrencyIsWarnedOf(t *testing.T) {
	t.Parallel()
	const rest = `contract: x
params:
  currency: {type: currency}
  amount: {type: money, currency: currency}
  fee: {type: money, currency: EUR}
  tip: {type: money}
  name: {type: string}
settle: {after: 1h}
sources: {stripe: {trust: independent}}
steps:
  - id: paid
    expect: charge.succeeded
    where: `
	for _, test := range []struct{ where, hint string }{
		{"fact.amount == params.amount", "add `&& fact.currency == params.currency`"},
		{"fact.amount >= params.fee", "add `&& fact.currency == \"EUR\"`"},
		{"fact.amount == params.tip", "add `&& fact.currency == \"USD\"`"},
		{"fact.paid + fact.tax == params.amount * 2 || fact.name == params.name", "add `&& fact.currency == params.currency`"},
		{`fact.parts.exists(p, p == params.amount) || fact.amount == params.amount && params.currency == "USD"`, "add `&& fact.currency == params.currency`"},

		{"fact.amount == params.amount && fact.currency == params.currency", ""},
		{`fact.amount == params.amount && fact.currency in ["USD", "EUR"]`, ""},
		{"fact.amount == params.amount && fact.paid_currency == params.currency", ""},
		{"fact.amount == params.amount && fact.ccy == params.currency", ""},
		{"fact.name == params.name", ""},
		{`fact.amount <= money("5.00 USD")`, ""},
		{`fact.kind == "full" && params.amount > money("5.00 USD")`, ""},
	} {
		t.Run(test.where, func(t *testing.T) {
			t.Parallel()
			c, err := contract.Parse([]byte(rest + "'" + test.where + "'\n"))
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case test.hint == "" && len(c.Warnings) > 0:
				t.Errorf("it warns: %v", c.Warnings)
			case test.hint != "" && (len(c.Warnings) != 1 || c.Warnings[0].Hint != test.hint || c.Warnings[0].Line != 13 || c.Warnings[0].Path != "steps[0].where"):
				t.Errorf("the warnings are %+v", c.Warnings)
			}
		})
	}
}
