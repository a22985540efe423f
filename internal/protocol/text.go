package protocol

import (
	"unicode/utf16"
	"unicode/utf8"
)

const hexDigits = "0123456789abcdef"

// Text returns what a string token says, or any other token as it was
// written. An escape that stands for half a surrogate pair stays as it was
// written, because no text can hold it; so does one that JSON does not know.
//
// When the token was longer than TokenLimit or is not UTF-8, cut is true and
// the text is its beginning, with the invalid bytes written as \xNN.
func Text(t Token) (whole string, cut bool) {
	raw := t.Raw
	if len(raw) == 0 || raw[0] != '"' {
		return RawText(t)
	}
	raw = raw[1:]
	if t.Size == int64(len(t.Raw)) && len(raw) > 0 {
		raw = raw[:len(raw)-1]
	}
	decoded, _ := appendDecoded(make([]byte, 0, len(raw)), raw)
	return printable(decoded, t.Size > int64(len(t.Raw)))
}

// RawText returns a token as it was written, quotes and escapes included.
// It is cut as in [Text].
func RawText(t Token) (whole string, cut bool) {
	return printable(t.Raw, t.Size > int64(len(t.Raw)))
}

// printable makes valid UTF-8 of b, and says whether that took anything.
func printable(b []byte, cut bool) (string, bool) {
	if utf8.Valid(b) {
		return string(b), cut
	}
	if cut {
		b = b[:len(b)-brokenEnd(b)]
	}
	out := make([]byte, 0, len(b)+16)
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 {
			out = append(out, '\\', 'x', hexDigits[b[0]>>4], hexDigits[b[0]&15])
		} else {
			out = append(out, b[:n]...)
		}
		b = b[n:]
	}
	return string(out), true
}

// brokenEnd returns how many bytes at the end of b are a character that was
// cut through.
func brokenEnd(b []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(b); n++ {
		tail := b[len(b)-n:]
		if utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return n
			}
			return 0
		}
	}
	return 0
}

// appendDecoded appends the inside of a JSON string with its escapes undone.
// Whole is false when one had to stay as it was written.
func appendDecoded(out, raw []byte) (decoded []byte, whole bool) {
	whole = true
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		r, n := decodeEscape(raw[i:])
		if n == 0 {
			whole = false
			out = append(out, '\\')
			i++
			continue
		}
		out = utf8.AppendRune(out, r)
		i += n
	}
	return out, whole
}

// decodeEscape decodes the escape that b begins with, or a pair of escapes
// that are one character. Length 0 says that it stands for no character.
func decodeEscape(b []byte) (r rune, length int) {
	if len(b) < 2 {
		return 0, 0
	}
	switch b[1] {
	case '"', '\\', '/':
		return rune(b[1]), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	case 'u':
		first, ok := hexRune(b)
		if !ok {
			return 0, 0
		}
		if !utf16.IsSurrogate(first) {
			return first, 6
		}
		second, ok := hexRune(b[6:])
		if !ok {
			return 0, 0
		}
		if pair := utf16.DecodeRune(first, second); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return 0, 0
}

// hexRune reads \uXXXX.
func hexRune(b []byte) (r rune, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		switch {
		case '0' <= c && c <= '9':
			r = r<<4 | rune(c-'0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			return 0, false
		}
	}
	return r, true
}
