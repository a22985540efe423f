package condition_test

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/shopspring/decimal"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// known gives what it holds, by the name as an expression writes it.
type known map[string]value.Value

func (k known) Value(ref condition.Ref) value.Value { return k[ref.String()] }

// scope is that of most tests.
func scope() condition.Scope {
	return condition.Scope{Fact: true, Params: map[string]value.Kind{
		"amount": value.Money, "currency": value.Currency, "reason": value.String,
		"count": value.Decimal, "urgent": value.Bool, "due": value.Time, "tags": value.List,
	}}
}

func number(text string) value.Value {
	return value.OfDecimal(decimal.RequireFromString(text))
}

func amount(text string) value.Value {
	a, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return value.OfMoney(a)
}

func list(elements ...value.Value) value.Value { return value.OfList(elements) }

func moment(text string) value.Value {
	i, err := value.ParseInstant(text)
	if err != nil {
		panic(err)
	}
	return value.OfTime(i)
}

func parse(t *testing.T, text string) *condition.Expr {
	t.Helper()
	e, err := condition.ParseValue(text, scope())
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return e
}

// decoded reads attributes of a fact from JSON, as far as that goes.
func decoded(text string) known {
	names := known{}
	var attributes map[string]value.Value
	if json.Unmarshal([]byte(text), &attributes) == nil {
		for name, v := range attributes {
			names["fact."+name] = v
		}
	}
	return names
}
