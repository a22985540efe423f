package money_test

import (
	"errors"
	"strings"
	"testing"

	shop "github.com/shopspring/decimal"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/money"
)

func decimal(t interface{ Fatal(...any) }, text string) money.Decimal {
	d, err := money.ParseDecimal(text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestADecimalIsReadAsJSONWritesNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0", "180": "180", "180.00": "180.00", "-0.5": "-0.5", "1.8e2": "180", "18E-1": "1.8",
		"12345678901234567890.123456789": "12345678901234567890.123456789", "1e+3": "1000", "0.10": "0.10",
	} {
		if got := money.Text(decimal(t, text)); got != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
}

func TestWhatIsNoNumberInJSONIsNoDecimal(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "-", "+1", "01", "-01", "1.", ".5", "1e", "1e+", "0x10", "1_000", "1,000", " 1", "1 ", "١", "NaN", "Infinity", "1.2.3", "--1", "1e1.5",
	} {
		if d, err := money.ParseDecimal(text); !errors.Is(err, money.ErrNotDecimal) {
			t.Errorf("%q is %v with the error %v", text, d, err)
		}
	}
}

// A few bytes must not become megabytes of digits.
func TestANumberThatWouldTakeMuchRoomIsRefused(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"1e500", "1e-500", "1e99999999999", "1e-99999999999", strings.Repeat("7", 501)} {
		if _, err := money.ParseDecimal(text); err == nil {
			t.Errorf("%q was read", text)
		}
	}
	for _, text := range []string{"1e499", "1e-499", strings.Repeat("7", 500)} {
		if _, err := money.ParseDecimal(money.Text(decimal(t, text))); err != nil {
			t.Errorf("%s cannot be read as it is written: %v", text, err)
		}
	}
}

func TestACurrencyIsACodeInAnyCase(t *testing.T) {
	t.Parallel()
	for code, want := range map[string]money.Currency{"USD": "USD", "usd": "USD", "Eur": "EUR", "usdc": "USDC", "A1B2": "A1B2"} {
		if got, err := money.ParseCurrency(code); err != nil || got != want {
			t.Errorf("%s is %s with the error %v, want %s", code, got, err, want)
		}
	}
	for _, code := range []string{"", "US", "$", "1ST", "U D", "US$", "ABCDEFGHIJK", "USD ", "Uſd", "ıQD", "£££", "@AB", "[AB", "{ab", "`ab"} {
		if got, err := money.ParseCurrency(code); !errors.Is(err, money.ErrNotCurrency) {
			t.Errorf("%q is %q with the error %v", code, got, err)
		}
	}
}

func TestAnAmountIsReadAsPeopleWriteIt(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"250.00 USD": "250.00 USD", " 250 usd ": "250 USD", "-1.5  EUR": "-1.5 EUR", "0 JPY": "0 JPY",
	} {
		a, err := money.Parse(text)
		if err != nil || a.String() != want {
			t.Errorf("%q is %s with the error %v, want %s", text, a, err, want)
		}
		if again, err := money.Parse(a.String()); err != nil || again.String() != a.String() {
			t.Errorf("%s is %s when read again, with the error %v", a, again, err)
		}
	}
	for _, text := range []string{"", "250.00", "USD", "USD 250", "250 $", "250,00 USD", "250 USD EUR", "1 000 USD", "250.00USD"} {
		if a, err := money.Parse(text); err == nil {
			t.Errorf("%q is %s", text, a)
		}
	}
}

func TestAnAmountThatStandsForGoodIsReadMoreStrictly(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"250.00 USD", "250 usd", "0.5 USDC", "-1 EUR"} {
		if _, err := money.ParseLiteral(text); err != nil {
			t.Error(err)
		}
	}
	for _, text := range []string{"250 dollars", "1e3 USD", "1E3 USD", "250", "1 usdc", "USD"} {
		if a, err := money.ParseLiteral(text); err == nil {
			t.Errorf("%q is %s", text, a)
		}
	}
}

func TestAmountsOfTwoCurrenciesHaveNeitherOrderNorSum(t *testing.T) {
	t.Parallel()
	dollar := money.Amount{Value: decimal(t, "1"), Currency: "USD"}
	euro := money.Amount{Value: decimal(t, "1"), Currency: "EUR"}
	nothing := money.Amount{Value: decimal(t, "1")}
	for _, pair := range [][2]money.Amount{{dollar, euro}, {euro, dollar}, {nothing, nothing}, {dollar, nothing}} {
		if _, ok := pair[0].Compare(pair[1]); ok {
			t.Errorf("%s and %s were compared", pair[0], pair[1])
		}
		if _, ok := pair[0].Add(pair[1]); ok {
			t.Errorf("%s and %s were added", pair[0], pair[1])
		}
		if _, ok := pair[0].Sub(pair[1]); ok {
			t.Errorf("%s and %s were subtracted", pair[0], pair[1])
		}
	}
	if n, ok := dollar.Compare(money.Amount{Value: decimal(t, "1.00"), Currency: "USD"}); !ok || n != 0 {
		t.Errorf("1 USD and 1.00 USD compare as %d, %v", n, ok)
	}
	sum, ok := dollar.Add(money.Amount{Value: decimal(t, "0.10"), Currency: "USD"})
	if !ok || sum.String() != "1.10 USD" {
		t.Errorf("1 USD and 0.10 USD are %s", sum)
	}
	rest, ok := dollar.Sub(dollar)
	if !ok || !rest.IsZero() {
		t.Errorf("1 USD less 1 USD is %s", rest)
	}
}

// The decimals are those of ISO 4217, table A.1.
func TestTheSmallestUnitIsThatOfTheCurrency(t *testing.T) {
	t.Parallel()
	for code, want := range map[money.Currency]string{
		"USD": "180.00 USD", "EUR": "180.00 EUR", "JPY": "18000 JPY", "KRW": "18000 KRW", "KWD": "18.000 KWD", "CLF": "1.8000 CLF",
	} {
		if a, err := money.FromMinor(decimal(t, "18000"), code); err != nil || a.String() != want {
			t.Errorf("18000 of %s is %s with the error %v, want %s", code, a, err, want)
		}
	}
	for _, code := range []money.Currency{"USDC", "XAU", "ZZZ", ""} {
		if a, err := money.FromMinor(decimal(t, "1"), code); err == nil {
			t.Errorf("the smallest unit of %q is %s", code, a)
		}
	}
}

func whole(n int64) money.Decimal { return shop.NewFromInt(n) }

func TestComparingIsThatOfTheNumbersHoweverTheyAreWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) money.Decimal {
			coefficient := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-2000, 2000)).Draw(t, name)
			return whole(coefficient).Shift(rapid.Int32Range(-25, 25).Draw(t, "shift of "+name))
		}
		a, b := draw("a"), draw("b")
		if got, want := money.Compare(a, b), a.Sub(b).Sign(); got != want {
			t.Fatalf("%s and %s compare as %d, want %d", a, b, got, want)
		}
		same := a.Mul(whole(1000)).Shift(-3) // the same number with other decimals
		if money.Compare(a, same) != 0 || money.Compare(same, a) != 0 {
			t.Fatalf("%s and %s differ", a, same)
		}
	})
}
