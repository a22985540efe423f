package value

import (
	"strings"

	"github.com/deed-dev/deed/internal/money"
)

// Relation is how one value stands to another. Where it is not known, it says
// why, so that a verdict can.
type Relation uint8

// Unordered means that the values differ and have no order, such as two
// booleans. The relations after it are no answer: a value is not there, the two
// are amounts of different currencies, or they are of kinds that cannot be
// compared, such as the text "10" and the number 10.
const (
	Less Relation = iota
	Equal
	Greater
	Unordered
	OneMissing
	CurrencyDiffers
	NotComparable
)

// Known reports whether the relation is an answer.
func (r Relation) Known() bool { return r <= Unordered }

// Compare says how a stands to b. Currency codes ignore case, and a text is
// read as a currency or a time where it is compared with one.
func Compare(a, b Value) Relation {
	if a.kind == Missing || b.kind == Missing {
		return OneMissing
	}
	if a.kind != b.kind {
		if a.kind == String {
			return compareText(a.text, b, false)
		}
		if b.kind == String {
			return compareText(b.text, a, true)
		}
		return NotComparable
	}
	switch a.kind {
	case Bool:
		if a.bool == b.bool {
			return Equal
		}
		return Unordered
	case String, Currency:
		return order(strings.Compare(a.text, b.text), a.kind == String)
	case Decimal:
		return order(money.Compare(a.decimal, b.decimal), true)
	case Time:
		switch {
		case a.instant < b.instant:
			return Less
		case a.instant > b.instant:
			return Greater
		}
		return Equal
	case Money:
		n, ok := a.Amount().Compare(b.Amount())
		if !ok {
			return CurrencyDiffers
		}
		return order(n, true)
	case List:
		return compareLists(a.list, b.list)
	}
	return NotComparable
}

// compareText compares a text with a value of another kind; swapped says that
// the value is the left one.
func compareText(text string, v Value, swapped bool) Relation {
	var other Value
	switch v.kind {
	case Currency:
		// Codes are ASCII, and no other letter of the same length folds to one.
		if len(text) == len(v.text) && strings.EqualFold(text, v.text) {
			return Equal
		}
		return Unordered // whatever it is, it is not that currency
	case Time:
		t, err := ParseInstant(text)
		if err != nil {
			return NotComparable
		}
		other = OfTime(t)
	default:
		return NotComparable
	}
	if swapped {
		return Compare(v, other)
	}
	return Compare(other, v)
}

// compareLists finds lists equal whose elements all are. One element without an
// answer leaves the whole without one, unless another differs for certain.
func compareLists(a, b []Value) Relation {
	if len(a) != len(b) {
		return Unordered
	}
	relation := Equal
	for i := range a {
		switch r := Compare(a[i], b[i]); {
		case r == Equal:
		case r.Known():
			return Unordered
		case relation == Equal:
			relation = r
		}
	}
	return relation
}

func order(n int, ordered bool) Relation {
	switch {
	case n == 0:
		return Equal
	case !ordered:
		return Unordered
	case n < 0:
		return Less
	}
	return Greater
}
