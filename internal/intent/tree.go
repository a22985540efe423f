package intent

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Bounds of a file.
const (
	maxBytes   = 256 << 10
	maxNesting = 32
)

type nodeKind uint8

const (
	nothing nodeKind = iota
	mapping
	sequence
	text
	number
	boolean
)

// node is a part of the file, whichever language that is written in.
type node struct {
	kind         nodeKind
	text         string // of a scalar; of a number or a boolean as it is written
	line, column int
	entries      []entry
	items        []*node
}

type entry struct{ key, value *node }

// is names the node's kind for a problem.
func (n *node) is() string {
	switch n.kind {
	case nothing:
		return "nothing"
	case mapping:
		return "an object"
	case sequence:
		return "a list"
	case text:
		return "a text"
	case number:
		return "a number"
	}
	return "true or false"
}

// get is the value of a key, and nil if the key is not there or has nothing
// behind it.
func (n *node) get(name string) *node {
	for _, e := range n.entries {
		if e.key.text == name && e.value.kind != nothing {
			return e.value
		}
	}
	return nil
}

// plant makes the tree of a text. Where it returns problems there is no tree.
func plant(name, source string) (*node, []Problem) {
	source = strings.TrimPrefix(source, "\ufeff") // editors on Windows begin with it
	if p, ok := unreadable(source); ok {
		return nil, []Problem{p}
	}
	if isJSON(name, source) {
		return plantJSON(source)
	}
	return plantYAML(source)
}

// isJSON goes by the name where that says it.
func isJSON(name, source string) bool {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".json":
		return true
	case ".yaml", ".yml":
		return false
	}
	return strings.HasPrefix(strings.TrimLeft(source, " \t\r\n"), "{")
}

// unreadable finds what makes a text no text, or too much of one.
func unreadable(source string) (Problem, bool) {
	if len(source) > maxBytes {
		return Problem{Line: 1, Column: 1, Message: fmt.Sprintf("the mapping is longer than %d KiB", maxBytes>>10), Hint: "split it by server"}, true
	}
	number := 0
	for line := range strings.Lines(source) {
		number++
		switch {
		case !utf8.ValidString(line):
			return Problem{Line: number, Column: 1, Message: "the line is not UTF-8", Hint: "save the file as UTF-8"}, true
		case strings.IndexByte(line, 0) >= 0:
			return Problem{Line: number, Column: 1, Message: "the line holds a NUL byte", Hint: "save the file as plain text"}, true
		}
	}
	if strings.TrimSpace(source) == "" {
		return Problem{Line: 1, Column: 1, Message: "the file is empty", Hint: "deed map draft -- COMMAND writes one to begin with"}, true
	}
	return Problem{}, false
}
