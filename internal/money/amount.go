package money

import (
	"errors"
	"fmt"
	"strings"
)

// Currency is a currency's code in capitals: three letters of ISO 4217, or what
// an exchange calls a coin, such as USDC.
type Currency string

// ErrNotCurrency says that a text is no currency code.
var ErrNotCurrency = errors.New("not a currency code")

// ParseCurrency reads a code of 3 to 10 letters and digits that begins with a
// letter, in any case.
func ParseCurrency(code string) (Currency, error) {
	if len(code) < 3 || len(code) > 10 {
		return "", fmt.Errorf("%w: %q", ErrNotCurrency, clip(code))
	}
	// The letters are checked before they become capitals: some that are not
	// ASCII become one that is.
	for i := range len(code) {
		c := code[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (i == 0 || c < '0' || c > '9') {
			return "", fmt.Errorf("%w: %q", ErrNotCurrency, clip(code))
		}
	}
	return Currency(strings.ToUpper(code)), nil
}

// Amount is an exact amount of one currency. The zero value, which has no
// currency, is no amount; see [Amount.IsZero] for an amount of nothing.
type Amount struct {
	Value    Decimal
	Currency Currency
}

// Parse reads an amount as people write it in a contract: "250.00 USD".
func Parse(text string) (Amount, error) {
	number, code, ok := strings.Cut(strings.TrimSpace(text), " ")
	if !ok {
		return Amount{}, fmt.Errorf(`an amount names its currency, as in "250.00 USD": %q`, clip(text))
	}
	value, err := ParseDecimal(number)
	if err != nil {
		return Amount{}, err
	}
	currency, err := ParseCurrency(strings.TrimSpace(code))
	if err != nil {
		return Amount{}, err
	}
	return Amount{Value: value, Currency: currency}, nil
}

// ParseLiteral reads an amount that a person wrote down for good, more
// strictly than [Parse]: without an exponent, and with a code in capitals
// unless ISO 4217 lists it, so that "250 dollars" is none.
func ParseLiteral(text string) (Amount, error) {
	a, err := Parse(text)
	if err != nil {
		return Amount{}, err
	}
	parts := strings.Fields(text)
	if strings.ContainsAny(parts[0], "eE") {
		return Amount{}, fmt.Errorf("an amount is written without an exponent: %q", clip(text))
	}
	if code := parts[len(parts)-1]; code != string(a.Currency) && !Listed(a.Currency) {
		return Amount{}, fmt.Errorf("%w: %q", ErrNotCurrency, clip(code))
	}
	return a, nil
}

// FromMinor makes an amount of a number of the currency's smallest units, as
// ISO 4217 counts them: 18000 in USD is 180.00 USD, in JPY 18000 JPY. It has no
// answer for a currency whose decimals that standard does not give.
func FromMinor(units Decimal, currency Currency) (Amount, error) {
	digits, ok := minorDigits(currency)
	if !ok {
		return Amount{}, fmt.Errorf("ISO 4217 gives no smallest unit for %s", currency)
	}
	return Amount{Value: units.Shift(-int32(digits)), Currency: currency}, nil
}

// Compare says whether a is below (-1), equal to (0) or above (1) b. It has no
// answer (false) for two currencies, nor for an amount that names none.
func (a Amount) Compare(b Amount) (int, bool) {
	if a.Currency != b.Currency || a.Currency == "" {
		return 0, false
	}
	return Compare(a.Value, b.Value), true
}

// Add has no answer (false) for two currencies, nor for an amount that names
// none.
func (a Amount) Add(b Amount) (Amount, bool) {
	if a.Currency != b.Currency || a.Currency == "" {
		return Amount{}, false
	}
	return Amount{Value: a.Value.Add(b.Value), Currency: a.Currency}, true
}

// Sub has no answer where [Amount.Add] has none.
func (a Amount) Sub(b Amount) (Amount, bool) {
	return a.Add(Amount{Value: b.Value.Neg(), Currency: b.Currency})
}

// IsZero reports an amount of nothing, in whatever currency.
func (a Amount) IsZero() bool { return a.Value.IsZero() }

// String writes the amount as [Parse] reads it.
func (a Amount) String() string { return Text(a.Value) + " " + string(a.Currency) }

// Text writes a decimal without an exponent and with the decimals it was given.
func Text(d Decimal) string {
	if places := d.Exponent(); places < 0 {
		return d.StringFixed(-places)
	}
	return d.String()
}
