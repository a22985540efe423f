package condition

import (
	"fmt"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// may reports whether n can come to a value of one of the kinds, as far as is
// known before the evaluation.
func may(n *Node, kinds ...value.Kind) bool {
	if n.Kind == value.Missing {
		return true
	}
	for _, kind := range kinds {
		if n.Kind == kind {
			return true
		}
	}
	return false
}

// Noun is a kind of values as errors name it, article included.
func Noun(kind value.Kind) string {
	switch kind {
	case value.Bool:
		return "a condition"
	case value.String:
		return "a text"
	case value.Decimal:
		return "a number"
	case value.Money:
		return "an amount of money"
	case value.Time:
		return "a time"
	case value.Missing:
		return "a value"
	}
	return "a " + kind.String()
}

// boolean checks the operands of && and ||.
func (p *parser) boolean(n *Node) *Node {
	for _, arg := range n.Args {
		if !may(arg, value.Bool) {
			return p.failAt(arg, "compare it with something", "%s joins conditions, and this is %s", n.Op, Noun(arg.Kind))
		}
	}
	return n
}

func (p *parser) signed(n *Node) *Node {
	arg := n.Args[0]
	if n.Op == Not {
		n.Kind = value.Bool
		if !may(arg, value.Bool) {
			return p.failAt(n, "write != to compare, or brackets around a comparison", "! turns a condition round, and this is %s", Noun(arg.Kind))
		}
		return n
	}
	n.Kind = arg.Kind
	if !may(arg, value.Decimal, value.Money) {
		return p.failAt(n, "", "%s has no negative", Noun(arg.Kind))
	}
	if arg.Op == Literal && arg.Kind == value.Decimal {
		n.Op, n.Args, n.Value = Literal, nil, value.OfDecimal(arg.Value.Decimal().Neg())
	}
	return n
}

func (p *parser) choose(n *Node) *Node {
	test, first, second := n.Args[0], n.Args[1], n.Args[2]
	if p.err != nil {
		return n
	}
	if !may(test, value.Bool) {
		return p.failAt(test, "compare it with something", "? asks a condition, and this is %s", Noun(test.Kind))
	}
	switch {
	case first.Kind == second.Kind:
		n.Kind = first.Kind
	case first.Kind != value.Missing && second.Kind != value.Missing:
		return p.failAt(second, "", "both sides of a choice are of one kind, and here are %s and %s", Noun(first.Kind), Noun(second.Kind))
	}
	return n
}

// compared checks that both sides of a comparison can be held against each
// other.
func (p *parser) compared(n *Node) *Node {
	a, b := n.Args[0], n.Args[1]
	switch {
	case p.err != nil:
	case n.Op == In:
		return p.membership(n)
	case n.Op == Equal || n.Op == NotEqual:
		p.comparable(n, a, b)
	default:
		for _, side := range n.Args {
			if !may(side, value.Decimal, value.Money, value.String, value.Time) {
				return p.failAt(side, "compare with == or !=", "%s has no order, so %s means nothing", Noun(side.Kind), n.Op)
			}
		}
		p.comparable(n, a, b)
	}
	return n
}

func (p *parser) membership(n *Node) *Node {
	a, list := n.Args[0], n.Args[1]
	if !may(list, value.List) {
		return p.failAt(list, "write a list, as in [\"USD\", \"EUR\"]", "in looks into a list, and this is %s", Noun(list.Kind))
	}
	for _, element := range list.Args {
		p.comparable(n, a, element)
	}
	if list.Op == Literal { // its elements may have become currencies
		elements := make([]value.Value, len(list.Args))
		for i, element := range list.Args {
			elements[i] = element.Value
		}
		list.Value = value.OfList(elements)
	}
	return n
}

// comparable refuses comparisons that could never have an answer.
func (p *parser) comparable(n, a, b *Node) {
	if a.Kind == value.String && b.Kind != value.String {
		a, b = b, a
	}
	switch {
	case a.Kind == value.Missing || b.Kind == value.Missing || p.err != nil:
	case a.Kind == value.Currency && b.Kind == value.Currency:
		// A text held against what surely is a currency is compared as one.
		if a.currency != b.currency {
			a.currency, b.currency = false, false
		}
	case a.Kind == b.Kind && a.Kind != value.Money:
	case a.Kind == value.Money && b.Kind == value.Money:
		if a.Op == Literal && b.Op == Literal && a.Value.Amount().Currency != b.Value.Amount().Currency {
			p.failAt(n, "", "amounts of %s and %s cannot be compared", a.Value.Amount().Currency, b.Value.Amount().Currency)
		}
	case a.Kind == value.Currency && b.Kind == value.String:
		if b.Op != Literal {
			return
		}
		code, err := money.ParseCurrency(b.Value.Text())
		if err != nil {
			p.failAt(b, `write a code as in "USD"`, "%q is no currency", clip(b.Value.Text()))
			return
		}
		b.Kind, b.Value = value.Currency, value.OfCurrency(code)
		a.currency = false
	case a.Kind == value.Time && b.Kind == value.String:
		if b.Op != Literal {
			return
		}
		if _, err := value.ParseInstant(b.Value.Text()); err != nil {
			p.failAt(b, "write "+examples["timestamp"], "%v", err)
		}
	default:
		p.failAt(n, mismatch(a, b), "%s cannot be compared with %s", Noun(n.Args[0].Kind), Noun(otherKind(n, a, b)))
	}
}

// otherKind is the kind of the other side of n, be it an element of a list.
func otherKind(n, a, b *Node) value.Kind {
	if a == n.Args[0] {
		return b.Kind
	}
	return a.Kind
}

// mismatch says how to write what was probably meant.
func mismatch(a, b *Node) string {
	if b.Kind == value.Money {
		a, b = b, a
	}
	switch {
	case a.Kind == value.Money && b.Kind == value.Decimal && b.Op == Literal:
		return fmt.Sprintf(`an amount names its currency: write money("%s USD")`, b.Value.Decimal().StringFixed(max(2, -b.Value.Decimal().Exponent())))
	case a.Kind == value.Money && b.Kind == value.Decimal:
		return "an amount names its currency: declare the number as money"
	case a.Kind == value.Money && b.Kind == value.String:
		return `write money("250.00 USD") for an amount`
	case a.Kind == value.Money && b.Kind == value.Currency:
		return "compare the amount with an amount, and the currency with a currency"
	case a.Kind == value.List || b.Kind == value.List:
		return "ask a list with in, exists or all"
	case a.Kind == value.String || b.Kind == value.String:
		return "a text in quotes never equals a value of another kind: leave the quotes out"
	}
	return "compare values of one kind"
}

// added checks + and -, and says what they come to.
func (p *parser) added(n *Node) *Node {
	a, b := n.Args[0], n.Args[1]
	for _, arg := range n.Args {
		if !may(arg, value.Decimal, value.Money) {
			hint := "only numbers and amounts of money can be added"
			if arg.Kind == value.Time {
				hint = "times are bounded by keys such as `within`, `lookback` and `over`"
			}
			return p.failAt(n, hint, "%s means nothing for %s", n.Op, Noun(arg.Kind))
		}
	}
	switch {
	case p.err != nil:
	case a.Kind == b.Kind:
		n.Kind = a.Kind
	case a.Kind != value.Missing && b.Kind != value.Missing:
		return p.failAt(n, mismatch(a, b), "%s and %s have no sum", Noun(a.Kind), Noun(b.Kind))
	case a.Kind == value.Missing:
		n.Kind = b.Kind // the other side is of that kind, or there is no sum
	default:
		n.Kind = a.Kind
	}
	return n
}

func (p *parser) multiplied(n *Node) *Node {
	a, b := n.Args[0], n.Args[1]
	for _, arg := range n.Args {
		if !may(arg, value.Decimal, value.Money) {
			return p.failAt(n, "only numbers and amounts of money can be multiplied", "* means nothing for %s", Noun(arg.Kind))
		}
	}
	switch {
	case p.err != nil:
	case a.Kind == value.Money && b.Kind == value.Money:
		return p.failAt(n, "multiply it by a number", "an amount times an amount is no amount")
	case a.Kind == value.Money || b.Kind == value.Money:
		n.Kind = value.Money
	case a.Kind == value.Decimal && b.Kind == value.Decimal:
		n.Kind = value.Decimal
	}
	return n
}

func (p *parser) sized(n *Node) *Node {
	if p.err == nil && !may(n.Args[0], value.List, value.String) {
		return p.failAt(n, "", "%s has no size", Noun(n.Args[0].Kind))
	}
	return n
}

// texts checks the methods of texts. A currency is a text of three letters.
func (p *parser) texts(n *Node) *Node {
	for _, arg := range n.Args {
		if p.err == nil && !may(arg, value.String, value.Currency) {
			return p.failAt(arg, "", "%s looks into a text, and this is %s", n.Op, Noun(arg.Kind))
		}
	}
	return n
}

// asked checks exists and all.
func (p *parser) asked(n *Node) *Node {
	switch list, body := n.Args[0], n.Args[1]; {
	case p.err != nil:
	case !may(list, value.List):
		return p.failAt(list, "", "%s goes through a list, and this is %s", n.Op, Noun(list.Kind))
	case !may(body, value.Bool):
		return p.failAt(body, "compare it with something", "%s asks a condition of each element, and this is %s", n.Op, Noun(body.Kind))
	}
	return n
}
