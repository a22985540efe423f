package protocol

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"unicode/utf8"
)

// CanonicalDepth is how many objects and arrays deep a value may be that has a
// canonical form. No definition of a tool comes near it.
const CanonicalDepth = 256

// SyntaxError says that bytes are no JSON, or JSON that has no canonical form.
type SyntaxError struct {
	At     int // the byte that was not understood
	Reason string
}

func (e *SyntaxError) Error() string {
	return "read JSON at byte " + strconv.Itoa(e.At) + ": " + e.Reason
}

// Canonical returns the canonical form of a JSON value. Two texts have the same
// one when they differ in nothing but:
//
//   - white space between tokens;
//   - how the characters of a string are escaped: here only " and \ and what is
//     below U+0020 are, as \b \f \n \r \t where that exists, else as \u00xx;
//   - the order of an object's members: here by the bytes of their names in
//     this form, without the quotes;
//   - members that are followed by another one of the same name, which is the
//     one that counts.
//
// A number stays as it was written: 1, 1.0 and 1e0 are three values. Half a
// surrogate pair stays an escape, in small letters. So this form loses nothing
// that a reader could see, which forms that go through a float do.
//
// What is not JSON, is not UTF-8, or is nested deeper than CanonicalDepth has no
// canonical form; the error is a *SyntaxError.
func Canonical(raw []byte) ([]byte, error) {
	c := canon{in: raw, out: make([]byte, 0, len(raw))}
	if !utf8.Valid(raw) {
		return nil, c.wrong("the text is not UTF-8")
	}
	c.blank()
	if err := c.value(0); err != nil {
		return nil, err
	}
	c.blank()
	if c.i < len(c.in) {
		return nil, c.wrong("something follows the value")
	}
	return c.out, nil
}

// canon reads in from i on, and writes the canonical form of it.
type canon struct {
	in      []byte
	i       int
	out     []byte
	members []canonMember // of the objects that are being read
	scratch []byte
}

// canonMember is the place of a member in out, with a comma behind it.
type canonMember struct{ from, nameEnd, to int }

func (c *canon) wrong(reason string) error { return &SyntaxError{At: c.i, Reason: reason} }

func (c *canon) blank() {
	for c.i < len(c.in) && meaning[c.in[c.i]] == space {
		c.i++
	}
}

// next returns what the next byte means that is not white space. The end of in
// is plain.
func (c *canon) next() uint8 {
	c.blank()
	if c.i == len(c.in) {
		return plain
	}
	return meaning[c.in[c.i]]
}

// value copies the value that begins at i. It calls itself at most
// CanonicalDepth deep.
func (c *canon) value(depth int) error {
	switch c.next() {
	case openObject, openArray:
		if depth == CanonicalDepth {
			return c.wrong(fmt.Sprintf("the value is nested deeper than %d", CanonicalDepth))
		}
		if c.in[c.i] == '{' {
			return c.object(depth)
		}
		return c.array(depth)
	case quote:
		return c.str()
	case plain:
		return c.word()
	}
	return c.wrong("a value is missing")
}

func (c *canon) array(depth int) error {
	c.i++
	c.out = append(c.out, '[')
	if c.next() == closeArray {
		c.i++
		c.out = append(c.out, ']')
		return nil
	}
	for {
		if err := c.value(depth + 1); err != nil {
			return err
		}
		switch c.next() {
		case comma:
			c.out = append(c.out, ',')
			c.i++
		case closeArray:
			c.out = append(c.out, ']')
			c.i++
			return nil
		default:
			return c.wrong("an array goes on without a comma")
		}
	}
}

func (c *canon) object(depth int) error {
	c.i++
	c.out = append(c.out, '{')
	first := len(c.members)
	defer func() { c.members = c.members[:first] }()
	if c.next() == closeObject {
		c.i++
		c.out = append(c.out, '}')
		return nil
	}
	for {
		m := canonMember{from: len(c.out)}
		if c.next() != quote {
			return c.wrong("a name is missing")
		}
		if err := c.str(); err != nil {
			return err
		}
		m.nameEnd = len(c.out)
		if c.next() != colon {
			return c.wrong("a colon is missing")
		}
		c.i++
		c.out = append(c.out, ':')
		if err := c.value(depth + 1); err != nil {
			return err
		}
		c.out = append(c.out, ',')
		m.to = len(c.out)
		c.members = append(c.members, m)
		switch c.next() {
		case comma:
			c.i++
		case closeObject:
			c.i++
			c.order(c.members[first:])
			c.out[len(c.out)-1] = '}'
			return nil
		default:
			return c.wrong("an object goes on without a comma")
		}
	}
}

// order puts the members of an object, which are the end of out, in order, and
// leaves out those that do not count.
func (c *canon) order(list []canonMember) {
	name := func(m canonMember) []byte { return c.out[m.from+1 : m.nameEnd-1] }
	sorted := true
	for i := 1; i < len(list) && sorted; i++ {
		sorted = bytes.Compare(name(list[i-1]), name(list[i])) < 0
	}
	if sorted {
		return
	}
	start := list[0].from
	slices.SortFunc(list, func(a, b canonMember) int {
		return cmp.Or(bytes.Compare(name(a), name(b)), cmp.Compare(a.from, b.from))
	})
	c.scratch = c.scratch[:0]
	for i, m := range list {
		if i+1 < len(list) && bytes.Equal(name(m), name(list[i+1])) {
			continue
		}
		c.scratch = append(c.scratch, c.out[m.from:m.to]...)
	}
	c.out = append(c.out[:start], c.scratch...)
}

// str copies the string that begins at i.
func (c *canon) str() error {
	c.i++
	c.out = append(c.out, '"')
	for c.i < len(c.in) {
		switch b := c.in[c.i]; {
		case b == '"':
			c.i++
			c.out = append(c.out, '"')
			return nil
		case b == '\\':
			if !c.escape() {
				return c.wrong("an escape that JSON does not know")
			}
		case b < ' ':
			return c.wrong("a control character within a string")
		default:
			from := c.i
			for c.i < len(c.in) && c.in[c.i] >= ' ' && c.in[c.i] != '"' && c.in[c.i] != '\\' {
				c.i++
			}
			c.out = append(c.out, c.in[from:c.i]...)
		}
	}
	return c.wrong("a string has no end")
}

// escape copies the character that is escaped at i.
func (c *canon) escape() (known bool) {
	r, n := decodeEscape(c.in[c.i:])
	if n == 0 {
		half, ok := hexRune(c.in[c.i:])
		if !ok {
			return false
		}
		c.out = append(c.out, `\u`...)
		c.out = strconv.AppendInt(c.out, int64(half), 16) // four digits: a surrogate is above 0xd7ff
		c.i += 6
		return true
	}
	c.i += n
	switch {
	case r == '"' || r == '\\':
		c.out = append(c.out, '\\', byte(r))
	case r >= ' ':
		c.out = utf8.AppendRune(c.out, r)
	default:
		if at := bytes.IndexByte([]byte("\b\f\n\r\t"), byte(r)); at >= 0 {
			c.out = append(c.out, '\\', "bfnrt"[at])
		} else {
			c.out = append(c.out, `\u00`...)
			c.out = append(c.out, hexDigits[r>>4], hexDigits[r&15])
		}
	}
	return true
}

// word copies a number or a word.
func (c *canon) word() error {
	from := c.i
	end := from
	for end < len(c.in) && meaning[c.in[end]] == plain {
		end++
	}
	w := c.in[from:end]
	if len(w) == 0 {
		return c.wrong("a value is missing")
	}
	switch string(w) {
	case "true", "false", "null":
	default:
		if !isNumber(w) {
			return c.wrong("a word that JSON does not know")
		}
	}
	c.out = append(c.out, w...)
	c.i = end
	return nil
}

// isNumber says whether w is a number as RFC 8259, section 6, has it.
func isNumber(w []byte) bool {
	if len(w) > 0 && w[0] == '-' {
		w = w[1:]
	}
	whole := digits(w)
	if whole == 0 || whole > 1 && w[0] == '0' {
		return false
	}
	w = w[whole:]
	if len(w) > 0 && w[0] == '.' {
		n := digits(w[1:])
		if n == 0 {
			return false
		}
		w = w[1+n:]
	}
	if len(w) > 0 && (w[0] == 'e' || w[0] == 'E') {
		w = w[1:]
		if len(w) > 0 && (w[0] == '+' || w[0] == '-') {
			w = w[1:]
		}
		n := digits(w)
		return n > 0 && n == len(w)
	}
	return len(w) == 0
}

// digits returns how many digits w begins with.
func digits(w []byte) (n int) {
	for n < len(w) && '0' <= w[n] && w[n] <= '9' {
		n++
	}
	return n
}
