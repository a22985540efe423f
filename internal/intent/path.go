package intent

import (
	"errors"
	"fmt"
	"strings"
)

// Bounds of a path. The second one also bounds how deep reading a call calls
// itself.
const (
	maxPathBytes = 1 << 10
	maxSegments  = 32
)

// Path is a place in the params of a call: arguments.items.0, or
// _meta."io.example/trace".
type Path struct {
	Text     string
	Segments []Segment
}

// Segment is a step of a path: a member's name. If Index is not negative it
// is an element of a list as well, should the call have a list there.
type Segment struct {
	Name  string
	Index int
}

// ParsePath reads a path.
func ParsePath(text string) (Path, error) {
	path := Path{Text: text}
	switch {
	case text == "":
		return path, errors.New("the path is empty")
	case len(text) > maxPathBytes:
		return path, fmt.Errorf("the path is longer than %d bytes", maxPathBytes)
	}
	for rest := text; ; {
		segment, after, err := nextSegment(rest)
		if err != nil {
			return path, err
		}
		if path.Segments = append(path.Segments, segment); len(path.Segments) > maxSegments {
			return path, fmt.Errorf("the path has more than %d steps", maxSegments)
		}
		if after == "" {
			return path, nil
		}
		rest = after[1:]
	}
}

// nextSegment cuts a segment off. What is left is empty or begins with a dot.
func nextSegment(text string) (segment Segment, rest string, err error) {
	if strings.HasPrefix(text, `"`) {
		name, rest, closed := unquote(text[1:])
		switch {
		case !closed:
			return segment, "", errors.New("a quote in the path has no end")
		case rest != "" && rest[0] != '.':
			return segment, "", fmt.Errorf("a dot is missing behind the quoted name %s", quoted(name))
		}
		return Segment{Name: name, Index: index(name)}, rest, nil
	}
	name, rest := text, ""
	if at := strings.IndexByte(text, '.'); at >= 0 {
		name, rest = text[:at], text[at:]
	}
	if name == "" {
		return segment, "", errors.New("the path has a dot too many")
	}
	return Segment{Name: name, Index: index(name)}, rest, nil
}

// unquote reads up to the closing quote. A backslash takes the special meaning
// from a quote and from a backslash.
func unquote(text string) (name, rest string, closed bool) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return b.String(), text[i+1:], true
		case c == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
			b.WriteByte(text[i])
		default:
			b.WriteByte(c)
		}
	}
	return "", "", false
}

// maxIndexDigits keeps an index within an int of 32 bits.
const maxIndexDigits = 9

// index reads the index of a list's element, which has no zero in front.
func index(name string) int {
	if len(name) > maxIndexDigits || len(name) > 1 && name[0] == '0' {
		return none
	}
	n := 0
	for _, c := range []byte(name) {
		if c < '0' || c > '9' {
			return none
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// QuotePath spells names as a path that leads there.
func QuotePath(names ...string) string {
	spelled := make([]string, 0, len(names))
	for _, name := range names {
		if name == "" || strings.ContainsAny(name, `."{}`) {
			name = `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
		}
		spelled = append(spelled, name)
	}
	return strings.Join(spelled, ".")
}
