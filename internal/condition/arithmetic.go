package condition

import (
	"github.com/shopspring/decimal"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// value evaluates n. A missing value comes with the reason why.
func (e *evaluation) value(n *Node) (value.Value, why) {
	switch n.Op {
	case Literal:
		return n.Value, why{}
	case Reference:
		var v value.Value
		reason := e.read(n, &v)
		return v, reason
	case Variable:
		v := e.bound[n.slot]
		if v.IsMissing() {
			return v, why{ValueMissing, attribute(n)}
		}
		return v, why{}
	}
	if e.exhausted() {
		return value.Value{}, why{cause: NotComparable}
	}
	switch n.Op {
	case ListOf:
		elements := make([]value.Value, 0, len(n.Args))
		for _, arg := range n.Args {
			v, reason := e.value(arg)
			if reason.cause > ValueMissing {
				return value.Value{}, reason
			}
			elements = append(elements, v)
		}
		return value.OfList(elements), why{}
	case Add, Subtract, Multiply:
		return e.arithmetic(n)
	case Negate:
		v, reason := e.value(n.Args[0])
		switch v.Kind() {
		case value.Decimal:
			return value.OfDecimal(v.Decimal().Neg()), why{}
		case value.Money:
			return value.OfMoney(money.Amount{Value: v.Amount().Value.Neg(), Currency: v.Amount().Currency}), why{}
		case value.Missing:
			return v, reason
		}
		return value.Value{}, why{NotComparable, attribute(n)}
	case Choose:
		switch truth, reason := e.truth(n.Args[0]); truth {
		case True:
			return e.value(n.Args[1])
		case False:
			return e.value(n.Args[2])
		default:
			return value.Value{}, reason
		}
	case Size:
		return e.size(n)
	}
	truth, reason := e.truth(n)
	if truth == Unknown {
		return value.Value{}, reason
	}
	return value.OfBool(truth == True), why{}
}

// read asks for an attribute.
func (e *evaluation) read(n *Node, into *value.Value) why {
	*into = e.names.Value(n.Ref)
	if into.IsMissing() {
		return why{ValueMissing, n}
	}
	if n.currency && into.Kind() == value.String {
		if code, err := money.ParseCurrency(into.Text()); err == nil {
			*into = value.OfCurrency(code)
		}
	}
	return why{}
}

// arithmetic evaluates +, - and *, exactly.
func (e *evaluation) arithmetic(n *Node) (value.Value, why) {
	a, reason := e.value(n.Args[0])
	if a.IsMissing() {
		return a, reason
	}
	b, reason := e.value(n.Args[1])
	if b.IsMissing() {
		return b, reason
	}
	switch {
	case a.Kind() == value.Decimal && b.Kind() == value.Decimal:
		x, y := a.Decimal(), b.Decimal()
		switch n.Op {
		case Add:
			return value.OfDecimal(x.Add(y)), why{}
		case Subtract:
			return value.OfDecimal(x.Sub(y)), why{}
		}
		return value.OfDecimal(x.Mul(y)), why{}
	case n.Op == Multiply && a.Kind() == value.Money && b.Kind() == value.Decimal:
		return scaled(a.Amount(), b.Decimal()), why{}
	case n.Op == Multiply && a.Kind() == value.Decimal && b.Kind() == value.Money:
		return scaled(b.Amount(), a.Decimal()), why{}
	case n.Op != Multiply && a.Kind() == value.Money && b.Kind() == value.Money:
		total, ok := a.Amount().Add(b.Amount())
		if n.Op == Subtract {
			total, ok = a.Amount().Sub(b.Amount())
		}
		if !ok {
			e.other = true
			return value.Value{}, why{CurrencyDiffers, attribute(n)}
		}
		return value.OfMoney(total), why{}
	}
	return value.Value{}, why{NotComparable, attribute(n)}
}

func scaled(a money.Amount, by money.Decimal) value.Value {
	return value.OfMoney(money.Amount{Value: a.Value.Mul(by), Currency: a.Currency})
}

func wholeNumber(n int) money.Decimal { return decimal.NewFromInt(int64(n)) }
