package baseline

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// sized is a tool that answered with these sizes.
func sized(name string, sizes ...int64) Tool {
	return Tool{Name: name, WireBytes: SpreadOf(sizes)}
}

// small is a census of two packages and twelve tools that answered.
func small() *Census {
	notes := Server{Package: "npm:@scope/notes", Tools: []Tool{
		sized("list", 100, 100, 110, 120, 300),
		sized("seldom", 5000, 5000), // too few answers of its own
		sized("silent"),             // never answered
		sized("a", 10), sized("b", 20), sized("c", 30), sized("d", 40),
	}}
	clock := Server{Package: "npm:clock", Tools: []Tool{sized("now", 1000)}}
	for i := range 5 {
		clock.Tools = append(clock.Tools, sized(fmt.Sprint("zone", i), 10_000))
	}
	idle := Server{Package: "npm:idle", Tools: []Tool{sized("nothing")}}
	c := &Census{Servers: []Server{notes, clock, idle}}
	c.Finish()
	return c
}

func TestAComparisonIsSaidInWords(t *testing.T) {
	t.Parallel()
	tool, pkg := "npm:@scope/notes list", "npm:@scope/notes other"
	for name, c := range map[string]struct {
		of    string
		bytes int64
		want  string
	}{
		"the median of the tool":                {tool, 110, "about typical of 5 calls of this tool"},
		"within a tenth of it":                  {tool, 121, "about typical of 5 calls of this tool"},
		"larger than most":                      {tool, 130, "larger than 4 of 5 calls of this tool"},
		"as large as the largest":               {tool, 300, "larger than 4 of 5 calls of this tool, 2.7x their median"},
		"larger than all":                       {tool, 301, "larger than all 5 calls of this tool, 2.7x their median"},
		"nearly ten times":                      {tool, 1099, "larger than all 5 calls of this tool, 10x their median"},
		"very much larger than all":             {tool, 1_100_000, "larger than all 5 calls of this tool, 10,000x their median"},
		"smaller than all":                      {tool, 98, "smaller than all 5 calls of this tool"},
		"much smaller than all":                 {tool, 11, "smaller than all 5 calls of this tool, 1/10 of their median"},
		"no byte at all":                        {tool, 0, "smaller than all 5 calls of this tool"},
		"a tool with too few answers":           {"npm:@scope/notes seldom", 30, "about typical of 6 tools of this package"},
		"a tool that never answered":            {"npm:@scope/notes silent", 30, "about typical of 6 tools of this package"},
		"a tool that was not measured":          {pkg, 5001, "larger than all 6 tools of this package, 167x their median"},
		"a package that was not measured":       {"npm:other list", 10_000, "larger than 7 of 12 tools of 2 packages, 10x their median"},
		"a tool's name in another package":      {"npm:clock list", 1, "smaller than all 6 tools of this package, 1/10,000 of their median"},
		"a package that never answered":         {"npm:idle nothing", 1000, "about typical of 12 tools of 2 packages"},
		"no package":                            {" list", 1, "smaller than all 12 tools of 2 packages, 1/1,000 of their median"},
		"the same name in another registry":     {"pypi:clock now", 1000, "about typical of 12 tools of 2 packages"},
		"the middle half, but a 4th the median": {" x", 250, "smaller than 7 of 12 tools of 2 packages, 1/4 of their median"},
	} {
		pkg, tool, _ := strings.Cut(c.of, " ")
		if got := small().Compare(pkg, tool, c.bytes).String(); got != c.want {
			t.Errorf("%s: %d bytes are %q, want %q", name, c.bytes, got, c.want)
		}
	}
}

func TestAnEmptyCensusComparesWithNothing(t *testing.T) {
	t.Parallel()
	if got := (&Census{}).Compare("npm:x", "y", 7).String(); got != "nothing was measured to compare it with" {
		t.Errorf("it says %q", got)
	}
}

// However the values lie, the words agree with a plain count of them, name
// how many there are, and hold no percentile.
func TestTheWordsAgreeWithTheValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int64Range(1, 200), Fewest, 40).Draw(t, "sizes")
		bytes := rapid.Int64Range(0, 300).Draw(t, "bytes")
		c := &Census{Servers: []Server{{Package: "npm:p", Tools: []Tool{sized("t", sizes...)}}}}
		c.Finish()
		got := c.Compare("npm:p", "t", bytes)
		below, above := 0, 0
		for _, size := range sizes {
			if size < bytes {
				below++
			}
			if size > bytes {
				above++
			}
		}
		if got.Below != below || got.Above != above || got.N != len(sizes) || got.Level != SameTool {
			t.Fatalf("%+v, want %d below and %d above of %d", got, below, above, len(sizes))
		}
		text := got.String()
		all := fmt.Sprintf("all %d ", len(sizes))
		if strings.Contains(text, "larger than "+all) && below != len(sizes) || strings.Contains(text, "smaller than "+all) && above != len(sizes) {
			t.Fatalf("%d among %v is %q", bytes, sizes, text)
		}
		if !strings.Contains(text, fmt.Sprintf("%d calls of this tool", len(sizes))) || strings.Contains(text, "percent") || strings.Contains(text, "p100") {
			t.Fatalf("%q does not say how many there are, or says a percentile", text)
		}
	})
}

func TestThePercentileIsTheNearestRank(t *testing.T) {
	t.Parallel()
	ten := []int64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}
	twenty := make([]int64, 20)
	for i := range twenty {
		twenty[i] = int64(i + 1)
	}
	for name, c := range map[string]struct {
		sorted  []int64
		percent int
		want    int64
	}{
		"one value, whatever is asked":         {[]int64{7}, 1, 7},
		"of an even number, the lower middle":  {ten, 50, 5},
		"of an odd number, the middle":         {ten[:9], 50, 5},
		"a quarter of ten is the third":        {ten, 25, 3},
		"three quarters of ten are the eighth": {ten, 75, 8},
		"95 of 20 is the 19th, not the 20th":   {twenty, 95, 19},
		"96 of 20 is the 20th":                 {twenty, 96, 20},
		"100 is the largest":                   {ten, 100, 10},
		"1 is the smallest":                    {ten, 1, 1},
	} {
		if got := Percentile(c.sorted, c.percent); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// The definition itself: at least so many percent are not above the value,
// and that is true of no smaller one.
func TestThePercentileMeetsItsDefinition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		sorted := rapid.SliceOfN(rapid.Int64Range(0, 50), 1, 60).Draw(t, "values")
		slices.Sort(sorted)
		percent := rapid.IntRange(1, 100).Draw(t, "percent")
		got := Percentile(sorted, percent)
		if !slices.Contains(sorted, got) {
			t.Fatalf("%d is none of %v", got, sorted)
		}
		notAbove, below := 0, 0
		for _, value := range sorted {
			if value <= got {
				notAbove++
			}
			if value < got {
				below++
			}
		}
		if 100*notAbove < percent*len(sorted) || 100*below >= percent*len(sorted) {
			t.Fatalf("percentile %d of %v is %d: %d are not above it, %d below", percent, sorted, got, notAbove, below)
		}
	})
}
