package protocol

import (
	"crypto/sha256"
	"errors"
)

// DefinitionLimit is how large a tool's definition may be for its canonical
// form to be made. A larger one is hashed as it was written.
const DefinitionLimit = 1 << 20

// Definition is one tool of the answer to tools/list.
type Definition struct {
	Name  Token    // its name, whatever its type; shares memory with the result
	Span  Span     // where in the result it stands
	Bytes int64    // as it was written
	Sum   [32]byte // SHA-256 of its canonical form, without a salt
	Raw   bool     // it has no canonical form or is too large: Sum is that of its bytes as they were written
}

// The ways in which a result is no list of tools.
var (
	// ErrNoTools says that a result has no member "tools" that is a list.
	ErrNoTools = errors.New("the result has no list of tools")
	// ErrBroken says that a result breaks off or is no JSON.
	ErrBroken = errors.New("the result breaks off or is no JSON")
)

// Definitions lists the tools in the result of tools/list, in the order in
// which they stand there. More says that the list goes on: it is one page, and
// the result names a cursor for the next one.
//
// With an error come the definitions that stand before the place where the
// result goes wrong. They are no whole list.
func Definitions(result []byte) (list []Definition, more bool, err error) {
	s := shaper{b: result}
	tools := false
	whole := s.members(s.blank(0, space), func(name Token, i int) (end int, whole bool) {
		switch {
		case name.is(`"tools"`):
			list, tools = nil, meaning[result[i]] == openArray
			if tools {
				return s.elements(i, func(from, to int) { list = append(list, define(result, from, to)) })
			}
		case name.is(`"nextCursor"`):
			end, whole = s.inner(i)
			more = whole && string(result[i:end]) != "null"
			return end, whole
		}
		return s.inner(i)
	})
	switch {
	case !whole:
		return list, more, ErrBroken
	case !tools:
		return nil, more, ErrNoTools
	}
	return list, more, nil
}

// define reads the definition at result[from:to].
func define(result []byte, from, to int) Definition {
	raw := result[from:to]
	d := Definition{Span: Span{Start: int64(from), End: int64(to)}, Bytes: int64(len(raw))}
	s := shaper{b: raw}
	s.members(0, func(name Token, i int) (end int, whole bool) {
		end, whole = s.inner(i)
		if whole && name.is(`"name"`) {
			d.Name = tokenOf(raw[i:end])
		}
		return end, whole
	})
	if len(raw) <= DefinitionLimit {
		if canonical, err := Canonical(raw); err == nil {
			d.Sum = sha256.Sum256(canonical)
			return d
		}
	}
	d.Raw, d.Sum = true, sha256.Sum256(raw)
	return d
}

// tokenOf makes a token of a value.
func tokenOf(value []byte) Token {
	t := Token{Raw: value, Size: int64(len(value))}
	if len(value) > TokenLimit {
		t.Raw, t.Sum = value[:TokenLimit:TokenLimit], sha256.Sum256(value)
	}
	return t
}

// members goes through the object that begins at i. Each is given where a
// value begins, and returns where it ends, or that it is not whole.
func (s *shaper) members(i int, each func(name Token, i int) (end int, whole bool)) (whole bool) {
	if i >= len(s.b) || meaning[s.b[i]] != openObject {
		return false
	}
	for i++; ; {
		i = s.blank(i, comma)
		if i >= len(s.b) {
			return false
		}
		if meaning[s.b[i]] == closeObject {
			return true
		}
		if meaning[s.b[i]] != quote {
			return false
		}
		name := i
		i = s.str(i)
		key := Token{Raw: s.b[name:i], Size: int64(i - name)}
		if i = s.blank(i, space); i >= len(s.b) || meaning[s.b[i]] != colon {
			return false
		}
		if i = s.blank(i+1, space); i >= len(s.b) {
			return false
		}
		if i, whole = each(key, i); !whole {
			return false
		}
	}
}

// elements goes through the array that begins at i.
func (s *shaper) elements(i int, each func(from, to int)) (end int, whole bool) {
	for i++; ; {
		i = s.blank(i, comma)
		if i >= len(s.b) {
			return i, false
		}
		if meaning[s.b[i]] == closeArray {
			return i + 1, true
		}
		end, whole := s.inner(i)
		if !whole {
			return end, false
		}
		each(i, end)
		i = end
	}
}

// inner passes a value within an object or array. One that reaches to the end
// of everything, or has no bytes, is not whole.
func (s *shaper) inner(i int) (end int, whole bool) {
	end, _ = s.pass(i)
	return end, i < end && end < len(s.b)
}
