package protocol

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// The search for a quote looks at eight bytes at a time, because most strings
// are short and a call for each would cost more than the search. When there
// is none near, bytes.IndexByte goes on, which is much faster over a distance.
const (
	ones = 0x0101010101010101
	tops = 0x80 * ones
	near = 32 // bytes
)

// dull goes past bytes that do not matter in a value that is not looked into,
// eight at a time and perhaps not past all of them.
func dull(s []byte, i int) int {
	for ; i+8 <= len(s); i += 8 {
		w := binary.LittleEndian.Uint64(s[i:])
		// Brackets and braces differ in one bit.
		q, o, c := w^'"'*ones, (w|0x20*ones)^'{'*ones, (w|0x20*ones)^'}'*ones
		if hit := ((q-ones)&^q | (o-ones)&^o | (c-ones)&^c) & tops; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	return i
}

// stringEnd looks for the end of a string that s[i] lies in.
func (sc *scanner) stringEnd(s []byte, i int) (end int, done bool) {
	if sc.escaped && i < len(s) {
		sc.escaped = false
		i++
	}
	for from := i; ; from = i {
		i = quoteIn(s, i)
		if i == len(s) {
			sc.escaped = escaping(s, from, i)
			return i, false
		}
		i++
		if !escaping(s, from, i-1) {
			return i, true
		}
	}
}

// quoteIn returns where the first quote from s[i] on is, or len(s).
func quoteIn(s []byte, i int) int {
	for far := i + near; i+8 <= len(s) && i < far; i += 8 {
		// A byte of x is zero where s has a quote; the lowest zero byte
		// sets the lowest bit of hit.
		x := binary.LittleEndian.Uint64(s[i:]) ^ '"'*ones
		if hit := (x - ones) &^ x & tops; hit != 0 {
			return i + bits.TrailingZeros64(hit)/8
		}
	}
	if n := bytes.IndexByte(s[i:], '"'); n >= 0 {
		return i + n
	}
	return len(s)
}

// escaping says whether s[from:to], which does not begin within an escape,
// ends in a backslash that belongs to the byte behind it.
func escaping(s []byte, from, to int) bool {
	n := to
	for n > from && s[n-1] == '\\' {
		n--
	}
	return (to-n)&1 == 1
}
