package condition_test

import (
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

const (
	no    = condition.False
	yes   = condition.True
	maybe = condition.Unknown
)

// world is what the tables of truth below know. Of fact.missing and all other
// names nothing is known.
func world() known {
	return known{
		"params.amount": amount("180.00 USD"), "params.currency": value.OfCurrency("USD"),
		"params.reason": value.OfString("damaged"), "params.count": number("3"),
		"params.urgent": value.OfBool(true), "params.due": moment("2026-10-15T12:00:00Z"),
		"params.tags":        list(value.OfString("a"), value.OfString("b")),
		"action.subject_id":  value.OfString("order-7"),
		"fact.amount":        amount("180.0 USD"),
		"fact.currency":      value.OfString("usd"),
		"fact.euros":         amount("180.00 EUR"),
		"fact.number":        number("180"),
		"fact.text":          value.OfString("180"),
		"fact.ok":            value.OfBool(true),
		"fact.occurred_at":   moment("2026-10-15T11:59:59.5Z"),
		"fact.at":            value.OfString("2026-10-15T14:00:00+02:00"),
		"fact.items":         list(number("1"), number("2"), number("3")),
		"fact.holey":         list(number("1"), value.Value{}, number("3")),
		"fact.empty":         list(),
		"fact.mixed":         list(number("1"), value.OfString("2")),
		"fact.code":          value.OfString("RF-1042"),
		"fact.city":          value.OfString("Zürich"),
		"fact.foreign":       value.OfString("EUR"),
		"fact.sale_currency": value.OfString("eur"),
	}
}

func TestAConditionComesTo(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text string
		want condition.Truth
	}{
		// Numbers are exact, and equal however many decimals they have.
		{`0.1 + 0.2 == 0.3`, yes},
		{`1.10 * 3 == 3.3`, yes},
		{`180 == 180.00`, yes},
		{`-2 < -1.5`, yes},
		{`2 - 3 == -1`, yes},
		{`9007199254740993 == 9007199254740992`, no},
		{`1 + 2 * 3 == 7`, yes},
		{`(1 + 2) * 3 == 9`, yes},
		{`10 - 3 - 2 == 5`, yes},
		{`fact.number >= 180`, yes},
		{`-fact.number == -180`, yes},
		{`--fact.number == 180`, yes},

		// Amounts name their currency.
		{`fact.amount == params.amount`, yes},
		{`params.amount <= money("250.00 USD")`, yes},
		{`params.amount * 2 > money("250.00 USD")`, yes},
		{`2 * params.amount == fact.amount + params.amount`, yes},
		{`params.amount - fact.amount == money("0 USD")`, yes},
		{`-params.amount < money("0.00 usd")`, yes},
		{`fact.euros == params.amount`, maybe},
		{`fact.euros != params.amount`, maybe},
		{`fact.euros < params.amount`, maybe},
		{`fact.euros + params.amount == fact.euros`, maybe},
		{`fact.number == params.amount`, maybe},
		{`fact.euros in [params.amount]`, maybe},

		// Currencies ignore case.
		{`fact.currency == params.currency`, yes},
		{`fact.currency == "USD"`, yes},
		{`fact.currency == "usd"`, yes},
		{`fact.currency in ["eur", "usd"]`, yes},
		{`fact.sale_currency == "EUR"`, yes},
		{`fact.sale_currency != params.currency`, yes},
		{`params.currency == "Usd"`, yes},
		{`fact.foreign == params.currency`, no},
		{`fact.code == params.currency`, no},

		// Texts.
		{`params.reason == 'damaged'`, yes},
		{`params.reason < "e"`, yes},
		{`fact.code.startsWith("RF-")`, yes},
		{`fact.code.endsWith("42")`, yes},
		{`fact.code.contains("F-1")`, yes},
		{`fact.code.contains(params.reason)`, no},
		{`fact.code.matches("^[A-Z]{2}-[0-9]+$")`, yes},
		{`fact.code.matches("4")`, yes},
		{`fact.code.matches("^4")`, no},
		{`size(fact.city) == 6`, yes},
		{`"caf\u00e9" == "café"`, yes},
		{`'\x41\101\u0041\U00000041\n' == "AAAA\n"`, yes},
		{`"it's" == 'it\'s'`, yes},

		// Times.
		{`fact.occurred_at < params.due`, yes},
		{`params.due == timestamp("2026-10-15T12:00:00Z")`, yes},
		{`fact.at == params.due`, yes},
		{`params.due >= timestamp("2026-10-15T12:00:00.000001Z")`, no},

		// A text never is a value of another kind, and never is known not to be.
		{`fact.text == 180`, maybe},
		{`fact.text != 180`, maybe},
		{`fact.text < 200`, maybe},
		{`fact.ok == 1`, maybe},
		{`fact.code == params.due`, maybe},
		{`fact.text + 1 == 181`, maybe},
		{`fact.number.startsWith("1")`, maybe},
		{`size(fact.number) == 3`, maybe},
		{`fact.number && true`, maybe},
		{`!fact.number`, maybe},
		{`-fact.ok == 1`, maybe},
		{`fact.ok < fact.ok`, maybe},
		{`fact.ok <= fact.ok`, maybe},
		{`fact.number in fact.amount`, maybe},
		{`fact.number.exists(x, x == 1)`, maybe},

		// What is not there is unknown, until something else decides.
		{`fact.missing == 1`, maybe},
		{`fact.missing != 1`, maybe},
		{`!fact.missing`, maybe},
		{`fact.missing == fact.missing`, maybe},
		{`false && fact.missing`, no},
		{`fact.missing && false`, no},
		{`true && fact.missing`, maybe},
		{`true || fact.missing`, yes},
		{`fact.missing || true`, yes},
		{`fact.missing || false`, maybe},
		{`fact.missing > 1 && fact.number == 1`, no},
		{`fact.missing.startsWith("x")`, maybe},
		{`params.reason.startsWith(fact.missing)`, maybe},
		{`fact.missing ? true : true`, maybe},
		{`fact.ok ? fact.missing : true`, maybe},
		{`fact.ok ? true : fact.missing`, yes},
		{`(fact.ok ? 1 : 2) == 1`, yes},
		{`(fact.number == 1 ? 1 : 2) == 2`, yes},

		// Lists.
		{`2 in fact.items`, yes},
		{`4 in fact.items`, no},
		{`2.0 in fact.items`, yes},
		{`params.reason in ["lost", "damaged"]`, yes},
		{`params.reason in []`, no},
		{`fact.missing in []`, maybe},
		{`1 in fact.missing`, maybe},
		{`1 in fact.holey`, yes},
		{`2 in fact.holey`, maybe},
		{`2 in fact.mixed`, maybe},
		{`1 in fact.mixed`, yes},
		{`fact.missing in [1, 2]`, maybe},
		{`2 in [fact.missing, 2]`, yes},
		{`2 in [fact.missing, 3]`, maybe},
		{`fact.items == [1, 2.0, 3]`, yes},
		{`fact.items == [1, 2]`, no},
		{`fact.holey == [1, 2, 3]`, maybe},
		{`fact.holey == [2, 2, 3]`, no},
		{`fact.holey == [1, 2]`, no},
		{`[fact.missing, 1] == [2, 1]`, maybe},
		{`[fact.missing, 1] == [2, 2]`, no},
		{`[fact.missing, 1] != [2, 2]`, yes},
		{`[1, 2] in [[2, 1], [1, 2]]`, yes},
		{`size(fact.items) == 3`, yes},
		{`size(fact.holey) == 3`, yes},
		{`fact.items.exists(n, n > 2)`, yes},
		{`fact.items.exists(n, n > 3)`, no},
		{`fact.items.all(n, n > 0)`, yes},
		{`fact.items.all(n, n > 1)`, no},
		{`fact.holey.exists(n, n == 3)`, yes},
		{`fact.holey.exists(n, n == 2)`, maybe},
		{`fact.holey.all(n, n > 0)`, maybe},
		{`fact.holey.all(n, n > 1)`, no},
		{`fact.empty.exists(n, n == 1)`, no},
		{`fact.empty.all(n, n == 1)`, yes},
		{`fact.missing.all(n, n == 1)`, maybe},
		{`fact.items.all(n, [1, 2, 3].exists(m, m == n))`, yes},
		{`fact.items.exists(n, params.tags.exists(tag, tag == "b" && n == 2))`, yes},
		{`"b" in params.tags`, yes},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			e, err := condition.Parse(c.text, scope())
			if err != nil {
				t.Fatal(err)
			}
			if got := e.Truth(world()); got.Truth != c.want {
				t.Errorf("it is %v, want %v", got, c.want)
			}
		})
	}
}

func TestWhatIsUnknownSaysWhy(t *testing.T) {
	t.Parallel()
	fact := func(name string) condition.Ref { return condition.Ref{Root: condition.Fact, Name: name} }
	for _, c := range []struct {
		text string
		want condition.Outcome
	}{
		{`fact.missing == 1`, condition.Outcome{Cause: condition.ValueMissing, Ref: fact("missing")}},
		{`fact.a == 1 && fact.b == 1`, condition.Outcome{Cause: condition.ValueMissing, Ref: fact("a")}},
		{`fact.ok && fact.b == 1`, condition.Outcome{Cause: condition.ValueMissing, Ref: fact("b")}},
		{`fact.a == 1 || fact.text == 180`, condition.Outcome{Cause: condition.ValueMissing, Ref: fact("a")}},
		{`params.count == fact.text`, condition.Outcome{Cause: condition.NotComparable, Ref: fact("text")}},
		{`fact.number`, condition.Outcome{Cause: condition.NotComparable, Ref: fact("number")}},
		{`params.amount == fact.euros`, condition.Outcome{Cause: condition.CurrencyDiffers, Ref: fact("euros"), OtherCurrency: true}},
		{`params.amount + fact.euros == params.amount`, condition.Outcome{Cause: condition.CurrencyDiffers, Ref: fact("euros"), OtherCurrency: true}},
		{`2 in fact.holey`, condition.Outcome{Cause: condition.ValueMissing, Ref: fact("holey")}},
		{`fact.holey.exists(n, n == 2)`, condition.Outcome{Cause: condition.ValueMissing, Ref: fact("holey")}},
		{`fact.missing.exists(n, n == 2)`, condition.Outcome{Cause: condition.ValueMissing, Ref: fact("missing")}},
		{`[fact.missing] == [1]`, condition.Outcome{Cause: condition.ValueMissing, Ref: fact("missing")}},
		// Where something decides, nothing stands in the way.
		{`fact.missing == 1 && false`, condition.Outcome{Truth: no}},
		{`fact.missing == 1 || true`, condition.Outcome{Truth: yes}},
	} {
		t.Run(c.text, func(t *testing.T) {
			t.Parallel()
			e, err := condition.Parse(c.text, scope())
			if err != nil {
				t.Fatal(err)
			}
			if got := e.Truth(world()); got != c.want {
				t.Errorf("it is %+v, want %+v", got, c.want)
			}
		})
	}
}

func TestTwoCurrenciesAreNotedWhereTheyDidHarm(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`fact.amount == params.amount && fact.currency == params.currency`:     false,
		`fact.euros == params.amount && fact.foreign == params.currency`:       true,
		`fact.euros == params.amount && fact.number == 1`:                      true,
		`fact.foreign == params.currency`:                                      true,
		`fact.code == params.currency`:                                         false, // no currency at all
		`fact.currency == "EUR"`:                                               true,
		`fact.currency == "EUR" || fact.currency == "USD"`:                     false,
		`(fact.currency == "EUR" || fact.currency == "USD") && fact.number==1`: false,
		`fact.currency in ["EUR", "USD"] && fact.number == 1`:                  false,
		`fact.currency in ["EUR", "GBP"]`:                                      true,
		`fact.currency != "EUR"`:                                               false,
		`fact.number == 1 && fact.euros == params.amount`:                      false, // decided before
	} {
		if got := parse(t, text).Truth(world()).OtherCurrency; got != want {
			t.Errorf("%s: %v, want %v", text, got, want)
		}
	}
}

func TestAnExpressionComesToAValue(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]value.Value{
		`fact.amount + params.amount`:           amount("360 USD"),
		`fact.number * 0.05`:                    number("9"),
		`params.reason`:                         value.OfString("damaged"),
		`fact.currency`:                         value.OfCurrency("USD"),
		`fact.ok ? params.count : 0`:            number("3"),
		`[params.count, 1]`:                     list(number("3"), number("1")),
		`size(params.tags)`:                     number("2"),
		`timestamp("2026-10-15T12:00:00.5Z")`:   moment("2026-10-15T12:00:00.5Z"),
		`fact.items.exists(n, n == 1) == false`: value.OfBool(false),
	} {
		got, outcome := parse(t, text).Value(world())
		if got.Kind() != want.Kind() || value.Compare(got, want) != value.Equal || outcome.Cause != condition.NoCause {
			t.Errorf("%s: %+v with %+v, want %+v", text, got, outcome, want)
		}
	}
	got, outcome := parse(t, `fact.amount + fact.euros`).Value(world())
	if !got.IsMissing() || outcome.Cause != condition.CurrencyDiffers || !outcome.OtherCurrency {
		t.Errorf("a sum of two currencies is %+v with %+v", got, outcome)
	}
	got, outcome = parse(t, `fact.missing`).Value(world())
	if !got.IsMissing() || outcome.Cause != condition.ValueMissing || outcome.Ref.Name != "missing" {
		t.Errorf("a missing attribute is %+v with %+v", got, outcome)
	}
}

// Two lists of a thousand elements in each other are gone through; what would
// take minutes ends soon and says that it is not known.
func TestAnEvaluationThatWouldTakeForeverIsUnknown(t *testing.T) {
	t.Parallel()
	long := func(n int) value.Value {
		elements := make([]value.Value, n)
		for i := range elements {
			elements[i] = value.OfDecimal(money.Decimal{})
		}
		return value.OfList(elements)
	}
	e := parse(t, `fact.a.exists(x, fact.b.exists(y, x != y))`)
	if got := e.Truth(known{"fact.a": long(300), "fact.b": long(1000)}); got.Truth != no {
		t.Errorf("300 times 1000 elements give %+v", got)
	}
	if got := e.Truth(known{"fact.a": long(100_000), "fact.b": long(100_000)}); got.Truth != maybe || got.Cause != condition.NotComparable {
		t.Errorf("100,000 times 100,000 elements give %+v", got)
	}
	inner := known{"fact.a": long(100_000), "fact.b": list(long(100_000)), "fact.c": list(long(100_000))}
	if got := parse(t, `fact.a.exists(x, fact.b != fact.c)`).Truth(inner); got.Truth != maybe {
		t.Errorf("100,000 comparisons of 100,000 elements give %+v", got)
	}
	text := value.OfString(strings.Repeat("a", 1<<20))
	if got := parse(t, `fact.a.exists(x, fact.t.matches("(a*)*b$"))`).Truth(known{"fact.a": long(100_000), "fact.t": text}); got.Truth != maybe {
		t.Errorf("100,000 searches through a mebibyte give %+v", got)
	}
}
