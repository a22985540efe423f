package house

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/contract"
)

// toolMapping says which action a tool's call declares.
type toolMapping struct {
	ContractID  string            `json:"contract_id"`
	ActionType  string            `json:"action_type"`
	Subject     string            `json:"subject"`
	SubjectKind string            `json:"subject_kind"`
	ActionID    string            `json:"action_id"`
	Params      map[string]string `json:"params"`
}

// libraryContract is the contract of the library with an id.
func libraryContract(t *testing.T, id string) *contract.Contract {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "contracts", id+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	k, err := contract.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if k.ID != id {
		t.Fatalf("contracts/%s.yaml is the contract %s", id, k.ID)
	}
	return k
}

var placeholder = regexp.MustCompile(`\{([^{}]*)\}`)

// A mapping and the contract that it names are two files that have to agree: a
// parameter that the one calls otherwise than the other is never compared.
func TestTheExampleMappingsAgreeWithTheirContracts(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(root, "examples", "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no mappings are in examples (%v)", err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var mapping struct {
			Tools map[string]toolMapping `json:"tools"`
		}
		if err := json.Unmarshal(text, &mapping); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if len(mapping.Tools) == 0 {
			t.Errorf("%s maps no tool", name)
		}
		for _, tool := range slices.Sorted(maps.Keys(mapping.Tools)) {
			for _, wrong := range disagreements(mapping.Tools[tool], libraryContract(t, mapping.Tools[tool].ContractID)) {
				t.Errorf("%s: %s: %s", name, tool, wrong)
			}
		}
	}
}

func disagreements(m toolMapping, k *contract.Contract) []string {
	var wrong []string
	say := func(format string, args ...any) { wrong = append(wrong, fmt.Sprintf(format, args...)) }
	if m.ActionType != k.AppliesTo.ActionType || m.SubjectKind != k.AppliesTo.SubjectKind {
		say("it declares %s of a %s, and the contract applies to %s of a %s", m.ActionType, m.SubjectKind, k.AppliesTo.ActionType, k.AppliesTo.SubjectKind)
	}
	declared := map[string]bool{}
	for _, p := range k.Params {
		declared[p.Name] = true
		if p.Required && m.Params[p.Name] == "" {
			say("the contract requires %s, which is not mapped", p.Name)
		}
	}
	paths := []string{m.Subject}
	for name, path := range m.Params {
		paths = append(paths, path)
		if !declared[name] {
			say("it maps %s, which the contract does not declare", name)
		}
	}
	for _, match := range placeholder.FindAllStringSubmatch(m.ActionID, -1) {
		paths = append(paths, match[1])
	}
	for _, path := range paths {
		if !strings.HasPrefix(path, "arguments.") {
			say("%q is no path to an argument", path)
		}
	}
	return wrong
}

func TestAMappingThatDisagreesWithItsContractIsFound(t *testing.T) {
	t.Parallel()
	wrong := disagreements(toolMapping{
		ActionType: "place_order", SubjectKind: "coin", Subject: "arguments.product_id", ActionID: "x:{client_order_id}",
		Params: map[string]string{"amount": "arguments.size", "sides": "arguments.side", "client_order_id": "arguments.client_order_id"},
	}, libraryContract(t, "coinbase_agent_trade"))
	want := []string{
		"it declares place_order of a coin, and the contract applies to place_order of a product",
		"the contract requires side, which is not mapped",
		"it maps sides, which the contract does not declare",
		`"client_order_id" is no path to an argument`,
	}
	if !slices.Equal(wrong, want) {
		t.Errorf("found %q, want %q", wrong, want)
	}
}
