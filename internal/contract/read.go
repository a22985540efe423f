package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/likeness"
)

// reader turns a tree into a contract and gathers what is wrong on the way.
type reader struct {
	source   string
	contract *Contract
	problems []Problem
	warnings []Problem
	known    map[string][]Key // by the mapping that they stand in
	ids      map[string]int   // lines of the checks' ids
	checks   int
	later    []func() // what needs all checks to be known

	declared condition.Scope // what guards and limits may read
	seen     condition.Scope // what conditions on facts may read
}

func newReader(source string) *reader {
	r := &reader{source: source, contract: &Contract{Text: source}, known: map[string][]Key{}, ids: map[string]int{}}
	for _, key := range keys {
		r.known[key.In] = append(r.known[key.In], key)
	}
	return r
}

// problem tells what is wrong with the value at a path.
func (r *reader) problem(n *node, path, hint, format string, args ...any) {
	r.problems = append(r.problems, r.at(n, path, hint, format, args...))
}

func (r *reader) warn(n *node, path, hint, format string, args ...any) {
	r.warnings = append(r.warnings, r.at(n, path, hint, format, args...))
}

func (r *reader) at(n *node, path, hint, format string, args ...any) Problem {
	return Problem{Line: n.line, Column: n.column, Path: path, Text: n.shown(), Message: fmt.Sprintf(format, args...), Hint: hint}
}

// shown is the node as a problem quotes it.
func (n *node) shown() string {
	switch n.kind {
	case mapping:
		if len(n.entries) > 0 {
			return clip(n.entries[0].key.text + ": …")
		}
		return "{}"
	case sequence:
		return "[…]"
	}
	return clip(n.text)
}

// is names the node's kind for a problem.
func (n *node) is() string {
	switch n.kind {
	case nothing:
		return "nothing"
	case mapping:
		return "a mapping"
	case sequence:
		return "a list"
	case text:
		return "a text"
	case number:
		return "a number"
	}
	return "true or false"
}

// fields are the keys of one mapping.
type fields struct {
	*reader
	node *node
	path string
}

// mapping reads a node as a mapping with the keys of the table. It is not ok if
// the node is no mapping at all.
func (r *reader) mapping(n *node, in, path string) (fields, bool) {
	f := fields{reader: r, node: n, path: path}
	if n.kind != mapping {
		names := make([]string, 0, 3)
		for _, key := range r.known[in] {
			if len(names) < cap(names) {
				names = append(names, key.Name)
			}
		}
		r.problem(n, path, "write its keys, as in "+strings.Join(names, ": …, ")+": …", "here stands %s instead of keys", n.is())
		return f, false
	}
	known := r.known[in]
	r.noDuplicates(n, path)
	for _, e := range n.entries {
		if !slices.ContainsFunc(known, func(k Key) bool { return k.Name == e.key.text }) {
			r.unknown(e.key, in, path)
		}
	}
	for _, key := range known {
		if key.Required && f.get(key.Name) == nil {
			r.problem(n, f.at(key.Name), "write `"+key.Name+": …`. "+key.Sentence, "%s is missing", key.Name)
		}
	}
	return f, true
}

func (r *reader) noDuplicates(n *node, path string) {
	seen := map[string]int{}
	for _, e := range n.entries {
		if line, ok := seen[e.key.text]; ok {
			r.problem(e.key, join(path, e.key.text), "keep one of them", "%s stands here twice, first in line %d", clip(e.key.text), line)
			continue
		}
		seen[e.key.text] = e.key.line
	}
}

// foreign are keys of other languages, or of people's expectation, each with
// what to do instead.
var foreign = map[string]string{
	"version":     "versions are numbered by themselves: leave it out",
	"id":          "the id of a contract is its key `contract`",
	"name":        "an id is the key `id`, and a contract has a `title`",
	"description": "write it behind #, or into `title`",
	"source":      "the key is `from`",
	"type":        "the key is `expect`",
	"if":          "guards are the key `when`, conditions on facts `where`",
	"deadline":    "the key is `within`",
	"timeout":     "the key is `within`, and `settle` says when a verdict is final",
	"must":        "what must be seen are `steps`",
	"must_not":    "what must not be seen is `never`",
	"valid_for":   "the key is `lookback`",
}

func (r *reader) unknown(key *node, in, path string) {
	names := make([]string, 0, len(r.known[in]))
	for _, k := range r.known[in] {
		names = append(names, k.Name)
	}
	hint := "there are " + strings.Join(names, ", ")
	if near := likeness.Closest(key.text, names); near != "" {
		hint = "did you mean " + near + "?"
	} else if other, ok := foreign[key.text]; ok {
		hint = other
	} else {
		for _, k := range keys {
			if k.Name == key.text {
				hint = "that is a key of " + cmpOr(k.In, "the contract itself") + ". " + hint
				break
			}
		}
	}
	r.problem(key, join(path, key.text), hint, "the key %s is not known here", clip(key.text))
}

func cmpOr(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func join(path, name string) string {
	if path == "" {
		return clip(name)
	}
	return path + "." + clip(name)
}

// get is the value of a key, and nil if the key is not there.
func (f fields) get(name string) *node {
	for i := range f.node.entries {
		if f.node.entries[i].key.text == name {
			return f.node.entries[i].value
		}
	}
	return nil
}

func (f fields) at(name string) string { return join(f.path, name) }

// list reads a node as a list; single says that one alone may stand without
// brackets.
func (r *reader) list(n *node, path string, single bool) []*node {
	switch {
	case n == nil:
		return nil
	case n.kind == sequence:
		return n.items
	case single && n.kind != nothing:
		return []*node{n}
	}
	r.problem(n, path, "write each element behind a dash, or all in brackets", "here stands %s instead of a list", n.is())
	return nil
}

// named reads a mapping from names that the author chose.
func (f fields) named(name, what string) []entry {
	n := f.get(name)
	if n == nil {
		return nil
	}
	if n.kind != mapping {
		f.problem(n, f.at(name), "write each "+what+" as `its_name: {…}`", "here stands %s instead of names", n.is())
		return nil
	}
	f.noDuplicates(n, f.at(name))
	return n.entries
}
