package protocol

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// Field is the shape of one member: its name, its type and its size, and
// never its value.
type Field struct {
	Name  string // dotted path; [] stands for the first element of an array
	Type  string // string, number, boolean, null, object, array, or unknown for what is no JSON
	Bytes int64  // of the value as it was written
	Count int64  // elements of an array, members of an object
}

// The limits of a shape. What lies beyond them is counted and not listed.
const (
	ShapeDepth  = 4  // how many objects and arrays deep a shape goes
	ShapeFields = 64 // fields of a shape
	NameLimit   = 64 // bytes of one member's name
)

// Shape lists the members of a message's subject, in the order in which they
// stand there. An array is followed by the shape of its first element. A
// subject that is no object is listed itself, under an empty name.
//
// It returns nil when the subject is not within the head of the message.
func Shape(m *Message) []Field {
	if m.Subject.Start < 0 || m.Subject.End <= m.Subject.Start || m.Subject.End > int64(len(m.Head)) {
		return nil
	}
	s := shaper{b: m.Head[m.Subject.Start:m.Subject.End]}
	s.value(0, "", 0)
	return s.fields
}

// shaper walks over a value. Its methods take where something begins and
// return where it ends; the end of b means that there is no more.
type shaper struct {
	b      []byte
	fields []Field
}

// value lists the value that begins at i. It calls itself at most ShapeDepth
// deep.
func (s *shaper) value(i int, name string, depth int) (end int) {
	if i >= len(s.b) {
		return i
	}
	if len(s.fields) == ShapeFields {
		end, _ = s.pass(i)
		return end
	}
	kind := meaning[s.b[i]]
	field := -1
	if depth > 0 || kind != openObject {
		field = len(s.fields)
		s.fields = append(s.fields, Field{Name: name})
	}
	var count int64
	switch {
	case depth == ShapeDepth:
		end, count = s.pass(i)
	case kind == openObject:
		end, count = s.object(i, name, depth)
	case kind == openArray:
		end, count = s.array(i, name, depth)
	default:
		end, _ = s.pass(i)
	}
	if field >= 0 {
		f := &s.fields[field]
		f.Type, f.Bytes, f.Count = typeOf(s.b[i:end]), int64(end-i), count
	}
	return end
}

func (s *shaper) object(i int, name string, depth int) (end int, count int64) {
	for i++; ; {
		i = s.blank(i, comma)
		if i >= len(s.b) {
			return i, count
		}
		if meaning[s.b[i]] != quote {
			return s.close(i, closeObject), count
		}
		key := i
		i = s.str(i)
		child := shapeName(s.b[key:i])
		if i = s.blank(i, space); i >= len(s.b) || meaning[s.b[i]] != colon {
			return len(s.b), count
		}
		if i = s.blank(i+1, space); i >= len(s.b) {
			return i, count
		}
		if name != "" {
			child = name + "." + child
		}
		count++
		next := s.value(i, child, depth+1)
		if next == i {
			return len(s.b), count
		}
		i = next
	}
}

func (s *shaper) array(i int, name string, depth int) (end int, count int64) {
	for i++; ; {
		i = s.blank(i, comma)
		if i >= len(s.b) {
			return i, count
		}
		if meaning[s.b[i]] == closeArray {
			return i + 1, count
		}
		next := i
		if count == 0 {
			next = s.value(i, name+"[]", depth+1)
		} else {
			next, _ = s.pass(i)
		}
		if next == i {
			return len(s.b), count
		}
		count++
		i = next
	}
}

// close ends an object or array at i, or at the end if it is broken there.
func (s *shaper) close(i int, bracket uint8) int {
	if meaning[s.b[i]] == bracket {
		return i + 1
	}
	return len(s.b)
}

// pass goes past a value. Of an object or array it counts what is in it.
func (s *shaper) pass(i int) (end int, count int64) {
	depth := 0
	filled := false // something was there since the last comma at the top
	for i < len(s.b) {
		kind := meaning[s.b[i]]
		switch kind {
		case quote:
			i = s.str(i)
			if depth == 0 {
				return i, 0
			}
		case openObject, openArray:
			depth++
			i++
			if depth == 1 {
				continue
			}
		case closeObject, closeArray:
			if depth == 0 {
				return i, 0
			}
			if depth--; depth == 0 {
				if filled {
					count++
				}
				return i + 1, count
			}
			i++
		case plain:
			for i < len(s.b) && meaning[s.b[i]] == plain {
				i++
			}
			if depth == 0 {
				return i, 0
			}
		default: // comma, colon, space
			if depth == 0 {
				return i, 0
			}
			i++
		}
		if depth == 1 && kind == comma && filled {
			count++
			filled = false
		} else if kind != space && kind != comma {
			filled = true
		}
	}
	return i, count
}

// blank goes past white space, and past one more kind of byte.
func (s *shaper) blank(i int, also uint8) int {
	for i < len(s.b) && (meaning[s.b[i]] == space || meaning[s.b[i]] == also) {
		i++
	}
	return i
}

// str goes past the string that begins at i.
func (s *shaper) str(i int) int {
	var sc scanner
	end, _ := sc.stringEnd(s.b, i+1)
	return end
}

// shapeName returns a member's name, from its token, as valid UTF-8 of at
// most NameLimit bytes.
func shapeName(token []byte) string {
	raw := bytes.TrimSuffix(token[1:], []byte{'"'})
	if enough := 6*NameLimit + 12; len(raw) > enough {
		raw = raw[:enough] // an escape of six bytes may stand for one
	}
	decoded, _ := appendDecoded(nil, raw)
	name := strings.ToValidUTF8(string(decoded), "\uFFFD")
	if len(name) <= NameLimit {
		return name
	}
	cut := NameLimit
	for !utf8.RuneStart(name[cut]) {
		cut--
	}
	return name[:cut]
}

// typeOf returns the type of a value.
func typeOf(value []byte) string {
	switch {
	case len(value) == 0:
		return "unknown"
	case value[0] == '"':
		return "string"
	case value[0] == '{':
		return "object"
	case value[0] == '[':
		return "array"
	}
	switch string(value) {
	case "true", "false":
		return "boolean"
	case "null":
		return "null"
	case "NaN", "Infinity":
		return "number"
	}
	if c := value[0]; '0' <= c && c <= '9' || c == '-' || c == '+' || c == '.' {
		return "number"
	}
	return "unknown"
}
