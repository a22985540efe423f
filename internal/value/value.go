package value

import (
	"slices"

	"github.com/deed-dev/deed/internal/money"
)

// Kind is what a value is.
type Kind uint8

// The kinds of values. Missing is the zero value of a [Value].
const (
	Missing Kind = iota
	Bool
	String
	Decimal
	Money
	Currency
	Time
	List
)

// Kinds spelled as contracts and errors spell them.
var kindNames = [...]string{"missing", "boolean", "string", "decimal", "money", "currency", "timestamp", "list"}

func (k Kind) String() string { return kindNames[k] }

// Value is one immutable value. Values are compared with [Equal] and
// [Compare], never with ==, since 1.0 and 1.00 are one number.
type Value struct {
	kind    Kind
	bool    bool
	text    string // of a string; of a currency its code
	decimal money.Decimal
	instant Instant
	list    []Value
}

// OfBool, OfString, … make values.
func OfBool(b bool) Value               { return Value{kind: Bool, bool: b} }
func OfString(s string) Value           { return Value{kind: String, text: s} }
func OfDecimal(d money.Decimal) Value   { return Value{kind: Decimal, decimal: d} }
func OfCurrency(c money.Currency) Value { return Value{kind: Currency, text: string(c)} }
func OfTime(i Instant) Value            { return Value{kind: Time, instant: i} }
func OfList(elements []Value) Value     { return Value{kind: List, list: slices.Clone(elements)} }
func OfMoney(a money.Amount) Value {
	return Value{kind: Money, decimal: a.Value, text: string(a.Currency)}
}

// Kind says what the value is.
func (v Value) Kind() Kind { return v.kind }

// IsMissing reports a value that is not there.
func (v Value) IsMissing() bool { return v.kind == Missing }

// Bool is the value of a boolean, and false for anything else.
func (v Value) Bool() bool { return v.bool }

// Text is the text of a string or the code of a currency, else empty.
func (v Value) Text() string {
	if v.kind == String || v.kind == Currency {
		return v.text
	}
	return ""
}

// Decimal is the number of a decimal, else zero.
func (v Value) Decimal() money.Decimal {
	if v.kind != Decimal {
		return money.Decimal{}
	}
	return v.decimal
}

// Amount is the amount of money, else one without a currency.
func (v Value) Amount() money.Amount {
	if v.kind != Money {
		return money.Amount{}
	}
	return money.Amount{Value: v.decimal, Currency: money.Currency(v.text)}
}

// Instant is the moment of a timestamp, else the zero instant.
func (v Value) Instant() Instant { return v.instant }

// List is the elements of a list, which the caller must not change.
func (v Value) List() []Value { return v.list }
