// Package lexer reads JSON by position: where each key and value stands,
// never what it means.
//
// It is for code that replaces or inspects parts of a text and must leave the
// rest byte for byte as it was. It decodes nothing, turns no number into a
// float, keeps order and duplicates, and never allocates per token. It must
// not panic or recurse whatever it is given: a nesting of a million levels
// costs one bit a level.
//
// # Life of a token
//
// [Lexer.Next] skips white space, commas and colons and returns the next key,
// value or bracket as a pair of offsets. Where the text stops being JSON it
// returns [Broken] with the offset, and the caller decides what the rest is.
// A text that ends too early gives what is there, marked Cut, and then [End].
package lexer

import (
	"encoding/binary"
	"math/bits"
)

// Kind says what a token is.
type Kind uint8

// The kinds of token.
const (
	End     Kind = iota // nothing more
	Open                // { or [
	Close               // } or ]
	Key                 // a member's name
	String              // a string value
	Literal             // a number, true, false or null
	Broken              // not JSON from Start on
)

// Token is a piece of the text: Data[Start:End]. Strings include their quotes.
type Token struct {
	Kind    Kind
	Escaped bool // a string with at least one backslash
	Cut     bool // a string whose closing quote is missing
	Start   int
	End     int
}

// Text returns the offsets of a string's content, without its quotes.
func (t Token) Text() (start, end int) {
	if t.Cut {
		return t.Start + 1, t.End
	}
	return t.Start + 1, t.End - 1
}

type expectation uint8

const (
	wantValue expectation = iota
	wantFirstValue
	wantFirstKey
	wantKey
	wantColon
	wantComma
	wantNothing
)

// Lexer reads one JSON text. The zero value reads nothing; see [Lexer.Reset].
type Lexer struct {
	data  []byte
	pos   int
	want  expectation
	depth int
	// One bit a level, set for an object. A slice of structs would let a
	// hostile nesting take a hundred times the memory of its text.
	stack []uint64
}

// Reset starts reading data, keeping the memory of the last text.
func (l *Lexer) Reset(data []byte) {
	l.data, l.pos, l.want, l.depth = data, 0, wantValue, 0
}

// Depth is the number of open brackets.
func (l *Lexer) Depth() int { return l.depth }

// Pos is the offset up to which the text was read.
func (l *Lexer) Pos() int { return l.pos }

// InObject says whether the innermost open bracket is a brace.
func (l *Lexer) InObject() bool {
	if l.depth == 0 {
		return false
	}
	i := l.depth - 1
	return l.stack[i>>6]>>(i&63)&1 == 1
}

func (l *Lexer) push(object bool) {
	i := l.depth
	if i>>6 >= len(l.stack) {
		l.stack = append(l.stack, 0)
	}
	if object {
		l.stack[i>>6] |= 1 << (i & 63)
	} else {
		l.stack[i>>6] &^= 1 << (i & 63)
	}
	l.depth++
}

// Next returns the next token.
func (l *Lexer) Next() Token {
	for l.pos < len(l.data) {
		start := l.pos
		switch c := l.data[start]; c {
		case ' ', '\t', '\n', '\r':
			l.pos++
		case ':':
			if l.want != wantColon {
				return l.broken(start)
			}
			l.want = wantValue
			l.pos++
		case ',':
			if l.want != wantComma || l.depth == 0 {
				return l.broken(start)
			}
			l.want = wantValue
			if l.InObject() {
				l.want = wantKey
			}
			l.pos++
		case '"':
			return l.text(start)
		case '{', '[':
			if l.want > wantFirstValue {
				return l.broken(start)
			}
			l.push(c == '{')
			l.want = wantFirstValue
			if c == '{' {
				l.want = wantFirstKey
			}
			l.pos++
			return Token{Kind: Open, Start: start, End: l.pos}
		case '}', ']':
			object := c == '}'
			if l.depth == 0 || l.InObject() != object {
				return l.broken(start)
			}
			if l.want != wantComma && (object && l.want != wantFirstKey || !object && l.want != wantFirstValue) {
				return l.broken(start)
			}
			l.depth--
			l.pos++
			l.valueDone()
			return Token{Kind: Close, Start: start, End: l.pos}
		default:
			return l.literal(start)
		}
	}
	return Token{Kind: End, Start: l.pos, End: l.pos}
}

func (l *Lexer) valueDone() {
	l.want = wantComma
	if l.depth == 0 {
		l.want = wantNothing
	}
}

func (l *Lexer) broken(at int) Token {
	return Token{Kind: Broken, Start: at, End: len(l.data)}
}

func (l *Lexer) text(start int) Token {
	key := l.want == wantKey || l.want == wantFirstKey
	if !key && l.want > wantFirstValue {
		return l.broken(start)
	}
	end, escaped, closed := StringEnd(l.data, start+1)
	l.pos = end
	if key {
		l.want = wantColon
		return Token{Kind: Key, Escaped: escaped, Cut: !closed, Start: start, End: end}
	}
	l.valueDone()
	return Token{Kind: String, Escaped: escaped, Cut: !closed, Start: start, End: end}
}

func (l *Lexer) literal(start int) Token {
	if l.want > wantFirstValue {
		return l.broken(start)
	}
	end := start
	for end < len(l.data) && isLiteral[l.data[end]] {
		end++
	}
	word := l.data[start:end]
	if len(word) == 0 {
		return l.broken(start)
	}
	if c := word[0]; c != '-' && (c < '0' || c > '9') {
		switch string(word) {
		case "true", "false", "null":
		default:
			return l.broken(start)
		}
	}
	l.pos = end
	l.valueDone()
	return Token{Kind: Literal, Start: start, End: end}
}

// isLiteral has the bytes of numbers and of the three words. A number's
// grammar is not checked: an odd number is still a value to be kept as it is.
var isLiteral = func() (set [256]bool) {
	for _, c := range []byte("0123456789+-.eEtrufalsn") {
		set[c] = true
	}
	return set
}()

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// StringEnd finds the end of a string whose content begins at pos: the offset
// after the closing quote, or the end of the data where there is none.
func StringEnd(data []byte, pos int) (end int, escaped, closed bool) {
	for {
		// Eight bytes at a time: a byte is a quote or a backslash where the
		// exclusive or with one of them leaves zero.
		for pos+8 <= len(data) {
			w := binary.LittleEndian.Uint64(data[pos:])
			q := w ^ ones*'"'
			b := w ^ ones*'\\'
			found := ((q - ones) &^ q & highs) | ((b - ones) &^ b & highs)
			if found != 0 {
				pos += bits.TrailingZeros64(found) >> 3
				break
			}
			pos += 8
		}
		for pos < len(data) && data[pos] != '"' && data[pos] != '\\' {
			pos++
		}
		if pos >= len(data) {
			return len(data), escaped, false
		}
		if data[pos] == '"' {
			return pos + 1, escaped, true
		}
		escaped = true
		pos += 2
		if pos > len(data) {
			return len(data), escaped, false
		}
	}
}
