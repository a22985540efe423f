package protocol

import "unicode/utf8"

// utf8Check checks bytes that come in pieces: a character may lie across a
// border.
type utf8Check struct {
	held [utf8.UTFMax]byte // the beginning of a character
	n    int
}

// next says whether the bytes so far can be UTF-8.
func (c *utf8Check) next(b []byte) bool {
	for c.n > 0 && len(b) > 0 {
		c.held[c.n] = b[0]
		c.n++
		b = b[1:]
		if !utf8.FullRune(c.held[:c.n]) {
			continue
		}
		if _, size := utf8.DecodeRune(c.held[:c.n]); size != c.n {
			return false
		}
		c.n = 0
	}
	for back := 1; back < utf8.UTFMax && back <= len(b); back++ {
		tail := b[len(b)-back:]
		if !utf8.RuneStart(tail[0]) {
			continue
		}
		if !utf8.FullRune(tail) {
			c.n = copy(c.held[:], tail)
			b = b[:len(b)-back]
		}
		break
	}
	return utf8.Valid(b)
}

// done says whether the bytes end with a character's end.
func (c *utf8Check) done() bool { return c.n == 0 }
