package value

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/money"
)

// UnmarshalJSONFrom reads a value in the form that facts and declarations give
// it: a boolean, a text, a number (read from its text, never rounded), null for
// what is not there, a list of these, {"amount": "180.00", "currency": "USD"}
// for money and {"time": "2026-10-15T12:00:00Z"} for a moment.
func (v *Value) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	decoded, err := decode(d, 0)
	if err == nil {
		*v = decoded
	}
	return err
}

// maxDepth of lists within lists. Nothing that a system of record says about
// one effect is deeper.
const maxDepth = 8

func decode(d *jsontext.Decoder, depth int) (Value, error) {
	if depth > maxDepth {
		return Value{}, fmt.Errorf("lists are nested deeper than %d", maxDepth)
	}
	token, err := d.ReadToken()
	if err != nil {
		return Value{}, err
	}
	switch token.Kind() {
	case jsontext.KindNull:
		return Value{}, nil
	case jsontext.KindTrue, jsontext.KindFalse:
		return OfBool(token.Bool()), nil
	case jsontext.KindString:
		return OfString(token.String()), nil
	case jsontext.KindNumber:
		number, err := money.ParseDecimal(token.String())
		return OfDecimal(number), err
	case jsontext.KindBeginArray:
		var elements []Value
		for d.PeekKind() != jsontext.KindEndArray {
			element, err := decode(d, depth+1)
			if err != nil {
				return Value{}, err
			}
			elements = append(elements, element)
		}
		_, err := d.ReadToken()
		return Value{kind: List, list: elements}, err
	}
	return decodeObject(d)
}

// decodeObject reads the members after the opening brace.
func decodeObject(d *jsontext.Decoder) (Value, error) {
	members := make(map[string]string, 2)
	for d.PeekKind() != jsontext.KindEndObject {
		name, err := d.ReadToken()
		if err != nil {
			return Value{}, err
		}
		key := name.String()
		kind := d.PeekKind()
		if kind != jsontext.KindString && (kind != jsontext.KindNumber || key != "amount") {
			return Value{}, errObject
		}
		text, err := d.ReadToken()
		if err != nil {
			return Value{}, err
		}
		members[key] = text.String()
	}
	if _, err := d.ReadToken(); err != nil {
		return Value{}, err
	}
	amount, hasAmount := members["amount"]
	code, hasCurrency := members["currency"]
	moment, hasTime := members["time"]
	switch {
	case len(members) == 2 && hasAmount && hasCurrency:
		number, err := money.ParseDecimal(amount)
		if err != nil {
			return Value{}, err
		}
		currency, err := money.ParseCurrency(code)
		return OfMoney(money.Amount{Value: number, Currency: currency}), err
	case len(members) == 1 && hasTime:
		instant, err := ParseInstant(moment)
		return OfTime(instant), err
	}
	return Value{}, errObject
}

var errObject = fmt.Errorf(`an object here is {"amount": "180.00", "currency": "USD"} or {"time": "2026-10-15T12:00:00Z"}`)

// MarshalJSONTo writes the value as [Value.AppendJSON] does.
func (v Value) MarshalJSONTo(e *jsontext.Encoder) error {
	b, err := v.AppendJSON(nil)
	if err != nil {
		return err
	}
	return e.WriteValue(b)
}

// AppendJSON writes the value in the form that [Value.UnmarshalJSONFrom] reads,
// one form for each value: numbers as they came but without an exponent, money
// with its amount as text.
func (v Value) AppendJSON(b []byte) ([]byte, error) {
	var err error
	switch v.kind {
	case Missing:
		return append(b, "null"...), nil
	case Bool:
		if v.bool {
			return append(b, "true"...), nil
		}
		return append(b, "false"...), nil
	case String, Currency:
		return AppendString(b, v.text), nil
	case Decimal:
		return append(b, money.Text(v.decimal)...), nil
	case Money:
		b = append(b, `{"amount":"`...)
		b = append(b, money.Text(v.decimal)...)
		b = append(b, `","currency":"`...)
		b = append(b, v.text...)
		return append(b, `"}`...), nil
	case Time:
		b = append(b, `{"time":"`...)
		b = append(b, v.instant.String()...)
		return append(b, `"}`...), nil
	}
	b = append(b, '[')
	for i, element := range v.list {
		if i > 0 {
			b = append(b, ',')
		}
		if b, err = element.AppendJSON(b); err != nil {
			return nil, err
		}
	}
	return append(b, ']'), nil
}

// AppendString writes s as a JSON string with the fewest escapes, as RFC 8785
// does. What is not UTF-8 becomes U+FFFD.
func AppendString(b []byte, s string) []byte {
	quoted, err := jsontext.AppendQuote(b, s)
	if err != nil {
		quoted, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD"))
	}
	return quoted
}

// MarshalText and UnmarshalText make an [Instant] a JSON string.
func (i Instant) MarshalText() ([]byte, error) { return []byte(i.String()), nil }

// UnmarshalText reads what [ParseInstant] reads; an empty text is no time.
func (i *Instant) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*i = 0
		return nil
	}
	t, err := ParseInstant(string(text))
	if err == nil {
		*i = t
	}
	return err
}
