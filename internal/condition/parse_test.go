package condition_test

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/value"
)

func TestWhatCannotBeMeantIsRefusedWithAWayOut(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, at, message, hint string }{
		// Names.
		{`params.ammount == 1`, `params.ammount`, `declares no parameter "ammount"`, `did you mean params.amount?`},
		{`params.zzzzzz == 1`, `params.zzzzzz`, `declares no parameter`, `there are amount, count, currency, due, reason, tags, urgent`},
		{`action.subject == "x"`, `action.subject`, `an action has no "subject"`, `there are action_id`},
		{`action.subject_idd == "x"`, `action.subject_idd`, `an action has no`, `did you mean action.subject_id?`},
		{`amount > 1`, `amount`, `"amount" is not known here`, `write params.amount`},
		{`agent_id == "x"`, `agent_id`, `not known`, `write action.agent_id`},
		{`facts.amount == 1`, `facts`, `not known`, `did you mean fact?`},
		{`reazon == damaged`, `reazon`, `not known`, `write fact.reazon, or put a text in quotes`},
		{`fact == 1`, `fact`, `fact alone is no value`, `name an attribute`},
		{`fact.refund.amount == 1`, `amount`, `cannot be taken from a value`, `values have no parts`},
		{`fact.in == 1`, `in`, `the name of an attribute`, ``},
		{`params["amount"] == 1`, `params`, `params alone is no value`, `name an attribute`},

		// Kinds.
		{`params.amount > 100`, `params.amount > 100`, `an amount of money cannot be compared with a number`, `write money("100.00 USD")`},
		{`0.125 < params.amount`, `0.125 < params.amount`, `a number cannot be compared with an amount of money`, `write money("0.125 USD")`},
		{`params.amount == "100.00 USD"`, `params.amount == "100.00 USD"`, `cannot be compared with a text`, `write money(`},
		{`params.amount == params.currency`, `params.amount == params.currency`, `cannot be compared with a currency`, `the currency with a currency`},
		{`params.amount + 1 > params.amount`, `params.amount + 1`, `have no sum`, `write money("1.00 USD")`},
		{`params.amount * params.amount > params.amount`, `params.amount * params.amount`, `an amount times an amount`, `by a number`},
		{`money("1 USD") == money("1 EUR")`, `money("1 USD") == money("1 EUR")`, `amounts of USD and EUR cannot be compared`, ``},
		{`params.reason == 1`, `params.reason == 1`, `a text cannot be compared with a number`, `quotes`},
		{`params.reason + "x" == "y"`, `params.reason + "x"`, `+ means nothing for a text`, `only numbers`},
		{`params.currency == "dollars and cents"`, `"dollars and cents"`, `is no currency`, `write a code as in "USD"`},
		{`params.currency in ["USD", "US"]`, `"US"`, `is no currency`, `write a code as in "USD"`},
		{`params.amount in [100, 200]`, `params.amount in [100, 200]`, `cannot be compared with a number`, `write money("100.00 USD")`},
		{`params.due < "tomorrow"`, `"tomorrow"`, `is no time`, `write timestamp(`},
		{`params.due - params.due == 1`, `params.due - params.due`, `- means nothing for a time`, "`within`"},
		{`params.urgent > false`, `params.urgent`, `a condition has no order`, `== or !=`},
		{`params.currency < "USD"`, `params.currency`, `a currency has no order`, `==`},
		{`params.count in params.count`, `params.count`, `in looks into a list, and this is a number`, `write a list`},
		{`params.tags == "a"`, `params.tags == "a"`, `a list cannot be compared with a text`, `in, exists or all`},
		{`!params.count`, `!params.count`, `! turns a condition round, and this is a number`, `!=`},
		{`params.count && true`, `params.count`, `&& joins conditions, and this is a number`, `compare`},
		{`-params.reason == "x"`, `-params.reason`, `a text has no negative`, ``},
		{`params.count ? true : false`, `params.count`, `? asks a condition`, `compare`},
		{`params.urgent ? 1 : "x"`, `"x"`, `one kind, and here are a number and a text`, ``},
		{`params.count.startsWith("x")`, `params.count`, `startsWith looks into a text, and this is a number`, ``},
		{`size(params.count) > 1`, `size(params.count)`, `a number has no size`, ``},
		{`params.reason.exists(x, true)`, `params.reason`, `exists goes through a list`, ``},
		{`params.tags.all(x, 1)`, `1`, `all asks a condition of each element`, `compare`},
		{`params.amount`, `params.amount`, `a condition is true or false`, `compare it`},

		// Literals.
		{`1e3 == 1`, `1e3`, `is no number`, `write it out`},
		{`0x1F == 1`, `0x1F`, `is no number`, `write it out`},
		{`1u == 1`, `1u`, `is no number`, `write it out`},
		{`007 == 7`, `007`, `is no number`, `180.00`},
		{`1. == 1`, `1.`, `is no number`, `180.00`},
		{`.5 == 1`, `.`, `"." stands where a value should stand`, ``},
		{`money("250.00") > params.amount`, `money("250.00")`, `an amount names its currency`, `write money("250.00 USD")`},
		{`money(250) > params.amount`, `money(250)`, `money takes one text in quotes`, `write money("250.00 USD")`},
		{`money(params.reason) > params.amount`, `money(params.reason)`, `money takes one text in quotes`, `money(`},
		{`money("1e3 USD") > params.amount`, `money("1e3 USD")`, `exponent`, `money(`},
		{`timestamp("2026-10-15T12:00:00") > params.due`, `timestamp("2026-10-15T12:00:00")`, `names no zone`, `timestamp("2026-10-15T12:00:00Z")`},
		{`params.reason == "a`, `"a`, `the text is not closed`, `close it with "`},
		{"params.reason == \"a\nb\"", "\"a", `ends in the middle of the line`, `\n`},
		{`params.reason == "\d"`, `\d`, `is no escape`, `\\`},
		{`params.reason == "\ud800"`, `\ud800`, `is no escape`, `\\`},
		{`params.reason == "\400"`, `\4`, `is no escape`, `\\`},
		{`params.reason == """a"""`, `"""`, `three quotes`, `write texts as`},
		{`params.reason == “x”`, `“`, `means nothing here`, `straight quotes`},
		{`params.reason == b"x"`, `b`, `not known here`, ``},

		// What the full language has and this one leaves out.
		{`has(fact.amount)`, `has`, `has() is not known here`, `unknown by itself`},
		{`fact.amount == null`, `null`, `not known here`, `unknown by itself`},
		{`fact.items.map(x, x) == [1]`, `map`, `map() is not known here`, `exists and all`},
		{`fact.items.filter(x, x) == [1]`, `filter`, `filter() is not known here`, `exists and all`},
		{`fact.items.exists_one(x, x == 1)`, `exists_one`, `not known here`, `exists and all`},
		{`double(fact.amount) > 1`, `double`, `double() is not known here`, `exact decimals`},
		{`now() > params.due`, `now`, `now() is not known here`, `reads no clock`},
		{`duration("1h") > 1`, `duration`, `not known here`, "`within`"},
		{`fact.a / 2 == 1`, `/`, `"/" means nothing here`, `multiply`},
		{`fact.a % 2 == 1`, `%`, `"%" means nothing here`, `multiply`},
		{`fact.items[0] == 1`, `[`, `picked by their place`, `in, exists or all`},
		{`{"a": 1} == fact.a`, `{`, `means nothing here`, `write a list`},
		{`fact.items.size() > 1`, `size`, `size() is not known here`, `write size(`},
		{`startsWith(fact.a, "x")`, `startsWith`, `not known here`, `behind the value`},
		{`fact.a.startswith("x")`, `startswith`, `not known here`, `did you mean startsWith?`},
		{`fact.exists(x, true)`, `fact.exists`, `fact has no methods`, ``},
		{`true // yes`, `//`, `no comments`, `#`},
		{`fact.a = 1`, `=`, `means nothing here`, `write ==`},
		{`fact.a & fact.b`, `&`, `means nothing here`, `write &&`},
		{`fact.a and fact.b`, `and`, `"and" stands where an operator or the end should stand`, `write &&`},

		// Form.
		{``, ``, `the expression is empty`, `leave the key out`},
		{`1 ==`, ``, `ends where a value should stand`, ``},
		{`(fact.a == 1`, ``, `ends where ) at the end of the brackets should stand`, ``},
		{`fact.a == 1)`, `)`, `")" stands where an operator or the end should stand`, ``},
		{`[1, 2 == fact.a`, ``, `ends where ] or a comma should stand`, ``},
		{`size(fact.a,) == 1`, `)`, `")" stands where an argument should stand`, ``},
		{`fact.a == "x" "y"`, `"y"`, `a text stands where`, ``},
		{`!-fact.a`, `-`, `"-" stands where a value should stand`, ``},
		{`fact.code.matches("[")`, `"["`, `is no pattern: missing closing ]`, `RE2`},
		{`fact.code.matches(params.reason)`, `params.reason`, `matches takes a pattern in quotes`, ``},
		{`fact.code.matches("a", "b")`, `fact.code.matches("a", "b")`, `takes one text`, ``},
		{`size() > 1`, `size()`, `size takes one list or text`, ``},
		{`fact.items.exists(x)`, `)`, `exists takes a name and a condition`, `exists(item,`},
		{`fact.items.exists(1, true)`, `1`, `exists begins with a name`, `exists(item,`},
		{`fact.items.exists(fact, true)`, `fact`, `exists begins with a name`, `exists(item,`},
		{`fact.items.exists(x, fact.b.all(x, x == 1))`, `x`, `"x" already names an element`, `another name`},
		{`fact.a.all(x, fact.b.all(y, fact.c.all(z, z == y)))`, `all`, `nested deeper than 2`, `split`},

		// Bounds.
		{strings.Repeat("(", 40) + "true" + strings.Repeat(")", 40), `(`, `nested deeper than 32`, `split`},
		{strings.Repeat("!", 40) + "true", ``, `nested deeper than 32`, ``},
		{"true" + strings.Repeat(" && true", 500), ``, `more than 500 parts`, `split`},
		{"fact.n == 1" + strings.Repeat(" * 1", 9), ``, `multiplies more than 8 times`, ``},
		{strings.Repeat(" ", 4096) + "true", ``, `longer than 4096 bytes`, `split`},
		{`fact.a.matches("` + strings.Repeat("a", 201) + `")`, ``, `longer than 200 bytes`, ``},
		{"true\xff", ``, `not UTF-8`, ``},
	} {
		t.Run(c.text[:min(len(c.text), 60)], func(t *testing.T) {
			t.Parallel()
			_, err := condition.Parse(c.text, scope())
			var e *condition.Error
			if !errors.As(err, &e) {
				t.Fatalf("accepted, or refused in another way: %v", err)
			}
			if !strings.Contains(e.Message, c.message) || !strings.Contains(e.Hint, c.hint) {
				t.Errorf("the message is %q with the hint %q", e.Message, e.Hint)
			}
			if e.Offset < 0 || e.Length < 0 || e.Offset+e.Length > len(c.text) {
				t.Fatalf("the place is %d+%d of %d", e.Offset, e.Length, len(c.text))
			}
			if at := c.text[e.Offset : e.Offset+e.Length]; c.at != "" && !strings.HasPrefix(at, c.at) {
				t.Errorf("it points at %q, want %q", at, c.at)
			}
		})
	}
}

func TestWithoutAFactNoneCanBeRead(t *testing.T) {
	t.Parallel()
	s := scope()
	s.Fact = false
	_, err := condition.Parse(`fact.amount == params.amount`, s)
	var e *condition.Error
	if !errors.As(err, &e) || !strings.Contains(e.Message, "no fact") || e.Length != len("fact") {
		t.Fatalf("it is %+v", err)
	}
	if _, err := condition.Parse(`action.received_at >= action.requested_at`, s); err != nil {
		t.Fatal(err)
	}
}

func TestRefsAreListedOnceInTheOrderOfTheText(t *testing.T) {
	t.Parallel()
	e := parse(t, `fact.b == params.count && fact.a in [fact.b, params.count] || fact.items.exists(x, x == action.agent_id)`)
	var got []string
	for _, ref := range e.Refs() {
		got = append(got, ref.String())
	}
	want := []string{"fact.b", "params.count", "fact.a", "fact.items", "action.agent_id"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("they are %v, want %v", got, want)
	}
	if !e.Reads(condition.Action) || parse(t, `fact.a == 1`).Reads(condition.Params) {
		t.Error("Reads does not say what Refs does")
	}
}

func TestTheFormOfAnExpressionDoesNotDependOnBlanksAndBrackets(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`fact.a==1&&( fact.b==2 &&fact.c==3)`:        `fact.a == 1 && fact.b == 2 && fact.c == 3`,
		`(fact.a || fact.b) && fact.c`:               `(fact.a || fact.b) && fact.c`,
		`(fact.a && fact.b) || fact.c`:               `fact.a && fact.b || fact.c`,
		`!(fact.a)`:                                  `!fact.a`,
		`!(fact.a == 1)`:                             `!(fact.a == 1)`,
		`fact.a - (fact.b - fact.c) == (1)`:          `fact.a - (fact.b - fact.c) == 1`,
		`(fact.a - fact.b) - fact.c == 1`:            `fact.a - fact.b - fact.c == 1`,
		`(fact.a + fact.b) * -2 == 1`:                `(fact.a + fact.b) * -2 == 1`,
		`(fact.a ? fact.b : fact.c) ? 1 : 2`:         `(fact.a ? fact.b : fact.c) ? 1 : 2`,
		`fact.a ? 1 : (fact.b ? 2 : 3)`:              `fact.a ? 1 : fact.b ? 2 : 3`,
		`'it\'s "so"' == fact.a`:                     `"it's \"so\"" == fact.a`,
		`money('1.50 usd') == params.amount`:         `money("1.50 USD") == params.amount`,
		`fact.a in ['x' , 'y',]`:                     `fact.a in ["x", "y"]`,
		`timestamp("2026-10-15T14:00:00+02:00")`:     `timestamp("2026-10-15T12:00:00Z")`,
		`fact.items.all( x, ( x==1 ) )`:              `fact.items.all(x, x == 1)`,
		`fact.a.matches('a\\d')`:                     `fact.a.matches("a\\d")`,
		`- - 1 == --fact.a`:                          `1 == --fact.a`,
		`(fact.a == fact.b) == (fact.c == fact.d)`:   `fact.a == fact.b == (fact.c == fact.d)`,
		`size( [fact.a, 1.50] ) == 2`:                `size([fact.a, 1.50]) == 2`,
		`fact.a.startsWith(fact.b) == ("a" < "b\n")`: `fact.a.startsWith(fact.b) == ("a" < "b\n")`,
	} {
		if got := parse(t, text).Tree().String(); got != want {
			t.Errorf("%s is written %s, want %s", text, got, want)
		}
		if again := parse(t, want).Tree().String(); again != want {
			t.Errorf("%s is written %s when read again", want, again)
		}
	}
}

func TestNodesSayWhereTheyStandAndWhatKindTheyAre(t *testing.T) {
	t.Parallel()
	text := `fact.x == 1 && params.amount * 2 > money("1 USD")`
	e := parse(t, text)
	product := e.Tree().Args[1].Args[0]
	if got := text[product.Offset : product.Offset+product.Length]; got != "params.amount * 2" {
		t.Errorf("the product stands at %q", got)
	}
	if product.Op != condition.Multiply || product.Kind != value.Money {
		t.Errorf("it is %v of kind %v", product.Op, product.Kind)
	}
	if kind := e.Tree().Args[0].Args[0].Kind; kind != value.Missing {
		t.Errorf("the kind of a fact's attribute is %v before there is a fact", kind)
	}
	if e.Kind() != value.Bool || e.String() != text {
		t.Errorf("the whole is %v: %s", e.Kind(), e)
	}
}

func TestAnActionsAttributesAndAFactsOwnFieldsHaveTheirKinds(t *testing.T) {
	t.Parallel()
	for name, kind := range condition.ActionKinds() {
		if got := parse(t, "action."+name).Kind(); got != kind {
			t.Errorf("action.%s is %v, want %v", name, got, kind)
		}
	}
	for name, kind := range condition.FactKinds() {
		if got := parse(t, "fact."+name).Kind(); got != kind {
			t.Errorf("fact.%s is %v, want %v", name, got, kind)
		}
	}
	if _, err := condition.Parse(`fact.occurred_at > 5`, scope()); err == nil {
		t.Error("a time of a fact was compared with a number")
	}
}
