package condition

import (
	"strings"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// maxSteps is how many nodes and elements one evaluation visits. Only lists of
// thousands of elements within each other come near; what they would say is
// then unknown.
const maxSteps = 1_000_000

// Truth evaluates a condition.
func (e *Expr) Truth(names Names) Outcome {
	v := evaluation{names: names}
	truth, reason := v.truth(e.root)
	return v.outcome(truth, reason)
}

// Value evaluates an expression of any kind. The outcome's truth is that of a
// boolean; of another value it is Unknown and has no cause. A value that is
// missing has a cause.
func (e *Expr) Value(names Names) (value.Value, Outcome) {
	v := evaluation{names: names}
	result, reason := v.value(e.root)
	truth := Unknown
	if result.Kind() == value.Bool {
		truth = truthOf(result.Bool())
	}
	return result, v.outcome(truth, reason)
}

func truthOf(b bool) Truth {
	if b {
		return True
	}
	return False
}

// why says what stood in the way of an answer; node is the attribute that it is
// about, if it is one.
type why struct {
	cause Cause
	node  *Node
}

type evaluation struct {
	names Names
	bound [maxMacros]value.Value // elements that exists and all are at
	steps int
	other bool // two currencies met
}

func (e *evaluation) outcome(truth Truth, reason why) Outcome {
	o := Outcome{Truth: truth, Cause: reason.cause, OtherCurrency: e.other}
	if reason.node != nil {
		o.Ref = reason.node.Ref
	}
	return o
}

// exhausted counts a step and reports whether there were too many.
func (e *evaluation) exhausted() bool {
	e.steps++
	return e.steps > maxSteps
}

// truth evaluates n as a condition.
func (e *evaluation) truth(n *Node) (Truth, why) {
	if e.exhausted() {
		return Unknown, why{cause: NotComparable}
	}
	// Currencies that met within something true did no harm: in
	// c == "USD" || c == "EUR" one of both always differs.
	before := e.other
	truth, reason := e.decide(n)
	if truth == True {
		e.other = before
	}
	return truth, reason
}

func (e *evaluation) decide(n *Node) (Truth, why) {
	switch n.Op {
	case And:
		return e.junction(n.Args, False, True)
	case Or:
		return e.junction(n.Args, True, False)
	case Not:
		truth, reason := e.truth(n.Args[0])
		switch truth {
		case True:
			return False, why{}
		case False:
			return True, why{}
		}
		return Unknown, reason
	case Equal, NotEqual, Less, LessOrEqual, Greater, GreaterOrEqual:
		return e.comparison(n)
	case In:
		return e.membership(n)
	case StartsWith, EndsWith, Contains, Matches:
		return e.text(n)
	case Exists:
		return e.quantified(n, True, False)
	case All:
		return e.quantified(n, False, True)
	}
	v, reason := e.value(n)
	switch v.Kind() {
	case value.Bool:
		return truthOf(v.Bool()), why{}
	case value.Missing:
		return Unknown, reason
	}
	return Unknown, why{NotComparable, attribute(n)}
}

// junction evaluates && and ||: one operand that decides is enough, else one
// without an answer leaves the whole without one.
func (e *evaluation) junction(args []*Node, decides, otherwise Truth) (Truth, why) {
	result, first := otherwise, why{}
	for _, arg := range args {
		truth, reason := e.truth(arg)
		if truth == decides {
			return decides, why{}
		}
		if truth == Unknown && result != Unknown {
			result, first = Unknown, reason
		}
	}
	return result, first
}

// quantified evaluates exists and all, which are an || and an && over the
// elements of a list.
func (e *evaluation) quantified(n *Node, decides, otherwise Truth) (Truth, why) {
	list, reason := e.list(n.Args[0])
	if reason.cause != NoCause {
		return Unknown, reason
	}
	result, first := otherwise, why{}
	for _, element := range list {
		e.bound[n.slot] = element
		truth, reason := e.truth(n.Args[1])
		if truth == decides {
			return decides, why{}
		}
		if truth == Unknown && result != Unknown {
			result, first = Unknown, reason
		}
	}
	return result, first
}

func (e *evaluation) list(n *Node) ([]value.Value, why) {
	v, reason := e.value(n)
	switch v.Kind() {
	case value.List:
		return v.List(), why{}
	case value.Missing:
		return nil, reason
	}
	return nil, why{NotComparable, attribute(n)}
}

func (e *evaluation) comparison(n *Node) (Truth, why) {
	var a, b value.Value
	if reason := e.operand(n.Args[0], &a); a.IsMissing() {
		return Unknown, reason
	}
	if reason := e.operand(n.Args[1], &b); b.IsMissing() {
		return Unknown, reason
	}
	relation := e.relate(&a, &b)
	if !relation.Known() {
		return Unknown, why{causeOf(relation), attribute(n)}
	}
	switch n.Op {
	case Equal:
		return truthOf(relation == value.Equal), why{}
	case NotEqual:
		return truthOf(relation != value.Equal), why{}
	}
	if !ordered(a.Kind()) || !ordered(b.Kind()) || relation == value.Unordered {
		return Unknown, why{NotComparable, attribute(n)}
	}
	switch n.Op {
	case Less:
		return truthOf(relation == value.Less), why{}
	case LessOrEqual:
		return truthOf(relation != value.Greater), why{}
	case Greater:
		return truthOf(relation == value.Greater), why{}
	}
	return truthOf(relation != value.Less), why{}
}

func ordered(kind value.Kind) bool {
	return kind == value.Decimal || kind == value.Money || kind == value.String || kind == value.Time
}

// operand evaluates n into a value that its caller has, which spares copies.
func (e *evaluation) operand(n *Node, into *value.Value) (reason why) {
	switch n.Op {
	case Literal:
		*into = n.Value
	case Reference:
		return e.read(n, into)
	default:
		*into, reason = e.value(n)
	}
	return reason
}

// relate compares two values that are there, and notes where two currencies
// met.
func (e *evaluation) relate(a, b *value.Value) value.Relation {
	switch a.Kind() {
	case value.List, value.String:
		e.steps += min(weight(a), weight(b))
	}
	relation := value.Compare(*a, *b)
	if relation == value.CurrencyDiffers || relation == value.Unordered && twoCurrencies(*a, *b) {
		e.other = true
	}
	return relation
}

// weight is about how long it takes to compare a value, in steps.
func weight(v *value.Value) int {
	if v.Kind() != value.List {
		return len(v.Text()) / 256
	}
	n, elements := 0, v.List()
	for i := range elements {
		n += 1 + weight(&elements[i])
	}
	return n
}

func twoCurrencies(a, b value.Value) bool {
	if a.Kind() == value.String {
		a, b = b, a
	}
	if a.Kind() != value.Currency {
		return false
	}
	if b.Kind() == value.String {
		_, err := money.ParseCurrency(b.Text())
		return err == nil
	}
	return b.Kind() == value.Currency
}

func causeOf(relation value.Relation) Cause {
	switch relation {
	case value.OneMissing:
		return ValueMissing
	case value.CurrencyDiffers:
		return CurrencyDiffers
	}
	return NotComparable
}

// membership evaluates in. An element without an answer leaves the whole
// without one unless another is equal.
func (e *evaluation) membership(n *Node) (Truth, why) {
	var v value.Value
	if reason := e.operand(n.Args[0], &v); v.IsMissing() {
		return Unknown, reason
	}
	result, first := False, why{}
	weigh := func(element value.Value, reason why) bool {
		if !element.IsMissing() {
			relation := e.relate(&v, &element)
			if relation == value.Equal {
				return true
			}
			if relation.Known() {
				return false
			}
			reason = why{causeOf(relation), attribute(n)}
		}
		if result == False {
			result, first = Unknown, reason
		}
		return false
	}
	if n.Args[1].Op == ListOf {
		for _, arg := range n.Args[1].Args {
			if weigh(e.value(arg)) {
				return True, why{}
			}
		}
		return result, first
	}
	list, reason := e.list(n.Args[1])
	if reason.cause != NoCause {
		return Unknown, reason
	}
	for _, element := range list {
		if e.exhausted() {
			return Unknown, why{NotComparable, attribute(n.Args[1])}
		}
		if weigh(element, why{ValueMissing, attribute(n.Args[1])}) {
			return True, why{}
		}
	}
	return result, first
}

// text evaluates the methods of texts.
func (e *evaluation) text(n *Node) (Truth, why) {
	var texts [2]string
	for i, arg := range n.Args {
		v, reason := e.value(arg)
		switch v.Kind() {
		case value.String, value.Currency:
			texts[i] = v.Text()
		case value.Missing:
			return Unknown, reason
		default:
			return Unknown, why{NotComparable, attribute(arg)}
		}
	}
	if n.Op == Matches {
		e.steps += len(texts[0]) // a pattern takes for a byte as long as a node
	}
	e.steps += len(texts[0]) / 256
	switch n.Op {
	case StartsWith:
		return truthOf(strings.HasPrefix(texts[0], texts[1])), why{}
	case EndsWith:
		return truthOf(strings.HasSuffix(texts[0], texts[1])), why{}
	case Contains:
		return truthOf(strings.Contains(texts[0], texts[1])), why{}
	}
	return truthOf(n.pattern.MatchString(texts[0])), why{}
}

// attribute finds the attribute that a difficulty is about: of a fact if there
// is one, since the fact is what is weighed.
func attribute(n *Node) *Node {
	if n.Op == Reference || n.Op == Variable && n.Ref.Name != "" {
		return n
	}
	var found *Node
	for _, arg := range n.Args {
		a := attribute(arg)
		if a != nil && a.Ref.Root == Fact {
			return a
		}
		if found == nil {
			found = a
		}
	}
	return found
}

func (e *evaluation) size(n *Node) (value.Value, why) {
	v, reason := e.value(n.Args[0])
	switch v.Kind() {
	case value.List:
		return value.OfDecimal(wholeNumber(len(v.List()))), why{}
	case value.String:
		e.steps += len(v.Text()) / 64
		return value.OfDecimal(wholeNumber(utf8.RuneCountInString(v.Text()))), why{}
	case value.Missing:
		return v, reason
	}
	return value.Value{}, why{NotComparable, attribute(n)}
}
