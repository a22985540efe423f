package contract

import (
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
	"pgregory.net/rapid"
)

// schemaPage is where editors find the schema.
const schemaPage = "../../docs/contract.schema.json"

func TestTheSchemaInTheDocumentsIsTheLanguages(t *testing.T) {
	t.Parallel()
	golden(t, schemaPage, string(Schema()))
}

// golden holds a text against a file, or writes it there with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v (run go test ./internal/contract -update to write it)", err)
	}
	if string(want) != got {
		t.Errorf("%s is out of date; run: go test ./internal/contract -update", name)
	}
}

func validator(t testing.TB) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(Schema(), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

// instance is a tree as an editor hands it to a checker of schemas.
func instance(n *node) any {
	switch n.kind {
	case mapping:
		m := map[string]any{}
		for _, e := range n.entries {
			m[e.key.text] = instance(e.value)
		}
		return m
	case sequence:
		list := []any{}
		for _, item := range n.items {
			list = append(list, instance(item))
		}
		return list
	case number:
		if f, err := strconv.ParseFloat(n.text, 64); err == nil {
			return f
		}
		return n.text
	case boolean:
		return n.text == "true"
	case text:
		return n.text
	}
	return nil
}

func TestTheSchemaAcceptsEveryContractOfTheRepository(t *testing.T) {
	t.Parallel()
	check := validator(t)
	for _, name := range repository(t) {
		if err := check.Validate(instance(tree(t, name))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheSchemaRefusesAnUnknownKeyEverywhere(t *testing.T) {
	t.Parallel()
	const file = "testdata/valid/everything.yaml"
	check := validator(t)
	root := tree(t, file)
	var mappings []*node
	for _, p := range append(places(root, ""), placed{Key{}, root, 0}) {
		if p.key.Kind != MappingKind && p.key.Kind != CountKind {
			continue
		}
		for _, child := range children(p.parent.entries[p.index].value, p.key) {
			if child.kind == mapping {
				mappings = append(mappings, child)
			}
		}
	}
	if mappings = append(mappings, root); len(mappings) < 30 {
		t.Fatalf("only %d mappings were found", len(mappings))
	}
	for _, m := range mappings {
		m.entries = append(m.entries, entry{key: &node{kind: text, text: "zebra"}, value: &node{kind: boolean, text: "true"}})
		if check.Validate(instance(root)) == nil {
			t.Errorf("a key zebra may stand in the mapping of line %d", m.line)
		}
		m.entries = m.entries[:len(m.entries)-1]
	}
	if err := check.Validate(instance(root)); err != nil {
		t.Errorf("without them: %v", err)
	}
}

func TestTheSchemaMissesEveryRequiredKey(t *testing.T) {
	t.Parallel()
	const file = "testdata/valid/everything.yaml"
	check := validator(t)
	for i, p := range places(tree(t, file), "") {
		if !p.key.Required {
			continue
		}
		root := tree(t, file)
		p := places(root, "")[i]
		p.parent.entries = slices.Delete(p.parent.entries, p.index, p.index+1)
		if check.Validate(instance(root)) == nil {
			t.Errorf("%s may be missing", p.key.Path())
		}
	}
}

// An editor that marks what is right teaches its user to look away.
func TestTheSchemaRefusesNothingThatIsAContract(t *testing.T) {
	t.Parallel()
	const file = "testdata/valid/everything.yaml"
	check := validator(t)
	count := len(places(tree(t, file), ""))
	accepted := 0
	scalars := []node{
		{kind: text, text: "stripe"},
		{kind: text, text: "48h"},
		{kind: text, text: "0s"},
		{kind: text, text: "2d3h"},
		{kind: text, text: "subject"},
		{kind: text, text: "refs.x==params.line"},
		{kind: text, text: " refs.a-b.c ==  action.subject_id "},
		{kind: text, text: "shop.x-y_z"},
		{kind: text, text: "money_moved"},
		{kind: text, text: "fact.amount == params.amount"},
		{kind: text, text: "params.amount"},
		{kind: text, text: "true"},
		{kind: text, text: "-1.5 USDC"},
		{kind: text, text: "5 EUR"},
		{kind: text, text: "none"},
		{kind: text, text: "settle"},
		{kind: text, text: "USD"},
		{kind: text, text: "a_b.c-d.e"},
		{kind: text, text: "agent_id"},
		{kind: text, text: "boolean"},
		{kind: text, text: "independent"},
		{kind: number, text: "1"},
		{kind: number, text: "1000000"},
		{kind: number, text: "2.50"},
		{kind: boolean, text: "true"},
		{kind: boolean, text: "false"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		root := tree(t, file)
		p := places(root, "")[rapid.IntRange(0, count-1).Draw(rt, "place")]
		value := rapid.SampledFrom(scalars).Draw(rt, "value")
		value.line, value.column = 1, 1
		if rapid.Bool().Draw(rt, "in a list") {
			value = node{kind: sequence, items: []*node{{kind: value.kind, text: value.text, line: 1, column: 1}}, line: 1, column: 1}
		}
		*p.parent.entries[p.index].value = value
		if _, problems := compiled(root); len(problems) > 0 {
			return
		}
		accepted++
		if err := check.Validate(instance(root)); err != nil {
			rt.Fatalf("%s: %v", p.key.Path(), err)
		}
	})
	if accepted == 0 {
		t.Error("no drawn value was ever right, so this shows nothing")
	}
}

func TestTheSchemaRefusesFormsThatNoContractHas(t *testing.T) {
	t.Parallel()
	check := validator(t)
	const file = "testdata/valid/everything.yaml"
	for _, test := range []struct {
		path  string
		value node
	}{
		{"settle.after", node{kind: text, text: "2 days"}},
		{"settle.after", node{kind: text, text: ""}},
		{"settle.after", node{kind: number, text: "48"}},
		{"settle.after", node{kind: text, text: "3h2d"}},
		{"contract", node{kind: text, text: "1st"}},
		{"contract", node{kind: number, text: "7"}},
		{"steps.id", node{kind: text, text: "a.b"}},
		{"steps.expect", node{kind: text, text: "refund succeeded"}},
		{"steps.quorum", node{kind: number, text: "0"}},
		{"steps.where", node{kind: number, text: "1"}},
		{"link", node{kind: text, text: "refs.key == fact.id"}},
		{"sources.trust", node{kind: text, text: "blind"}},
		{"evidence.same_effect", node{kind: text, text: "refund"}},
		{"never.anyone", node{kind: text, text: "true"}},
	} {
		root := tree(t, file)
		places := places(root, "")
		i := slices.IndexFunc(places, func(p placed) bool { return p.key.Path() == test.path })
		*places[i].parent.entries[places[i].index].value = test.value
		if check.Validate(instance(root)) == nil {
			t.Errorf("%s may be %q", test.path, test.value.text)
		}
	}
}
