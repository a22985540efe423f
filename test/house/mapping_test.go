package house

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/intent"
)

// isMapping tells a mapping of tools, in YAML or JSON, from other blocks.
func isMapping(text string) bool {
	return hasKey(text, "tools") || strings.HasPrefix(text, "{") && strings.Contains(text, `"tools": {`) && strings.Contains(text, `"contract_id"`)
}

// Every mapping that a document shows is one, without anything odd, unless the
// document has its reader save it to see what is said about it.
func TestEveryMappingOfTheDocumentsLoads(t *testing.T) {
	t.Parallel()
	loaded := 0
	for _, name := range documents(t) {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks(string(text)) {
			if b.language != "yaml" && b.language != "json" || !isMapping(b.text()) || b.file() == "broken.json" {
				continue
			}
			m, err := intent.Parse("mapping", []byte(b.text()))
			if err != nil {
				t.Errorf("%s:%d: %v", name, b.line, err)
				continue
			}
			loaded++
			for _, note := range m.Notes {
				t.Errorf("%s:%d: %s", name, b.line, note)
			}
		}
	}
	if loaded < 3 {
		t.Errorf("%d mappings were found; docs/mapping.md alone has three", loaded)
	}
}

func TestTheExampleMappingsLoad(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob(filepath.Join(root, "examples", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var seen []string
	for _, name := range names {
		m, err := intent.Load(name)
		if err != nil {
			t.Errorf("%v", err)
			continue
		}
		seen = append(seen, filepath.Base(name))
		for _, note := range m.Notes {
			t.Errorf("%s: %s", filepath.Base(name), note)
		}
	}
	page, err := os.ReadFile(filepath.Join(root, "docs", "mapping.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range seen {
		if !strings.Contains(string(page), "(../examples/"+name+")") {
			t.Errorf("docs/mapping.md does not link to examples/%s", name)
		}
	}
	if !slices.Contains(seen, "coinbase.json") {
		t.Error("examples/coinbase.json is missing")
	}
}
