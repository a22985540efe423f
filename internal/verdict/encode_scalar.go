package verdict

import (
	"slices"
	"strconv"
	"time"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// member begins a member of an object; name is quoted and ends with its colon.
func member(b []byte, name string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(b, name...)
}

// element begins an element of a list.
func element(b []byte) []byte {
	if b[len(b)-1] != '[' {
		b = append(b, ',')
	}
	return b
}

// appendText writes s with the fewest escapes. Nearly every text of a case is
// printable ASCII, which needs none.
func appendText[T ~string](b []byte, s T) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' {
			return value.AppendString(b, string(s))
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func optionalText[T ~string](b []byte, name string, s T) []byte {
	if s == "" {
		return b
	}
	return appendText(member(b, name), s)
}

func appendTexts[T ~string](b []byte, list []T) []byte {
	b = append(b, '[')
	for _, s := range list {
		b = appendText(element(b), s)
	}
	return append(b, ']')
}

// appendInstant writes no time as an empty text.
func appendInstant(b []byte, i value.Instant) []byte {
	if i == 0 {
		return append(b, `""`...)
	}
	return appendMoment(b, i)
}

func appendMoment(b []byte, i value.Instant) []byte {
	b = append(b, '"')
	b = i.Time().AppendFormat(b, time.RFC3339Nano)
	return append(b, '"')
}

func optionalInstant(b []byte, name string, i value.Instant) []byte {
	if i == 0 {
		return b
	}
	return appendMoment(member(b, name), i)
}

func optionalInt[T ~int | ~int64](b []byte, name string, n T) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(member(b, name), int64(n), 10)
}

// appendDecimal writes what [money.Text] does, without its cost for the
// numbers that occur.
func appendDecimal(b []byte, d money.Decimal) []byte {
	const mostDigits = 18 // that an int64 holds, whatever they are
	places := -int(d.Exponent())
	if places < 0 || places > mostDigits || d.NumDigits() > mostDigits {
		return append(b, money.Text(d)...)
	}
	n := d.CoefficientInt64()
	if n < 0 {
		b = append(b, '-')
		n = -n
	}
	var room [mostDigits + 1]byte
	digits := strconv.AppendInt(room[:0], n, 10)
	if places == 0 {
		return append(b, digits...)
	}
	whole := len(digits) - places
	if whole <= 0 {
		b = append(b, "0."...)
		for ; whole < 0; whole++ {
			b = append(b, '0')
		}
		return append(b, digits...)
	}
	b = append(b, digits[:whole]...)
	b = append(b, '.')
	return append(b, digits[whole:]...)
}

func appendAmount(b []byte, a money.Amount) []byte {
	b = append(b, `{"amount":"`...)
	b = appendDecimal(b, a.Value)
	b = append(b, `","currency":`...)
	b = appendText(b, a.Currency)
	return append(b, '}')
}

func appendValue(b []byte, v value.Value) []byte {
	switch v.Kind() {
	case value.String, value.Currency:
		return appendText(b, v.Text())
	case value.Decimal:
		return appendDecimal(b, v.Decimal())
	case value.Money:
		return appendAmount(b, v.Amount())
	case value.List:
		b = append(b, '[')
		for _, e := range v.List() {
			b = appendValue(element(b), e)
		}
		return append(b, ']')
	}
	b, _ = v.AppendJSON(b) // has no error for what is no list
	return b
}

// appendResolution writes a duration in the coarsest of s, ms, us and ns that
// gives a whole number.
func appendResolution(b []byte, r evidence.Resolution) []byte {
	d := time.Duration(r)
	unit, name := time.Nanosecond, "ns"
	switch {
	case d%time.Second == 0:
		unit, name = time.Second, "s"
	case d%time.Millisecond == 0:
		unit, name = time.Millisecond, "ms"
	case d%time.Microsecond == 0:
		unit, name = time.Microsecond, "us"
	}
	b = append(b, '"')
	b = strconv.AppendInt(b, int64(d/unit), 10)
	b = append(b, name...)
	return append(b, '"')
}

// mapRoom is how many names of a map are sorted without asking for memory.
const mapRoom = 16

func optionalValues(b []byte, name string, m map[string]value.Value) []byte {
	if len(m) == 0 {
		return b
	}
	var room [mapRoom]string
	b = append(member(b, name), '{')
	for _, key := range sortedKeys(room[:0], m) {
		b = appendValue(appendKey(b, key), m[key])
	}
	return append(b, '}')
}

func optionalRefs(b []byte, name string, m map[string]string) []byte {
	if len(m) == 0 {
		return b
	}
	var room [mapRoom]string
	b = append(member(b, name), '{')
	for _, key := range sortedKeys(room[:0], m) {
		b = appendText(appendKey(b, key), m[key])
	}
	return append(b, '}')
}

func optionalInstants(b []byte, name string, m map[string]value.Instant) []byte {
	if len(m) == 0 {
		return b
	}
	var room [mapRoom]string
	b = append(member(b, name), '{')
	for _, key := range sortedKeys(room[:0], m) {
		b = appendInstant(appendKey(b, key), m[key])
	}
	return append(b, '}')
}

func appendKey(b []byte, key string) []byte {
	if b[len(b)-1] != '{' {
		b = append(b, ',')
	}
	return append(appendText(b, key), ':')
}

func sortedKeys[V any](keys []string, m map[string]V) []string {
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}
