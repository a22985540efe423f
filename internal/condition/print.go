package condition

import (
	"strconv"
	"strings"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// How strongly operators bind, the weakest first.
const (
	bindsChoice = iota
	bindsOr
	bindsAnd
	bindsRelation
	bindsSum
	bindsProduct
	bindsSign
	bindsMember
)

func (n *Node) binds() int {
	switch n.Op {
	case Choose:
		return bindsChoice
	case Or:
		return bindsOr
	case And:
		return bindsAnd
	case Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual, In:
		return bindsRelation
	case Add, Subtract:
		return bindsSum
	case Multiply:
		return bindsProduct
	case Not, Negate:
		return bindsSign
	case Literal:
		if n.Kind == value.Decimal && n.Value.Decimal().IsNegative() {
			return bindsSign
		}
	}
	return bindsMember
}

// String writes the node so that [ParseValue] reads the same again, in one form
// whatever blanks and brackets it was written with. Two expressions with equal
// strings are the same expression.
func (n *Node) String() string {
	var b strings.Builder
	n.write(&b, bindsChoice)
	return b.String()
}

// write puts brackets around n where it binds less than its place asks for.
func (n *Node) write(b *strings.Builder, least int) {
	binds := n.binds()
	if binds < least {
		b.WriteByte('(')
		defer b.WriteByte(')')
	}
	switch n.Op {
	case Literal:
		writeLiteral(b, n.Value)
	case Reference:
		b.WriteString(n.Ref.String())
	case Variable:
		b.WriteString(n.Text)
	case ListOf:
		b.WriteByte('[')
		n.writeArgs(b, n.Args)
		b.WriteByte(']')
	case Not, Negate:
		b.WriteString(n.Op.String())
		// Signs of one kind may follow each other, of two kinds they may not.
		if n.Args[0].Op == n.Op {
			n.Args[0].write(b, bindsSign)
			return
		}
		n.Args[0].write(b, bindsMember)
	case And, Or:
		for i, arg := range n.Args {
			if i > 0 {
				b.WriteString(" " + n.Op.String() + " ")
			}
			arg.write(b, binds+1)
		}
	case Choose:
		n.Args[0].write(b, bindsOr)
		b.WriteString(" ? ")
		n.Args[1].write(b, bindsOr)
		b.WriteString(" : ")
		n.Args[2].write(b, bindsChoice)
	case Size:
		b.WriteString("size(")
		n.writeArgs(b, n.Args)
		b.WriteByte(')')
	case Exists, All:
		n.Args[0].write(b, bindsMember)
		b.WriteString("." + n.Op.String() + "(" + n.Text + ", ")
		n.Args[1].write(b, bindsChoice)
		b.WriteByte(')')
	case StartsWith, EndsWith, Contains, Matches:
		n.Args[0].write(b, bindsMember)
		b.WriteString("." + n.Op.String() + "(")
		if n.Op == Matches {
			b.WriteString(quote(n.Text))
		}
		n.writeArgs(b, n.Args[1:])
		b.WriteByte(')')
	default:
		n.Args[0].write(b, binds)
		b.WriteString(" " + n.Op.String() + " ")
		n.Args[1].write(b, binds+1)
	}
}

func (n *Node) writeArgs(b *strings.Builder, args []*Node) {
	for i, arg := range args {
		if i > 0 {
			b.WriteString(", ")
		}
		arg.write(b, bindsChoice)
	}
}

func writeLiteral(b *strings.Builder, v value.Value) {
	switch v.Kind() {
	case value.Bool:
		b.WriteString(strconv.FormatBool(v.Bool()))
	case value.String, value.Currency:
		b.WriteString(quote(v.Text()))
	case value.Decimal:
		b.WriteString(money.Text(v.Decimal()))
	case value.Money:
		b.WriteString("money(" + quote(v.Amount().String()) + ")")
	case value.Time:
		b.WriteString("timestamp(" + quote(v.Instant().String()) + ")")
	case value.List:
		b.WriteByte('[')
		for i, element := range v.List() {
			if i > 0 {
				b.WriteString(", ")
			}
			writeLiteral(b, element)
		}
		b.WriteByte(']')
	}
}

// quote writes a text in double quotes with the escapes of the language.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\x` + string("0123456789abcdef"[r>>4]) + string("0123456789abcdef"[r&15]))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
