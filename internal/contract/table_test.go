package contract

import (
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/condition"
)

// tree reads a file of testdata and gives its nodes.
func tree(t *testing.T, name string) *node {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	root, problems := plant(string(source))
	if len(problems) > 0 {
		t.Fatal(Problems(problems))
	}
	return root
}

// clone copies a tree, so that a test may cut it.
func (n *node) clone() *node {
	c := *n
	c.entries, c.items = slices.Clone(n.entries), slices.Clone(n.items)
	for i, e := range c.entries {
		c.entries[i] = entry{e.key, e.value.clone()}
	}
	for i, item := range c.items {
		c.items[i] = item.clone()
	}
	return &c
}

// compiled is what a tree comes to, problems included, in a form that can be
// compared.
func compiled(root *node) (*Contract, []Problem) {
	r := newReader("")
	r.read(root)
	for _, check := range r.later {
		check()
	}
	return r.contract, r.problems
}

// place is where a key of the table stands in a tree.
type placed struct {
	key    Key
	parent *node
	index  int
}

// places walks the tree along the table.
func places(n *node, in string) []placed {
	var found []placed
	for i, e := range n.entries {
		for _, key := range keys {
			if key.In != in || key.Name != e.key.text {
				continue
			}
			found = append(found, placed{key, n, i})
			below := strings.TrimPrefix(in+"."+key.Name, ".")
			for _, child := range children(e.value, key) {
				found = append(found, places(child, below)...)
			}
		}
	}
	return found
}

func children(n *node, key Key) []*node {
	switch {
	case n.kind == sequence:
		return n.items
	case n.kind == mapping && key.Named:
		var list []*node
		for _, e := range n.entries {
			list = append(list, e.value)
		}
		return list
	}
	return []*node{n}
}

func TestTheLargestContractUsesEveryKey(t *testing.T) {
	t.Parallel()
	var used []string
	for _, p := range places(tree(t, "testdata/valid/everything.yaml"), "") {
		used = append(used, p.key.Path())
	}
	for _, key := range keys {
		if !slices.Contains(used, key.Path()) {
			t.Errorf("%s is not used", key.Path())
		}
	}
}

// A key without an effect would be a promise that nobody keeps.
func TestEveryKeyHasAnEffect(t *testing.T) {
	t.Parallel()
	// These name what is meant anyway, for those who want it written down.
	silent := []string{"evidence.late", "state.at"}
	const file = "testdata/valid/everything.yaml"
	original := tree(t, file)
	count := len(places(original, ""))
	whole, problems := compiled(original)
	if len(problems) > 0 {
		t.Fatal(Problems(problems))
	}
	for i := range count {
		root := original.clone()
		p := places(root, "")[i]
		if slices.Contains(silent, p.key.Path()) {
			continue
		}
		line := p.parent.entries[p.index].key.line
		p.parent.entries = slices.Delete(p.parent.entries, p.index, p.index+1)
		if without, problems := compiled(root); len(problems) == 0 && same(without, whole) {
			t.Errorf("without %s of line %d the contract is the same", p.key.Path(), line)
		}
	}
}

// same compares contracts; expressions are equal if their texts are.
func same(a, b *Contract) bool {
	return reflect.DeepEqual(flat(reflect.ValueOf(*a)), flat(reflect.ValueOf(*b)))
}

func flat(v reflect.Value) any {
	if v.Type() == reflect.TypeFor[*condition.Expr]() {
		if v.IsNil() {
			return nil
		}
		return v.Interface().(*condition.Expr).String()
	}
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		return flat(v.Elem())
	case reflect.Slice:
		list := []any{}
		for i := range v.Len() {
			list = append(list, flat(v.Index(i)))
		}
		return list
	case reflect.Struct:
		if v.NumField() > 0 && !v.Type().Field(0).IsExported() {
			return v.Interface()
		}
		list := []any{}
		for i := range v.NumField() {
			list = append(list, flat(v.Field(i)))
		}
		return list
	}
	return v.Interface()
}

func TestNoKeyIsContentWithNothing(t *testing.T) {
	t.Parallel()
	const file = "testdata/valid/everything.yaml"
	original := tree(t, file)
	count := len(places(original, ""))
	for i := range count {
		root := original.clone()
		p := places(root, "")[i]
		value := p.parent.entries[p.index].value
		*value = node{line: value.line, column: value.column}
		if _, problems := compiled(root); !slices.ContainsFunc(problems, func(q Problem) bool { return q.Line == value.line }) {
			t.Errorf("%s of line %d may be empty: %v", p.key.Path(), value.line, problems)
		}
	}
}

func TestNoKeyTakesAMappingOfUnknownKeys(t *testing.T) {
	t.Parallel()
	const file = "testdata/valid/everything.yaml"
	original := tree(t, file)
	count := len(places(original, ""))
	for i := range count {
		root := original.clone()
		p := places(root, "")[i]
		value := p.parent.entries[p.index].value
		*value = node{kind: mapping, line: value.line, column: value.column, entries: []entry{{
			key:   &node{kind: text, text: "zz zz", line: value.line, column: value.column},
			value: &node{kind: boolean, text: "true", line: value.line, column: value.column},
		}}}
		if _, problems := compiled(root); !slices.ContainsFunc(problems, func(q Problem) bool { return q.Line == value.line }) {
			t.Errorf("%s of line %d takes anything: %v", p.key.Path(), value.line, problems)
		}
	}
}

func TestTheTableSaysEverythingAboutEveryKey(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, key := range Keys() {
		switch {
		case seen[key.Path()]:
			t.Errorf("%s stands there twice", key.Path())
		case !strings.HasSuffix(key.Sentence, ".") || key.Sentence == strings.ToLower(key.Sentence) && key.Name != "net":
			t.Errorf("%s: %q is no sentence", key.Path(), key.Sentence)
		case (key.Kind == WordKind) != (len(key.Words) > 0):
			t.Errorf("%s has the words %v", key.Path(), key.Words)
		case key.Required && key.Default != "":
			t.Errorf("%s is required and has a default", key.Path())
		case key.In != "" && !seen[key.In]:
			t.Errorf("%s stands before the key that it belongs to", key.Path())
		}
		seen[key.Path()] = true
	}
}
