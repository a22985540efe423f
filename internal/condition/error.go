package condition

import "fmt"

// Error says what is wrong with an expression, and where: Offset and Length are
// in bytes of its text.
type Error struct {
	Offset, Length int
	Message        string
	Hint           string // what to write instead; may be empty
}

func (e *Error) Error() string { return e.Message }

// failure keeps the first error; what follows from it is of no use to anybody.
func (p *parser) failure(offset, length int, hint, format string, args ...any) {
	if p.err == nil {
		p.err = &Error{Offset: offset, Length: length, Message: fmt.Sprintf(format, args...), Hint: hint}
	}
	p.token = token{kind: end, offset: len(p.text)}
	p.next = len(p.text)
}

func (p *parser) failAt(n *Node, hint, format string, args ...any) *Node {
	p.failure(n.Offset, n.Length, hint, format, args...)
	return n
}

// refusals are parts of the full language that are left out, each with what to
// do instead.
var refusals = map[string]string{
	"has":        "leave the test out: where an attribute is missing, the condition is unknown by itself",
	"null":       "leave the test out: where an attribute is missing, the condition is unknown by itself",
	"map":        "lists can only be asked with exists and all",
	"filter":     "lists can only be asked with exists and all",
	"exists_one": "lists can only be asked with exists and all",
	"exactly":    "lists can only be asked with exists and all",
	"double":     "numbers are exact decimals as they stand; leave the conversion out",
	"int":        "numbers are exact decimals as they stand; leave the conversion out",
	"uint":       "numbers are exact decimals as they stand; leave the conversion out",
	"decimal":    "numbers are exact decimals as they stand; leave the conversion out",
	"string":     "values keep their kind; compare with a value of the same kind",
	"bool":       "values keep their kind; compare with a value of the same kind",
	"bytes":      "values keep their kind; compare with a value of the same kind",
	"dyn":        "values keep their kind; compare with a value of the same kind",
	"type":       "the kind of a value cannot be asked for",
	"duration":   "times are bounded by keys such as `within`, `lookback` and `over`",
	"now":        "a condition reads no clock; compare fact.occurred_at with action.requested_at or action.received_at",
	"today":      "a condition reads no clock; compare fact.occurred_at with action.requested_at or action.received_at",
	"date":       `write timestamp("2026-10-15T12:00:00Z")`,
	"and":        "write &&",
	"or":         "write ||",
	"not":        "write !",
	"lower":      "currencies ignore case; other texts are compared as they are",
	"upper":      "currencies ignore case; other texts are compared as they are",
	"lowerAscii": "currencies ignore case; other texts are compared as they are",
	"upperAscii": "currencies ignore case; other texts are compared as they are",
	"abs":        "bound it from both sides with && instead",
}
