package house

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/deed-dev/deed/internal/verdict"
)

// A verification in an answer is a verdict with words added. Taking the words
// away must give the verdict back, byte for byte, or the page shows members that
// no verdict has; and the words must be the registry's.
func TestTheVerificationsThatTheAPIPageShowsAreVerdicts(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join(root, "docs", "api-actions.md"))
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, block := range blocks(string(text)) {
		if block.language != "json" {
			continue
		}
		reading := json.NewDecoder(bytes.NewReader([]byte(block.text())))
		reading.UseNumber() // or 180.00 would become 180
		var answer struct{ Verification map[string]any }
		if err := reading.Decode(&answer); err != nil {
			t.Errorf("docs/api-actions.md:%d: %v", block.line, err)
			continue
		}
		digest, whole := answer.Verification["digest"].(string)
		if !whole {
			continue // a short one, or none
		}
		checked++
		delete(answer.Verification, "digest")
		delete(answer.Verification, "summary")
		for code, words := range takeWords(answer.Verification) {
			entry, known := verdict.Lookup(verdict.Code(code))
			if !known || words != (reasonWords{entry.Label, entry.Next}) {
				t.Errorf("docs/api-actions.md:%d: of %s the page says %q", block.line, code, words)
			}
		}
		if got := digestOf(t, answer.Verification); got != digest {
			t.Errorf("docs/api-actions.md:%d: without its words the verification has the digest %s, and says %s", block.line, got, digest)
		}
	}
	if checked < 2 {
		t.Errorf("%d verifications were checked; the page should show one with a contract and one without", checked)
	}
}

type reasonWords struct{ label, next string }

// takeWords removes from every reason below what people read, and returns it by
// code.
func takeWords(node any) map[string]reasonWords {
	taken := map[string]reasonWords{}
	switch node := node.(type) {
	case map[string]any:
		if code, isReason := node["code"].(string); isReason {
			label, _ := node["label"].(string)
			next, _ := node["next"].(string)
			taken[code] = reasonWords{label, next}
			delete(node, "label")
			delete(node, "next")
		}
		for _, child := range node {
			for code, words := range takeWords(child) {
				taken[code] = words
			}
		}
	case []any:
		for _, child := range node {
			for code, words := range takeWords(child) {
				taken[code] = words
			}
		}
	}
	return taken
}

// digestOf a verdict whose texts need no escapes: Go sorts the members of a map.
func digestOf(t *testing.T, members map[string]any) string {
	t.Helper()
	var form bytes.Buffer
	writing := json.NewEncoder(&form)
	writing.SetEscapeHTML(false)
	if err := writing.Encode(members); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(bytes.TrimSuffix(form.Bytes(), []byte("\n")))
	return "sha256:" + hex.EncodeToString(sum[:])
}
