package contract_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/contract"
)

var update = flag.Bool("update", false, "write the golden files")

// Each file of testdata/invalid is wrong in several ways, and beside it stands
// what is said of it.
func TestAllThatIsWrongIsSaidAtOnceWithItsPlaceAndAWayOut(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/invalid/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("there are no files", err)
	}
	for _, name := range files {
		t.Run(filepath.Base(name), func(t *testing.T) {
			t.Parallel()
			source, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			_, err = contract.Parse(source)
			var problems contract.Problems
			if !errors.As(err, &problems) {
				t.Fatalf("it was accepted, or refused in another way: %v", err)
			}
			got := listed(problems)
			golden := strings.TrimSuffix(name, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("it says\n%s\nand should say\n%s", got, want)
			}
			lines := strings.Split(string(source), "\n")
			for _, p := range problems {
				quoted(t, lines, p)
			}
		})
	}
}

// quoted checks what no golden file can be trusted with: that a problem's text
// stands at its line and column.
func quoted(t *testing.T, lines []string, p contract.Problem) {
	t.Helper()
	if p.Line < 1 || p.Line > len(lines) {
		t.Errorf("%s: there is no such line", p)
		return
	}
	line := []rune(lines[p.Line-1])
	if p.Column < 1 || p.Column > len(line)+1 {
		t.Errorf("%s: the line has %d characters", p, len(line))
		return
	}
	rest := string(line[p.Column-1:])
	start := strings.TrimSuffix(p.Text, "…")
	if strings.Contains(p.Message, "YAML") || strings.Contains(p.Message, "expression ends") || strings.Contains(rest, `\`) {
		return // there the text is a token, the whole, or behind escapes
	}
	if strings.ContainsAny(p.Text, "[{") || strings.Contains(p.Text, ": …") || start == "" {
		return
	}
	if i := strings.IndexAny(start, "\n\"'"); i >= 0 {
		start = start[:i]
	}
	if !strings.HasPrefix(strings.TrimLeft(rest, "\"'"), start) && !strings.HasPrefix(rest, start) {
		if !strings.HasPrefix(rest, ">") && !strings.HasPrefix(rest, "|") {
			t.Errorf("%s: %q stands there, not %q", p, rest, p.Text)
		}
	}
}

func listed(problems []contract.Problem) string {
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "%s\n", p)
		if p.Text != "" {
			fmt.Fprintf(&b, "    %s\n", p.Text)
		}
		if p.Hint != "" {
			fmt.Fprintf(&b, "    -> %s\n", p.Hint)
		}
	}
	return b.String()
}
