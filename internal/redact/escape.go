package redact

import (
	"bytes"
	"unicode/utf16"
	"unicode/utf8"
)

// escape reads the escape at the beginning of raw, which is a backslash. It
// returns how many bytes it is written in and what it means. What is no escape
// means itself: a text may have a backslash of its own.
func escape(raw []byte) (size int, meaning [utf8.UTFMax]byte, n int) {
	if len(raw) < 2 {
		meaning[0] = '\\'
		return 1, meaning, 1
	}
	switch c := raw[1]; c {
	case '"', '\\', '/', '\'', '`':
		meaning[0] = c
	case 'n':
		meaning[0] = '\n'
	case 't':
		meaning[0] = '\t'
	case 'r':
		meaning[0] = '\r'
	case 'b':
		meaning[0] = '\b'
	case 'f':
		meaning[0] = '\f'
	case 'u':
		unit, ok := hexUnit(raw)
		if !ok {
			meaning[0] = '\\'
			return 1, meaning, 1
		}
		size := 6
		r := rune(unit)
		if utf16.IsSurrogate(r) {
			r = utf8.RuneError
			if low, ok := hexUnit(raw[6:]); ok {
				if pair := utf16.DecodeRune(rune(unit), rune(low)); pair != utf8.RuneError {
					r, size = pair, 12
				}
			}
		}
		return size, meaning, utf8.EncodeRune(meaning[:], r)
	default:
		meaning[0] = '\\'
		return 1, meaning, 1
	}
	return 2, meaning, 1
}

// hexUnit reads \uXXXX.
func hexUnit(raw []byte) (unit uint16, ok bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	for _, c := range raw[2:6] {
		switch {
		case c >= '0' && c <= '9':
			c -= '0'
		case c >= 'a' && c <= 'f':
			c -= 'a' - 10
		case c >= 'A' && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		unit = unit<<4 | uint16(c)
	}
	return unit, true
}

// appendDecoded appends what raw, the inside of a string, means.
func appendDecoded(dst, raw []byte) []byte {
	for {
		i := bytes.IndexByte(raw, '\\')
		if i < 0 {
			return append(dst, raw...)
		}
		dst = append(dst, raw[:i]...)
		size, meaning, n := escape(raw[i:])
		dst = append(dst, meaning[:n]...)
		raw = raw[i+size:]
	}
}

// lift carries the hits from base on, which stand in what raw means, back to
// raw. Hits are rare, so their places are counted again here rather than kept
// for every escape while decoding.
func (s *search) lift(base int, raw []byte) {
	s.settle(base)
	list := s.hits[base:]
	at, meant := 0, 0 // the same place in raw and in what it means
	// advance goes to the escape or byte that holds the given offset, and
	// returns where it begins, or where it ends.
	advance := func(offset int, end bool) int {
		for at < len(raw) {
			plain := bytes.IndexByte(raw[at:], '\\')
			if plain < 0 {
				plain = len(raw) - at
			}
			if offset <= meant+plain {
				if !end && offset == meant+plain {
					at, meant = at+plain, offset
					return at
				}
				at, meant = at+offset-meant, offset
				return at
			}
			at, meant = at+plain, meant+plain
			size, _, n := escape(raw[at:])
			if offset < meant+n && !end {
				return at
			}
			at, meant = at+size, meant+n
			if offset <= meant {
				return at
			}
		}
		return at
	}
	for i := range list {
		list[i].start = advance(list[i].start, false)
		list[i].end = advance(list[i].end, true)
		if list[i].quotes > 0 {
			list[i].quotes++
		}
	}
}
