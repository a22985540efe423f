package signal

import (
	"bytes"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/redact/lexer"
)

// walk finds the strings of a JSON text and whether a name above them is that
// of a destination. Routing holds from a member down to the end of its value,
// so the depth at which it began is all there is to remember.
func (f *finder) walk(raw []byte) {
	var lex lexer.Lexer
	lex.Reset(raw)
	routingDepth := 0 // of the bracket that began it; 0 for none
	pending := false  // the key before the next value is a destination's
	var name []byte
	for {
		token := lex.Next()
		switch token.Kind {
		case lexer.End:
			return
		case lexer.Broken:
			// The rest is no JSON; what is named there is content.
			f.text(raw[token.Start:], false)
			return
		case lexer.Key:
			name = text(raw, token)
			pending = isRouting(name)
		case lexer.Open:
			if pending && routingDepth == 0 {
				routingDepth = lex.Depth()
			}
			pending = false
		case lexer.Close:
			if lex.Depth() < routingDepth {
				routingDepth = 0
			}
			pending = false
		case lexer.String:
			value := text(raw, token)
			f.value(value, pending || routingDepth > 0)
			pending = false
		case lexer.Literal:
			pending = false
		}
	}
}

// value looks at one string. A string that is JSON is walked as what it is.
func (f *finder) value(v []byte, routing bool) {
	if trimmed := bytes.TrimSpace(v); len(trimmed) > 1 && (trimmed[0] == '{' || trimmed[0] == '[') && bytes.IndexByte(trimmed, '"') > 0 && !routing {
		f.inner(trimmed)
		return
	}
	if routing {
		f.bare(v)
	}
	f.text(v, routing)
}

// inner walks JSON in a string, whose own strings are looked at as they are:
// one level is common, two are not worth the depth.
func (f *finder) inner(raw []byte) {
	var lex lexer.Lexer
	lex.Reset(raw)
	pending := false
	for {
		token := lex.Next()
		switch token.Kind {
		case lexer.End:
			return
		case lexer.Broken:
			f.text(raw[token.Start:], false)
			return
		case lexer.Key:
			pending = isRouting(text(raw, token))
		case lexer.String:
			v := text(raw, token)
			if pending {
				f.bare(v)
			}
			f.text(v, pending)
			pending = false
		case lexer.Open:
			// A list of destinations keeps its name.
			if raw[token.Start] == '{' {
				pending = false
			}
		default:
			pending = false
		}
	}
}

// text returns what a string token means.
func text(raw []byte, token lexer.Token) []byte {
	start, end := token.Text()
	if start > end {
		return nil
	}
	if !token.Escaped {
		return raw[start:end]
	}
	return unescape(raw[start:end])
}

// unescape decodes the inside of a string. What is no escape stays.
func unescape(raw []byte) []byte {
	out := make([]byte, 0, len(raw))
	for len(raw) > 0 {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 || i+1 == len(raw) {
			return append(out, raw...)
		}
		out = append(out, raw[:i]...)
		c := raw[i+1]
		raw = raw[i+2:]
		switch c {
		case 'n', 'r', 't', 'b', 'f':
			out = append(out, ' ')
		case 'u':
			r, n := unicodeEscape(raw)
			out = utf8.AppendRune(out, r)
			raw = raw[n:]
		default:
			out = append(out, c)
		}
	}
	return out
}

// unicodeEscape reads what follows \u, with the second half of a pair.
func unicodeEscape(raw []byte) (rune, int) {
	unit, ok := hexUnit(raw)
	if !ok {
		return utf8.RuneError, 0
	}
	if utf16.IsSurrogate(unit) && len(raw) >= 10 && raw[4] == '\\' && raw[5] == 'u' {
		if low, ok := hexUnit(raw[6:]); ok {
			if r := utf16.DecodeRune(unit, low); r != utf8.RuneError {
				return r, 10
			}
		}
	}
	return unit, 4
}

func hexUnit(raw []byte) (rune, bool) {
	if len(raw) < 4 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(raw[:4]), 16, 16)
	return rune(n), err == nil
}
