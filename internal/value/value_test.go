package value_test

import (
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	shop "github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

func number(text string) value.Value { return value.OfDecimal(shop.RequireFromString(text)) }

func amount(text string) value.Value {
	a, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return value.OfMoney(a)
}

func moment(text string) value.Value {
	i, err := value.ParseInstant(text)
	if err != nil {
		panic(err)
	}
	return value.OfTime(i)
}

var (
	missing value.Value
	text    = value.OfString
)

func TestTwoValuesCompareAs(t *testing.T) {
	t.Parallel()
	usd, noon := value.OfCurrency("USD"), moment("2026-10-15T12:00:00Z")
	one, two := number("1"), number("2")
	for name, c := range map[string]struct {
		a, b value.Value
		want value.Relation
	}{
		"numbers with other decimals":         {number("1.0"), number("1.00"), value.Equal},
		"numbers beyond 53 bits":              {number("9007199254740993"), number("9007199254740992"), value.Greater},
		"a negative number":                   {number("-1"), one, value.Less},
		"texts by their bytes":                {text("a"), text("b"), value.Less},
		"texts in another case":               {text("a"), text("A"), value.Greater},
		"booleans":                            {value.OfBool(true), value.OfBool(false), value.Unordered},
		"one boolean":                         {value.OfBool(true), value.OfBool(true), value.Equal},
		"nothing and something":               {missing, one, value.OneMissing},
		"something and nothing":               {one, missing, value.OneMissing},
		"nothing and nothing":                 {missing, missing, value.OneMissing},
		"a text and a number":                 {text("1"), one, value.NotComparable},
		"a number and a boolean":              {one, value.OfBool(true), value.NotComparable},
		"amounts":                             {amount("180.00 USD"), amount("180 usd"), value.Equal},
		"amounts of two currencies":           {amount("1 USD"), amount("1 EUR"), value.CurrencyDiffers},
		"an amount and a number":              {amount("1 USD"), one, value.NotComparable},
		"currencies":                          {usd, value.OfCurrency("EUR"), value.Unordered},
		"a currency and its code in small":    {usd, text("usd"), value.Equal},
		"a code in small and its currency":    {text("usd"), usd, value.Equal},
		"a currency and another's code":       {usd, text("eur"), value.Unordered},
		"a currency and no code":              {usd, text("dollars"), value.Unordered},
		"a currency and letters that fold":    {usd, text("uſd"), value.Unordered},
		"times":                               {noon, moment("2026-10-15T12:00:00.000001Z"), value.Less},
		"a time and its text elsewhere":       {noon, text("2026-10-15T14:00:00+02:00"), value.Equal},
		"a text of a time and a later one":    {text("2026-10-15T11:00:00Z"), noon, value.Less},
		"a time and a text without a zone":    {noon, text("2026-10-15T12:00:00"), value.NotComparable},
		"lists":                               {value.OfList([]value.Value{one, two}), value.OfList([]value.Value{number("1.0"), two}), value.Equal},
		"lists of two lengths":                {value.OfList([]value.Value{one}), value.OfList([]value.Value{one, two}), value.Unordered},
		"lists with a hole":                   {value.OfList([]value.Value{one, missing}), value.OfList([]value.Value{one, two}), value.OneMissing},
		"lists with a hole that differ":       {value.OfList([]value.Value{missing, one}), value.OfList([]value.Value{one, two}), value.Unordered},
		"lists whose elements have no answer": {value.OfList([]value.Value{amount("1 USD")}), value.OfList([]value.Value{amount("1 EUR")}), value.CurrencyDiffers},
	} {
		if got := value.Compare(c.a, c.b); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// A relation seen from the other side is its mirror.
func TestComparingTheOtherWayRoundIsTheMirror(t *testing.T) {
	t.Parallel()
	values := []value.Value{
		missing, value.OfBool(true), value.OfBool(false), text("a"), text("usd"), text("2026-10-15T12:00:00Z"), number("1"), number("2.50"),
		amount("1 USD"), amount("2 USD"), amount("1 EUR"), value.OfCurrency("USD"), value.OfCurrency("EUR"), moment("2026-10-15T12:00:00Z"),
		value.OfList(nil), value.OfList([]value.Value{missing}), value.OfList([]value.Value{number("1")}),
	}
	mirror := map[value.Relation]value.Relation{value.Less: value.Greater, value.Greater: value.Less}
	for _, a := range values {
		for _, b := range values {
			want := value.Compare(a, b)
			if m, ok := mirror[want]; ok {
				want = m
			}
			if got := value.Compare(b, a); got != want {
				t.Errorf("%+v and %+v: %v, and the other way round %v", a, b, value.Compare(a, b), got)
			}
		}
	}
}

func TestAnInstantIsReadAsRFC3339SaysAndNamesItsZone(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"2026-10-15T12:00:00Z":             "2026-10-15T12:00:00Z",
		"2026-10-15T14:00:00+02:00":        "2026-10-15T12:00:00Z",
		"2026-10-15T12:00:00.1234567Z":     "2026-10-15T12:00:00.123456Z",
		"2026-12-31T23:59:60Z":             "2026-12-31T23:59:59.999999Z",
		"2026-12-31T23:59:60.5Z":           "2026-12-31T23:59:59.999999Z",
		"2027-01-01T05:29:60+05:30":        "2026-12-31T23:59:59.999999Z",
		"1971-01-01T00:00:00Z":             "1971-01-01T00:00:00Z",
		"9998-12-31T23:59:59.999999Z":      "9998-12-31T23:59:59.999999Z",
		"2024-02-29T00:00:00.000000-00:00": "2024-02-29T00:00:00Z",
	} {
		if got, err := value.ParseInstant(given); err != nil || got.String() != want {
			t.Errorf("%s is %s with the error %v, want %s", given, got, err, want)
		}
	}
	for given, why := range map[string]string{
		"2026-10-15T12:00:00": "names no zone", "2026-10-15 12:00:00": "names no zone",
		"": "is no time", "now": "is no time", "2026-10-15": "is no time", "2026-10-15 12:00:00Z": "is no time",
		"2026-10-15T1:00:00Z": "is no time", "2026-10-15T12:00:00,5Z": "is no time", "2026-02-30T12:00:00Z": "is no time",
		"2026-10-15T25:00:00Z": "is no time", "2026-10-15T12:00:61Z": "is no time", "2026-10-15T12:00Z": "is no time",
		"2026-10-15T12:30:60Z": "a leap second is the last of a day", "2026-10-15T12:00:00+99:00": "is no time",
		"1970-12-31T23:59:59Z": "outside the years", "9999-01-01T00:00:00Z": "outside the years", "0000-01-01T00:00:00Z": "outside the years",
	} {
		if got, err := value.ParseInstant(given); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q is %s with the error %v, want one that says %q", given, got, err, why)
		}
	}
}

func TestAnInstantIsCutToTheStartOfItsUnit(t *testing.T) {
	t.Parallel()
	i := moment("2026-10-15T12:34:56.789012Z").Instant()
	for unit, want := range map[time.Duration]string{
		time.Microsecond: "2026-10-15T12:34:56.789012Z", time.Millisecond: "2026-10-15T12:34:56.789Z",
		time.Second: "2026-10-15T12:34:56Z", time.Minute: "2026-10-15T12:34:00Z", 24 * time.Hour: "2026-10-15T00:00:00Z", 0: "2026-10-15T12:34:56.789012Z",
	} {
		if got := i.Cut(unit); got.String() != want {
			t.Errorf("cut to %v it is %s, want %s", unit, got, want)
		}
	}
	if got := value.Instant(-1).Cut(time.Second); got != -value.Second {
		t.Errorf("a microsecond before 1970 is cut to %d", got)
	}
	if got := i.Add(90 * time.Second).Sub(i); got != 90*time.Second {
		t.Errorf("90 seconds later is %v later", got)
	}
}

func TestAValueIsReadFromJSON(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]value.Value{
		`true`: value.OfBool(true), `"x"`: text("x"), `180.0`: number("180"), `12345678901234567890.1`: number("12345678901234567890.1"),
		`{"amount":"180.00","currency":"usd"}`: amount("180 USD"), `{"currency":"USD","amount":180}`: amount("180 USD"),
		`{"time":"2026-10-15T14:00:00+02:00"}`: moment("2026-10-15T12:00:00Z"), `[1,"a",[true]]`: value.OfList([]value.Value{number("1"), text("a"), value.OfList([]value.Value{value.OfBool(true)})}),
	} {
		var got value.Value
		if err := json.Unmarshal([]byte(given), &got); err != nil || value.Compare(got, want) != value.Equal {
			t.Errorf("%s is %+v with the error %v", given, got, err)
		}
	}
	var null value.Value
	if err := json.Unmarshal([]byte(`null`), &null); err != nil || !null.IsMissing() {
		t.Errorf("null is %+v with the error %v", null, err)
	}
	for _, given := range []string{
		`{}`, `{"amount":"1"}`, `{"amount":"1","currency":"US"}`, `{"amount":"x","currency":"USD"}`, `{"amount":"1","currency":"USD","more":"x"}`,
		`{"time":1}`, `{"time":"2026-10-15T12:00:00"}`, `{"a":{"b":1}}`, `{"amount":"1","amount":"2","currency":"USD"}`, `1e999`, `[[[[[[[[[[1]]]]]]]]]]`, `[`,
	} {
		var got value.Value
		if err := json.Unmarshal([]byte(given), &got); err == nil {
			t.Errorf("%s was read as %+v", given, got)
		}
	}
}

func TestAValueWrittenAsJSONIsReadAsTheSame(t *testing.T) {
	t.Parallel()
	scalar := rapid.OneOf(
		rapid.Just(value.Value{}), rapid.Map(rapid.Bool(), value.OfBool), rapid.Map(rapid.String(), func(s string) value.Value { return text(strings.ToValidUTF8(s, "")) }),
		rapid.Custom(func(t *rapid.T) value.Value {
			return value.OfDecimal(shop.New(rapid.Int64().Draw(t, "coefficient"), rapid.Int32Range(-30, 30).Draw(t, "exponent")))
		}),
		rapid.Custom(func(t *rapid.T) value.Value {
			return value.OfMoney(money.Amount{Value: shop.New(rapid.Int64().Draw(t, "units"), -2), Currency: "EUR"})
		}),
		rapid.Custom(func(t *rapid.T) value.Value {
			return value.OfTime(value.Instant(rapid.Int64Range(31536000e6, 253370764800e6-1).Draw(t, "instant")))
		}),
	)
	rapid.Check(t, func(t *rapid.T) {
		v := scalar.Draw(t, "value")
		if rapid.Bool().Draw(t, "in a list") {
			v = value.OfList(rapid.SliceOfN(scalar, 0, 4).Draw(t, "elements"))
		}
		written, err := v.AppendJSON(nil)
		if err != nil {
			t.Fatal(err)
		}
		var again value.Value
		if err := json.Unmarshal(written, &again); err != nil {
			t.Fatalf("%s cannot be read: %v", written, err)
		}
		if !value.Same(v, again) {
			t.Fatalf("%+v is written %s and read as %+v", v, written, again)
		}
		twice, err := again.AppendJSON(nil)
		if err != nil || string(twice) != string(written) {
			t.Fatalf("%s is written %s the second time, with the error %v", written, twice, err)
		}
	})
}

func TestAListIsNotChangedThroughWhatItWasMadeOf(t *testing.T) {
	t.Parallel()
	elements := []value.Value{number("1")}
	v := value.OfList(elements)
	elements[0] = number("2")
	if value.Compare(v.List()[0], number("1")) != value.Equal {
		t.Error("the list changed")
	}
}

func TestOnlyTheAccessorOfItsKindGivesAValue(t *testing.T) {
	t.Parallel()
	v := amount("1 USD")
	if v.Text() != "" || !v.Decimal().IsZero() || v.Bool() || v.List() != nil || v.Instant() != 0 {
		t.Errorf("an amount is also %q, %v", v.Text(), v.Decimal())
	}
	if a := number("1").Amount(); a.Currency != "" || !a.IsZero() {
		t.Errorf("a number is the amount %s", a)
	}
	if got := value.OfCurrency("USD").Text(); got != "USD" {
		t.Errorf("the code of a currency is %q", got)
	}
}
