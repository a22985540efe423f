package entry

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
)

const (
	leafVersion  = 1
	maxLeafBytes = 65_535

	// MaxInteger is the highest number in a leaf: above it, many JSON readers round.
	MaxInteger = 1<<53 - 1
)

// Leaf is an entry with the hash that binds its detail, as the log holds it.
type Leaf struct {
	Entry
	Detail Hash // zero where the entry has no detail
}

// EncodeLeaf returns the bytes that the log hashes for an entry: canonical
// JSON, with the members of the entry's kind alone, in the order of their
// names. The detail hash is zero for an entry without one. An entry that
// cannot be written is an *[Error].
func EncodeLeaf(e *Entry, detail Hash) ([]byte, error) {
	return appendLeaf(make([]byte, 0, 512), e, detail)
}

func appendLeaf(b []byte, e *Entry, detail Hash) ([]byte, error) {
	rule, ok := kindRules[e.Kind]
	if !ok {
		return nil, &Error{Reason: fmt.Sprintf("kind %q is not written by this version", e.Kind)}
	}
	present := presentMembers(e, detail)
	if foreign := present &^ rule.allowed; foreign != 0 {
		return nil, &Error{Reason: fmt.Sprintf("%s does not belong to a %s", foreign, e.Kind)}
	}
	if missing := rule.required &^ (present | zeroIsValue); missing != 0 {
		return nil, &Error{Reason: fmt.Sprintf("a %s needs %s", e.Kind, missing)}
	}
	if err := checkValues(e); err != nil {
		return nil, err
	}
	present |= rule.required

	b = append(b, '{')
	for m := member(1); m < memberEnd; m <<= 1 {
		if present&m == 0 {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = append(b, m.name()...)
		b = append(b, '"', ':')
		b = appendMember(b, m, e, detail)
	}
	b = append(b, '}')
	if len(b) > maxLeafBytes {
		return nil, &Error{Reason: fmt.Sprintf("its leaf has %d bytes, more than %d", len(b), maxLeafBytes)}
	}
	return b, nil
}

func appendMember(b []byte, m member, e *Entry, detail Hash) []byte {
	if n := integerOf(m, e); n != nil {
		return strconv.AppendInt(b, *n, 10)
	}
	if s := wordOf(m, e); s != nil {
		return appendString(b, *s)
	}
	switch m {
	case mVersion:
		return strconv.AppendInt(b, leafVersion, 10)
	case mKind:
		return appendString(b, string(e.Kind))
	case mOutcome:
		return appendString(b, string(e.Outcome))
	case mWire:
		return appendHash(b, e.Wire)
	case mDetail:
		return appendHash(b, detail)
	case mDefinitions:
		return appendHash(b, e.Definitions)
	case mBody:
		return appendHash(b, e.Body)
	case mErased:
		return appendHash(b, e.Erased)
	case mFlags:
		b = append(b, '[')
		for i, flag := range e.Flags {
			if i > 0 {
				b = append(b, ',')
			}
			b = appendString(b, flag)
		}
		return append(b, ']')
	}
	return b
}

func appendString(b []byte, s string) []byte { return append(append(append(b, '"'), s...), '"') }

func appendHash(b []byte, h Hash) []byte {
	return append(hex.AppendEncode(append(b, '"'), h[:]), '"')
}

// DecodeLeaf reads a leaf, and nothing that is not exactly the canonical form
// of some entry: encoding the result again gives the same bytes.
func DecodeLeaf(b []byte) (Leaf, error) {
	if len(b) > maxLeafBytes {
		return Leaf{}, fmt.Errorf("it has %d bytes, more than %d", len(b), maxLeafBytes)
	}
	l := Leaf{Entry: Entry{Call: -1, Took: -1, ExitCode: -1}}
	p := leafParser{rest: b}
	var seen member
	p.expect('{')
	for {
		name := p.text()
		if p.failed {
			return Leaf{}, errors.New("it is not canonical JSON")
		}
		m, ok := memberAfter(seen, name)
		if !ok {
			return Leaf{}, fmt.Errorf("member %q is unknown, or out of order", name)
		}
		seen = m
		p.expect(':')
		p.member(m, &l)
		if p.failed {
			return Leaf{}, fmt.Errorf("member %q is not canonical", name)
		}
		if !p.accept(',') {
			break
		}
	}
	p.expect('}')
	if p.failed || len(p.rest) != 0 {
		return Leaf{}, errors.New("it is not canonical JSON")
	}
	// One rule for both directions: what the encoder would not write as it
	// stands here is not canonical, whatever the reason.
	var scratch [768]byte
	again, err := appendLeaf(scratch[:0], &l.Entry, l.Detail)
	if err != nil {
		return Leaf{}, err
	}
	if !bytes.Equal(again, b) {
		return Leaf{}, errors.New("it is not in canonical form")
	}
	return l, nil
}

// leafParser takes a leaf apart. It stops at the first thing that canonical
// JSON cannot contain and says no more than that it failed.
type leafParser struct {
	rest   []byte
	failed bool
}

func (p *leafParser) accept(c byte) bool {
	if len(p.rest) == 0 || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *leafParser) expect(c byte) {
	if !p.accept(c) {
		p.failed = true
	}
}

// text reads a string of printable ASCII without escapes.
func (p *leafParser) text() []byte {
	if !p.accept('"') {
		p.failed = true
		return nil
	}
	end := bytes.IndexByte(p.rest, '"')
	if end < 0 {
		p.failed = true
		return nil
	}
	s := p.rest[:end]
	p.rest = p.rest[end+1:]
	for _, c := range s {
		if c < 0x20 || c > 0x7e || c == '\\' {
			p.failed = true
			return nil
		}
	}
	return s
}

// word reads a string that mostly is a word of the format, which then need
// not be made again.
func (p *leafParser) word() string {
	s := p.text()
	if word, ok := knownWords[string(s)]; ok {
		return word
	}
	return string(s)
}

func (p *leafParser) integer() int64 {
	end := 0
	for end < len(p.rest) && p.rest[end] >= '0' && p.rest[end] <= '9' {
		end++
	}
	if end == 0 || end > 16 || (end > 1 && p.rest[0] == '0') {
		p.failed = true
		return 0
	}
	var n int64
	for _, c := range p.rest[:end] {
		n = n*10 + int64(c-'0')
	}
	p.rest = p.rest[end:]
	return n
}

func (p *leafParser) hash() Hash {
	var h Hash
	s := p.text()
	if len(s) != 2*len(h) {
		p.failed = true
		return h
	}
	if _, err := hex.Decode(h[:], s); err != nil {
		p.failed = true
	}
	return h
}

func (p *leafParser) member(m member, l *Leaf) {
	if n := integerOf(m, &l.Entry); n != nil {
		*n = p.integer()
		return
	}
	if s := wordOf(m, &l.Entry); s != nil {
		*s = p.word()
		return
	}
	switch m {
	case mVersion:
		p.failed = p.integer() != leafVersion || p.failed
	case mKind:
		l.Kind = Kind(p.word())
	case mOutcome:
		l.Outcome = Outcome(p.word())
	case mWire:
		l.Wire = p.hash()
	case mDetail:
		l.Detail = p.hash()
	case mDefinitions:
		l.Definitions = p.hash()
	case mBody:
		l.Body = p.hash()
	case mErased:
		l.Erased = p.hash()
	case mFlags:
		p.expect('[')
		for !p.failed {
			l.Flags = append(l.Flags, p.word())
			if !p.accept(',') {
				break
			}
		}
		p.expect(']')
	}
}
