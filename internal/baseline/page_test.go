package baseline

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/terminal"
)

var update = flag.Bool("update", false, "write the table of the page anew")

// The page's figures are those of the census, so that neither is changed
// without the other.
func TestThePageShowsTheBuiltInCensus(t *testing.T) {
	t.Parallel()
	const name = "../../docs/baseline.md"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	page := string(text)
	begin, end := strings.Index(page, "-update -->\n"), strings.Index(page, "<!-- end -->")
	if begin < 0 || end < begin {
		t.Fatal("the page has no place for the figures")
	}
	begin += len("-update -->\n")
	want := figures(builtInCensus(t))
	if *update {
		if err := os.WriteFile(name, []byte(page[:begin]+want+page[end:]), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if page[begin:end] != want {
		t.Errorf("the page does not have the figures of the census; run go test ./internal/baseline -run Page -update\nwant:\n%s", want)
	}
}

// figures is the census as the page has it.
func figures(c *Census) string {
	var b strings.Builder
	o := c.Overall
	fmt.Fprintf(&b, "\nMeasured on %s with deed %s and Node.js %s on %s, %d calls of each tool.\n\n",
		c.MeasuredAt, c.Deed, c.Node, c.System, c.CallsPerTool)
	fmt.Fprintf(&b, "Over all tools that answered (n = %d tools, %d answers), in wire bytes of each tool's median answer:\n"+
		"smallest %s, 25th percentile %s, median %s, 75th %s, 95th %s, largest %s.\n\n",
		o.Tools, o.Calls, terminal.Count(o.Min), terminal.Count(o.P25), terminal.Count(o.P50), terminal.Count(o.P75), terminal.Count(o.P95), terminal.Count(o.Max))
	b.WriteString("| Package | Version | Tools | Called | Answered (n) | `tools/list`, bytes | Smallest | Median | Largest | Median time |\n")
	b.WriteString("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n")
	for _, s := range c.Servers {
		sizes, times := s.medians(), []int64{}
		for _, tool := range s.Tools {
			if tool.WireBytes.N > 0 {
				times = append(times, tool.TookP50US)
			}
		}
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %s |", s.Package, s.Version, s.DeclaredTools, len(s.Tools), len(sizes), terminal.Count(s.DeclaredBytes))
		if len(sizes) == 0 {
			b.WriteString(" – | – | – | – |\n")
			continue
		}
		fmt.Fprintf(&b, " %s | %s | %s | %s |\n", terminal.Count(sizes[0]), terminal.Count(Percentile(sizes, 50)), terminal.Count(sizes[len(sizes)-1]),
			terminal.Duration(time.Duration(SpreadOf(times).P50)*time.Microsecond))
	}
	b.WriteString("\nOf each package, the sizes are over its tools that answered, each with its median.\n\n")
	return b.String()
}
