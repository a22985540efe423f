package intent_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/intent"
)

// The reader of YAML takes time that grows with the square of several things.
// A file as large as may be must not keep anybody waiting all the same.
func TestTheWorstFileIsReadInSeconds(t *testing.T) {
	t.Parallel()
	const size = 250 << 10
	var keys, tools, flow strings.Builder
	for i := 0; keys.Len() < size; i++ {
		fmt.Fprintf(&keys, "k%d: 1\n", i)
	}
	for i := 0; tools.Len() < size; i++ {
		if i == 0 {
			tools.WriteString("tools:\n")
		}
		fmt.Fprintf(&tools, "  t%d:\n    contract_id: c\n    subject: name\n", i)
	}
	flow.WriteString("x: {")
	for i := 0; flow.Len() < size; i++ {
		fmt.Fprintf(&flow, "k%d: 1,\n", i)
	}
	flow.WriteString("}")
	for name, text := range map[string]string{
		"keys": keys.String(), "tools": tools.String(), "keys in braces": flow.String(),
		"a list":         strings.Repeat("- a\n", size/4),
		"open brackets":  "x: " + strings.Repeat("[\n", size/2),
		"indentation":    deep(size),
		"comments":       strings.Repeat("# a\n", size/4),
		"blank lines":    strings.Repeat("\n", size) + "a: b",
		"a block's text": "a: |\n" + strings.Repeat("  b\n", size/4),
		"quotes":         "a: \"" + strings.Repeat("b\n", size/2),
		"aliases":        "a: &a {b: c}\nd: [" + strings.Repeat("*a,\n", size/5) + "]",
	} {
		parse := func(text string) time.Duration {
			began := time.Now()
			_, _ = intent.Parse("m.yaml", []byte(text))
			return time.Since(began)
		}
		// A slow machine is slow with a tenth of the file too, of which the square is a
		// hundredth.
		tenth, took := parse(text[:len(text)/10]), parse(text)
		t.Logf("%s: %s, a tenth of it %s", name, took, tenth)
		if took > 10*time.Second+200*tenth {
			t.Errorf("%s took %s, and a tenth of it %s", name, took, tenth)
		}
	}
}

// deep is YAML whose every line is set in further than the one before.
func deep(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}
