package terminal

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Clean makes one line of text that came from the wire safe to print. A
// terminal acts on control characters, and bidirectional or invisible ones
// make a name look like another; all of these are spelled out (\n, \x1b,
// \u202e), as is a byte that is no UTF-8 (\xff). What is left has nothing
// below 0x20. The spelling is for eyes: exact values are in the JSON output.
func Clean(s string) string {
	if isPlain(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 16)
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case isShown(r):
			b.WriteRune(r)
		default:
			b.WriteString(spell(r))
		}
		i += size
	}
	return b.String()
}

// isPlain is the common case: printable ASCII only.
func isPlain(s string) bool {
	for i := range len(s) {
		if s[i] < 0x20 || s[i] > 0x7e {
			return false
		}
	}
	return true
}

// isShown says that a character shows itself and does nothing else. Letters
// that are blank and selectors that are invisible would let two names look
// alike, although Unicode counts them as printable.
func isShown(r rune) bool {
	switch {
	case r == 0x115f, r == 0x1160, r == 0x3164, r == 0xffa0, r == 0x2800: // blank letters
		return false
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0100 && r <= 0xe01ef, r >= 0x180b && r <= 0x180f: // variation selectors
		return false
	}
	return unicode.IsPrint(r)
}

func spell(r rune) string {
	switch {
	case r == '\n':
		return `\n`
	case r == '\r':
		return `\r`
	case r == '\t':
		return `\t`
	case r < 0x80:
		return fmt.Sprintf(`\x%02x`, r)
	case r <= 0xffff:
		return fmt.Sprintf(`\u%04x`, r)
	}
	return fmt.Sprintf(`\U%08x`, r)
}
