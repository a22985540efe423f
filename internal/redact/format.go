package redact

import (
	"bytes"
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed formats.txt
var formatTable string

// format is one kind of key, known by how it begins.
type format struct {
	reason Reason
	prefix string
	parts  []part
	edge   bool // begins a word, and is no longer than its last part allows
	keep   bool // the prefix stays
	random bool // what follows does not read like words
}

// part is a run of bytes of one set, or a literal text.
type part struct {
	text     string
	set      class
	min, max int // max is 0 where there is no limit
}

var formats = mustParseFormats(formatTable)

// mustParseFormats panics where the table that is built into the program is
// wrong; a test would have found that.
func mustParseFormats(table string) []format {
	var list []format
	for line := range strings.Lines(table) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		f, err := parseFormat(line)
		if err != nil {
			panic(fmt.Sprintf("format %q: %v", line, err))
		}
		list = append(list, f)
	}
	return list
}

func parseFormat(line string) (format, error) {
	fields := strings.Fields(line)
	if len(fields) < 3 {
		return format{}, fmt.Errorf("has %d fields, needs a reason, a literal and a body", len(fields))
	}
	f := format{reason: Reason(fields[0]), prefix: fields[1]}
	if len(f.reason) > longestReason {
		return format{}, fmt.Errorf("reason is longer than %d", longestReason)
	}
	switch f.prefix[0] {
	case '^':
		f.edge, f.prefix = true, f.prefix[1:]
		f.prefix, f.random = strings.CutPrefix(f.prefix, "?")
	case '>':
		f.keep, f.prefix = true, f.prefix[1:]
	}
	for _, field := range fields[2:] {
		p, err := parsePart(field)
		if err != nil {
			return format{}, err
		}
		f.parts = append(f.parts, p)
	}
	return f, nil
}

var setLetters = map[byte]class{
	'a': alnum, 'w': word, 'h': hexDigits, 'u': upper | digits, 'l': lower | digits,
	'd': digits, 'b': base64Set, 'x': base64Set | dot, 'p': base64Set | dot | runMarks | otherMarks,
}

func parsePart(field string) (part, error) {
	if field[0] == '\'' {
		return part{text: strings.Trim(field, "'")}, nil
	}
	set, ok := setLetters[field[0]]
	if !ok {
		return part{}, fmt.Errorf("set %q is not known", field[:1])
	}
	count := field[1:]
	if least, open := strings.CutSuffix(count, "+"); open {
		n, err := strconv.Atoi(least)
		return part{set: set, min: n}, err
	}
	least, most, ranged := strings.Cut(count, "-")
	if !ranged {
		most = least
	}
	low, err := strconv.Atoi(least)
	if err != nil {
		return part{}, err
	}
	high, err := strconv.Atoi(most)
	return part{set: set, min: low, max: high}, err
}

// match returns where the key that begins at pos ends, or 0. Where the text
// was cut, a key that reaches its end need not be whole.
func (f *format) match(t []byte, pos int, cut bool) int {
	if f.edge && pos > 0 && is(t[pos-1], alnum) {
		return 0
	}
	at := pos + len(f.prefix)
	for i, p := range f.parts {
		last := i == len(f.parts)-1
		if p.text != "" {
			if !bytes.HasPrefix(t[at:], []byte(p.text)) {
				return cutEnd(t, at, cut)
			}
			at += len(p.text)
			continue
		}
		limit := len(t)
		if p.max > 0 && !last {
			limit = min(limit, at+p.max)
		}
		n := span(t[at:limit], p.set)
		if n < p.min {
			if at+n == len(t) {
				return cutEnd(t, at+n, cut)
			}
			return 0
		}
		if f.edge && last && p.max > 0 && n > p.max {
			return 0
		}
		at += n
	}
	if f.random && naturalShare(t[pos+len(f.prefix):at]) >= 60 {
		return 0
	}
	// A full stop after a key ends a sentence, and padding signs in front of
	// one belong to what follows.
	for at > pos && t[at-1] == '.' {
		at--
	}
	return at
}

func cutEnd(t []byte, at int, cut bool) int {
	if cut && at == len(t) {
		return at
	}
	return 0
}

const anchorBits = 13

// anchors finds the formats whose literal may begin at a place from its first
// three bytes. One lookup a byte is what makes many formats as cheap as one.
var anchors, anchored = func() (table [1 << anchorBits]uint16, lists [][]*format) {
	lists = [][]*format{nil}
	enter := func(three string, f *format) {
		slot := &table[anchorHash(three[0], three[1], three[2])]
		if *slot == 0 {
			lists = append(lists, nil)
			*slot = uint16(len(lists) - 1)
		}
		lists[*slot] = append(lists[*slot], f)
	}
	for i := range formats {
		f := &formats[i]
		if len(f.prefix) >= 3 {
			enter(f.prefix[:3], f)
			continue
		}
		for c := range 256 {
			if is(byte(c), f.parts[0].set) {
				enter(f.prefix+string(rune(c)), f)
			}
		}
	}
	return table, lists
}()

func anchorHash(a, b, c byte) uint32 {
	return (uint32(a) | uint32(b)<<8 | uint32(c)<<16) * 0x9E3779B1 >> (32 - anchorBits)
}

// keys finds known formats that begin in t[from:to].
func (s *search) keys(t []byte, from, to int) {
	for i := from; i+2 < to; i++ {
		slot := anchors[anchorHash(t[i], t[i+1], t[i+2])]
		if slot == 0 {
			continue
		}
		for _, f := range anchored[slot] {
			if !bytes.HasPrefix(t[i:], []byte(f.prefix)) {
				continue
			}
			end := f.match(t, i, s.cutTail)
			if end == 0 {
				continue
			}
			start := i
			if f.keep {
				start += len(f.prefix)
			}
			s.hit(start, end, f.reason)
			i = end - 1
			break
		}
	}
}
