package baseline

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"
)

func builtInCensus(t *testing.T) *Census {
	t.Helper()
	c, err := BuiltIn()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestTheBuiltInCensusIsWhatTheProgramWrites(t *testing.T) {
	t.Parallel()
	c := builtInCensus(t)
	c.Finish()
	again, err := c.Text()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again, builtIn) {
		t.Error("census.json was edited by hand, or is not sorted; write it with go run ./test/census")
	}
}

func TestTheBuiltInCensusSaysWhatItWasMeasuredWith(t *testing.T) {
	t.Parallel()
	c := builtInCensus(t)
	if _, err := time.Parse(time.RFC3339, c.MeasuredAt); err != nil || !strings.HasSuffix(c.MeasuredAt, "Z") {
		t.Errorf("it was measured at %q, want a time in UTC", c.MeasuredAt)
	}
	if c.Deed == "" || c.System == "" || c.Protocol == "" || !regexp.MustCompile(`^\d+\.\d+\.\d+$`).MatchString(c.Node) {
		t.Errorf("it was measured with deed %q, node %q, on %q, by protocol %q", c.Deed, c.Node, c.System, c.Protocol)
	}
	// Paths would tell where it ran.
	if at := bytes.IndexAny(bytes.ReplaceAll(builtIn, []byte(c.System), nil), `\`); at >= 0 {
		t.Errorf("it holds a backslash at byte %d", at)
	}
	for _, s := range c.Servers {
		if !isPackage(strings.TrimPrefix(s.Package, "npm:")) {
			t.Errorf("%q is no package of npm", s.Package)
		}
	}
}

func TestTheBuiltInCensusHasEnoughToCompareWith(t *testing.T) {
	t.Parallel()
	c := builtInCensus(t)
	if c.CallsPerTool < Fewest {
		t.Errorf("each tool was called %d times, want at least %d", c.CallsPerTool, Fewest)
	}
	// Below that "larger than all of them" says little.
	if c.Overall.Tools < 20 || len(c.Servers) < 15 {
		t.Errorf("%d tools of %d servers answered", c.Overall.Tools, len(c.Servers))
	}
	for _, s := range c.Servers {
		if s.DeclaredTools < 1 || s.DeclaredBytes < 50 || s.NotCalled+len(s.Tools) != s.DeclaredTools {
			t.Errorf("%s declares %d tools in %d bytes, %d called, %d not", s.Package, s.DeclaredTools, s.DeclaredBytes, len(s.Tools), s.NotCalled)
		}
		for _, tool := range s.Tools {
			if tool.WireBytes.N+tool.Failed > c.CallsPerTool || tool.WireBytes.N+tool.Failed < 1 {
				t.Errorf("%s %s: %d answered and %d failed of %d", s.Package, tool.Name, tool.WireBytes.N, tool.Failed, c.CallsPerTool)
			}
			if answered := tool.WireBytes.N > 0; answered != (tool.TookP50US > 0) {
				t.Errorf("%s %s: %d answered in %d µs", s.Package, tool.Name, tool.WireBytes.N, tool.TookP50US)
			}
			// {"jsonrpc":"2.0","id":1,"result":{}} and its line end.
			if tool.WireBytes.N > 0 && tool.WireBytes.Min < 37 {
				t.Errorf("%s %s: an answer of %d bytes cannot be a line on the wire", s.Package, tool.Name, tool.WireBytes.Min)
			}
		}
	}
}

func TestTheBuiltInCensusHasThePinnedVersions(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../test/npm/package.json")
	if err != nil {
		t.Fatal(err)
	}
	var pinned struct{ Dependencies map[string]string }
	if err := json.Unmarshal(text, &pinned); err != nil {
		t.Fatal(err)
	}
	for _, s := range builtInCensus(t).Servers {
		name := strings.TrimPrefix(s.Package, "npm:")
		if want := pinned.Dependencies[name]; s.Version != want {
			t.Errorf("%s was measured as %s and is tested as %q; measure again with go run ./test/census", s.Package, s.Version, want)
		}
	}
}

func TestACensusThatContradictsItselfIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*Census)
		want   string
	}{
		"another format":                {func(c *Census) { c.Format = "deed-census-2" }, "this version reads"},
		"servers in another order":      {func(c *Census) { c.Servers[0], c.Servers[1] = c.Servers[1], c.Servers[0] }, "stands behind"},
		"one server twice":              {func(c *Census) { c.Servers[2] = c.Servers[1]; c.Overall = c.overall() }, "stands behind"},
		"tools in another order":        {func(c *Census) { s := c.Servers[1].Tools; s[0], s[1] = s[1], s[0] }, "stands behind"},
		"a median that is not one":      {func(c *Census) { c.Servers[0].Tools[0].WireBytes.P50++; c.Overall = c.overall() }, "contradict each other"},
		"sizes that are not sorted":     {func(c *Census) { s := listOf(c); s[0], s[4] = s[4], s[0] }, "contradict each other"},
		"an overall that is another's":  {func(c *Census) { c.Overall.Calls++ }, "the servers give"},
		"more answers than it has size": {func(c *Census) { c.Servers[0].Tools[0].WireBytes.N++; c.Overall = c.overall() }, "contradict each other"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			census := small()
			c.change(census)
			text, err := census.Text()
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("the error is %v, want one with %q", err, c.want)
			}
		})
	}
	text, err := small().Text()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Parse(text); err != nil {
		t.Errorf("the census that was not changed is refused: %v", err)
	}
}

// listOf are the sizes of the tool list, the only one with five of them.
func listOf(c *Census) []int64 {
	server, _ := c.server("npm:@scope/notes")
	tool, _ := server.tool("list")
	return tool.WireBytes.Sorted
}

func FuzzACensusOfAnySortIsReadOrRefused(f *testing.F) {
	text, err := small().Text()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"format":"deed-census-1"}`))
	f.Add([]byte(`{"format":"deed-census-1","servers":[{"tools":[{"wire_bytes":{"n":9}}]}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := Parse(text)
		if err != nil {
			return
		}
		if got := c.Compare("npm:clock", "now", 100); got.String() == "" || got.Below+got.Above > got.N {
			t.Errorf("it compares as %+v", got)
		}
	})
}
