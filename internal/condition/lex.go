package condition

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

type tokenKind uint8

const (
	end    tokenKind = iota
	symbol           // text is the operator or bracket
	name             // text is the identifier, keywords included
	number           // text is the number
	quoted           // text is the content, escapes resolved
)

type token struct {
	kind   tokenKind
	text   string
	offset int
	length int
}

func (t token) is(text string) bool {
	return t.text == text && (t.kind == symbol || t.kind == name)
}

// symbols, longer ones before those they begin with.
var symbols = [...]string{
	"&&", "||", "==", "!=", "<=", ">=", "<", ">", "!", "+", "-", "*", "?", ":", "(", ")", "[", "]", ",", ".",
}

// advance reads the next token.
func (p *parser) advance() {
	for p.next < len(p.text) && strings.IndexByte(" \t\n\r\f", p.text[p.next]) >= 0 {
		p.next++
	}
	rest := p.text[p.next:]
	start := p.next
	if rest == "" {
		p.token = token{kind: end, offset: start}
		return
	}
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		p.readText(rest)
	case c >= '0' && c <= '9':
		p.readNumber(rest)
	case letter(c):
		n := 1
		for n < len(rest) && (letter(rest[n]) || digit(rest[n])) {
			n++
		}
		p.take(token{kind: name, text: rest[:n]}, n)
	default:
		for _, s := range symbols {
			if strings.HasPrefix(rest, s) {
				p.take(token{kind: symbol, text: s}, len(s))
				return
			}
		}
		p.refuseSymbol(rest)
	}
}

func (p *parser) take(t token, length int) {
	t.offset, t.length = p.next, length
	p.token = t
	p.next += length
}

func letter(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_'
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func (p *parser) refuseSymbol(rest string) {
	r, size := utf8.DecodeRuneInString(rest)
	hint := ""
	switch {
	case strings.HasPrefix(rest, "//"):
		p.failure(p.next, 2, "write it behind # in the contract", "a condition has no comments")
		return
	case r == '=':
		hint = "write == to compare"
	case r == '&':
		hint = "write &&"
	case r == '|':
		hint = "write ||"
	case r == '/' || r == '%':
		hint = "division is not exact; multiply the other side instead"
	case r == '{' || r == '}':
		hint = "there are no maps; write a list as in [1, 2]"
	case strings.ContainsRune("“”„‘’«»", r):
		hint = `write straight quotes: "…" or '…'`
	case r == '`':
		hint = `write texts as "…" or '…'`
	}
	p.failure(p.next, size, hint, "%q means nothing here", string(r))
}

// readNumber reads a whole or decimal number. Exponents are left out: nobody
// reads 1e4 right at a glance, and a number is written in one way.
func (p *parser) readNumber(rest string) {
	n := 0
	digits := func() {
		for n < len(rest) && digit(rest[n]) {
			n++
		}
	}
	digits()
	if n+1 < len(rest) && rest[n] == '.' && digit(rest[n+1]) {
		n++
		digits()
	}
	if n < len(rest) && (letter(rest[n]) || rest[n] == '.') {
		for n < len(rest) && (letter(rest[n]) || digit(rest[n]) || rest[n] == '.') {
			n++
		}
		p.failure(p.next, n, "write it out, as in 180 or 180.00; a text stands in quotes", "%q is no number", clip(rest[:n]))
		return
	}
	p.take(token{kind: number, text: rest[:n]}, n)
}

// readText reads a text in single or double quotes. Escapes are those of the
// Common Expression Language.
func (p *parser) readText(rest string) {
	quote := rest[0]
	if strings.HasPrefix(rest[1:], string([]byte{quote, quote})) {
		p.failure(p.next, 3, `write texts as "…" or '…'`, "texts in three quotes are not known here")
		return
	}
	var b strings.Builder
	for i := 1; i < len(rest); {
		switch c := rest[i]; {
		case c == quote:
			p.take(token{kind: quoted, text: b.String()}, i+1)
			return
		case c == '\n' || c == '\r':
			p.failure(p.next, i, `write \n for a line break`, "the text ends in the middle of the line")
			return
		case c == '\\':
			n := p.escape(&b, rest[i:])
			if n == 0 {
				return
			}
			i += n
		default:
			b.WriteByte(c)
			i++
		}
	}
	p.failure(p.next, len(rest), fmtClose(quote), "the text is not closed")
}

func fmtClose(quote byte) string { return "close it with " + string(rune(quote)) }

// escape reads one escape and returns its length, or 0 after a failure.
func (p *parser) escape(b *strings.Builder, rest string) int {
	at := len(p.text) - len(rest)
	fail := func(n int) int {
		n = min(n, len(rest))
		p.failure(at, n, `write \\ for a backslash`, "%q is no escape", clip(rest[:n]))
		return 0
	}
	if len(rest) < 2 {
		return fail(1)
	}
	if i := strings.IndexByte("abfnrtv", rest[1]); i >= 0 {
		b.WriteByte("\a\b\f\n\r\t\v"[i])
		return 2
	}
	base, from, n := 16, 2, 0
	switch c := rest[1]; c {
	case '\\', '\'', '"', '`', '?':
		b.WriteByte(c)
		return 2
	case 'x', 'X':
		n = 4
	case 'u':
		n = 6
	case 'U':
		n = 10
	case '0', '1', '2', '3':
		base, from, n = 8, 1, 4
	default:
		return fail(2)
	}
	if len(rest) < n {
		return fail(n)
	}
	r, err := strconv.ParseUint(rest[from:n], base, 32)
	if err != nil || !utf8.ValidRune(rune(r)) {
		return fail(n)
	}
	b.WriteRune(rune(r))
	return n
}

// clip keeps a text that stands in an error short.
func clip(text string) string {
	if len(text) <= 60 {
		return text
	}
	n := 60
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}
