package demo

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/baseline"
)

// compared is what a demonstration with this command shows of the calls that
// the test binary tells of when it plays deed tail.
func compared(t *testing.T, command ...string) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	d := &Demo{Program: self, Command: command, Out: &out, Err: &out}
	if err := d.compare(t.Context(), t.TempDir()); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	return out.String()
}

func TestEachAnswerIsShownBesideTheBaseline(t *testing.T) {
	t.Parallel()
	census, err := baseline.BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	everyTool := fmt.Sprintf("of %d packages", census.Compare("", "", 1).Packages)
	larger := fmt.Sprintf("larger than all %d tools ", census.Overall.Tools)
	const everything = "@modelcontextprotocol/server-everything"
	for name, c := range map[string]struct {
		command []string
		want    []string
	}{
		"the shop, which was not measured": {nil, []string{
			"echo 61 B ", "get_huge 94.4 MiB " + larger + everyTool,
		}},
		"a package that was measured, by npx": {[]string{"npx", "-y", everything + "@2"}, []string{
			"echo 61 B smaller than all 5 calls of this tool", "get_huge 94.4 MiB larger than all 7 tools of this package",
		}},
		"the same, installed": {[]string{"node", "node_modules/" + everything + "/dist/index.js"}, []string{
			"echo 61 B smaller than all 5 calls of this tool",
		}},
		"a package that was not measured": {[]string{"npx", "nobody-has-this"}, []string{
			"get_huge 94.4 MiB " + larger + everyTool,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := compared(t, c.command...)
			shown := strings.Join(strings.Fields(out), " ")
			for _, want := range append(c.want,
				`get\x1b[2J_refused not compared, it failed`, "get_never not compared, it failed",
				fmt.Sprintf("beside %d answers of %d tools", census.Overall.Calls, census.Overall.Tools), "docs/baseline.md",
			) {
				if !strings.Contains(shown, want) {
					t.Errorf("the output does not show %q", want)
				}
			}
			if t.Failed() || strings.Contains(out, "\x1b") {
				t.Errorf("the output is\n%s", out)
			}
		})
	}
}
