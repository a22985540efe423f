package scenario_test

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/deed-dev/deed/internal/scenario"
)

// blocks are the YAML examples of a page.
func blocks(page string) []string {
	var found []string
	for _, part := range strings.Split(page, "```yaml\n")[1:] {
		block, _, _ := strings.Cut(part, "```")
		found = append(found, block)
	}
	return found
}

func TestTheExampleOfThePageEndsAsItSays(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/scenarios.md")
	if err != nil {
		t.Fatal(err)
	}
	examples := blocks(string(page))
	if len(examples) < 2 {
		t.Fatal("the page has no contract and no scenario")
	}
	s, err := scenario.Read(fstest.MapFS{
		"contracts/refunds.yaml": {Data: []byte(examples[0])},
		"s.yaml":                 {Data: []byte(examples[1])},
	}, "s.yaml")
	if err != nil {
		t.Fatal(err)
	}
	outcomes, err := s.Run()
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range outcomes {
		for _, difference := range scenario.Differences(o.Evaluation.Expect, &o.Verdict) {
			t.Errorf("line %d: %s", o.Evaluation.Line, difference)
		}
	}
}
