package money

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"github.com/shopspring/decimal"
)

// Decimal is an exact decimal number. Its zero value is 0.
type Decimal = decimal.Decimal

// maxDigits that a decimal may take to be written out. One that takes more is
// no amount of anything, but costs memory. Digits that an exponent stands for
// count too, so that whatever was read is read again as [Text] writes it.
const maxDigits = 500

// ErrNotDecimal says that a text is not a decimal number as JSON writes one.
var ErrNotDecimal = errors.New("not a decimal number")

// ParseDecimal reads a decimal number in the form that JSON gives numbers,
// without rounding: "180", "180.00", "-0.5", "1.8e2". It refuses anything
// else, signs with a plus and leading zeros included, so that one number does
// not pass in one place and fail in another.
func ParseDecimal(text string) (Decimal, error) {
	digits, exponent, ok := scanNumber(text)
	if !ok {
		return Decimal{}, fmt.Errorf("%w: %q", ErrNotDecimal, clip(text))
	}
	if digits+exponent > maxDigits {
		return Decimal{}, fmt.Errorf("a decimal number that takes more than %d digits to write out: %q", maxDigits, clip(text))
	}
	d, err := decimal.NewFromString(text)
	if err != nil {
		return Decimal{}, fmt.Errorf("%w: %q", ErrNotDecimal, clip(text))
	}
	return d, nil
}

// Compare says whether a is below (-1), equal to (0) or above (1) b.
func Compare(a, b Decimal) int {
	more := int(a.Exponent()) - int(b.Exponent())
	switch {
	case more == 0:
	case more > 0 && more < len(powers) && a.NumDigits() < 18-more && b.NumDigits() < 18:
		return cmp.Compare(a.CoefficientInt64()*powers[more], b.CoefficientInt64())
	case more < 0 && -more < len(powers) && b.NumDigits() < 18+more && a.NumDigits() < 18:
		return cmp.Compare(a.CoefficientInt64(), b.CoefficientInt64()*powers[-more])
	}
	return a.Cmp(b)
}

// powers of ten, for the usual case: 180 and 180.00 are compared without
// allocating a number for it.
var powers = [...]int64{1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000, 1_000_000_000}

// scanNumber says how many digits a JSON number has and how large its exponent
// is without its sign; an exponent of more than four digits counts as 9999.
func scanNumber(s string) (digits, exponent int, ok bool) {
	i := 0
	run := func() int {
		start := i
		for i < len(s) && s[i] >= '0' && s[i] <= '9' {
			i++
		}
		return i - start
	}
	if i < len(s) && s[i] == '-' {
		i++
	}
	leadingZero := i < len(s) && s[i] == '0'
	n := run()
	if n == 0 || leadingZero && n > 1 {
		return 0, 0, false
	}
	digits = n
	if i < len(s) && s[i] == '.' {
		i++
		n := run()
		if n == 0 {
			return 0, 0, false
		}
		digits += n
	}
	if i < len(s) && (s[i] == 'e' || s[i] == 'E') {
		i++
		if i < len(s) && (s[i] == '+' || s[i] == '-') {
			i++
		}
		start := i
		n := run()
		if n == 0 {
			return 0, 0, false
		}
		if n > 4 {
			exponent = 9999
		} else {
			for _, c := range s[start:i] {
				exponent = exponent*10 + int(c-'0')
			}
		}
	}
	return digits, exponent, i == len(s)
}

// clip keeps a text that stands in an error short.
func clip(text string) string {
	if len(text) > 40 {
		return strings.ToValidUTF8(text[:40], "") + "…"
	}
	return text
}
