package intent_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/goccy/go-yaml"
	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "write the schema in the documents anew")

// schemaPage is where editors find the schema.
const schemaPage = "../../docs/mapping.schema.json"

func TestTheSchemaInTheDocumentsIsTheFiles(t *testing.T) {
	t.Parallel()
	if *update {
		if err := os.WriteFile(schemaPage, intent.Schema(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	page, err := os.ReadFile(schemaPage)
	if err != nil {
		t.Fatal(err)
	}
	if string(page) != string(intent.Schema()) {
		t.Errorf("%s is out of date; run: go test ./internal/intent -update", schemaPage)
	}
}

func validator(t *testing.T) *jsonschema.Resolved {
	t.Helper()
	var s jsonschema.Schema
	if err := json.Unmarshal(intent.Schema(), &s); err != nil {
		t.Fatal(err)
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	return resolved
}

func instance(t *testing.T, text string) any {
	t.Helper()
	var value any
	if err := yaml.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	asJSON, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(asJSON, &value); err != nil {
		t.Fatal(err)
	}
	return value
}

// An editor that marks what deed reads, or passes what deed refuses, is worse
// than one that knows nothing.
func TestTheSchemaAndTheReaderAgree(t *testing.T) {
	t.Parallel()
	check := validator(t)
	examples, err := filepath.Glob("../../examples/*")
	if err != nil || len(examples) == 0 {
		t.Fatalf("no examples (%v)", err)
	}
	texts := []string{refunds, refundsYAML, "tools: {}", tool("contract_id: c\nsubject: _meta.\"io.x/y\".0\naction_id: 'a{name}b'\nowner: me\nparams:\ncompensates: null")}
	for _, name := range examples {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	texts = append(texts,
		"agent_id: x", "tools: [t]", "tools: {t: x}", "tools: {'': {contract_id: c, subject: name}}", tool("contract_id: c"), tool("subject: name"),
		tool("contract_id: ''\nsubject: name"), tool("contract_id: 3\nsubject: name"), tool("contract_id: c\nsubject: ''"), tool("contract_id: c\nsubject: a..b"),
		tool("contract_id: c\nsubject: a."), tool("contract_id: c\nsubject: '\"a\"b'"), tool("contract_id: c\nsubject: '\"a'"), tool("contract_id: c\nsubject: name\ncontract_version: 1.5"), tool("contract_id: c\nsubject: name\ncontract_version: '3'"),
		tool("contract_id: c\nsubject: name\naction_id: ''"), tool("contract_id: c\nsubject: name\naction_id: a{"), tool("contract_id: c\nsubject: name\naction_id: a}"), tool("contract_id: c\nsubject: name\naction_id: a{}"),
		tool("contract_id: c\nsubject: name\nparams: [a]"), tool("contract_id: c\nsubject: name\nparams: {a: 1}"), tool("contract_id: c\nsubject: name\nparams: {a: }"), "agent_id: [a]\ntools: {}",
	)
	for _, text := range texts {
		_, read := intent.Parse("m", []byte(text))
		if schema := check.Validate(instance(t, text)); (read == nil) != (schema == nil) {
			t.Errorf("%s\nthe reader says %v, the schema %v", text, read, schema)
		}
	}
}
