package intent_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/intent"
)

// page is where users read about mappings.
const page = "../../docs/mapping.md"

func pageText(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestThePageHasEveryKeyAsTheTableHasIt(t *testing.T) {
	t.Parallel()
	text := pageText(t)
	kinds := map[intent.Kind]string{
		intent.TextKind: "text", intent.PathKind: "path", intent.TemplateKind: "template", intent.IntegerKind: "whole number",
		intent.PathsKind: "object of paths", intent.ToolsKind: "object of tools",
	}
	for _, key := range intent.Keys() {
		row := fmt.Sprintf("| `%s` | %s", key.Name, kinds[key.Kind])
		if key.MaxBytes > 0 {
			row += fmt.Sprintf(", %d bytes", key.MaxBytes)
		}
		if key.Required {
			row += ", **required**"
		}
		row += " | " + key.Sentence
		if key.Default != "" {
			row += " Without the key: `" + key.Default + "`."
		}
		if !strings.Contains(text, row+" |\n") {
			t.Errorf("the page lacks the row\n%s |", row)
		}
	}
}

func TestThePageHasEveryReason(t *testing.T) {
	t.Parallel()
	text := pageText(t)
	for _, reason := range []intent.Reason{
		intent.NoRequestID, intent.NoSubject, intent.NoPlaceholder, intent.NotScalar, intent.Twice, intent.Unreadable, intent.TooLong, intent.BadActionID,
	} {
		if !strings.Contains(text, "`"+string(reason)+"`") {
			t.Errorf("the page lacks %s", reason)
		}
	}
}

// The page shows a mapping twice, and the declaration that comes of it.
func TestThePagesMappingsDeclareWhatItShows(t *testing.T) {
	t.Parallel()
	var blocks []string
	for i, part := range strings.Split(pageText(t), "\n```") {
		if _, block, ok := strings.Cut(part, "\n"); ok && i%2 == 1 {
			blocks = append(blocks, block)
		}
	}
	if len(blocks) < 4 {
		t.Fatalf("%d blocks are on the page", len(blocks))
	}
	shown := blocks[3]
	for _, text := range blocks[:2] {
		c := call(t, "refund_payment", `{"name":"refund_payment","arguments":{"order_id": "order_10231", "amount": 180.0, "currency": "USD"}}`)
		got := declare(t, parse(t, text), c)
		if want := strings.Join(strings.Fields(shown), ""); string(got.Body) != want {
			t.Errorf("declared is\n%s, and the page shows\n%s", got.Body, want)
		}
	}
}
