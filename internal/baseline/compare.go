package baseline

import (
	"fmt"
	"math"
	"sort"
	"strconv"

	"github.com/deed-dev/deed/internal/terminal"
)

// Fewest is how many values make something to compare with. Below it the next
// wider level is taken.
const Fewest = 5

// Level is what an answer was compared with.
type Level int

// The levels, from the nearest to the widest.
const (
	SameTool    Level = iota + 1 // answers of the same tool of the same package
	SamePackage                  // the tools of the same package, each with its median
	AllPackages                  // the tools of all packages, each with its median
)

// Comparison is how an answer stands beside measured ones.
type Comparison struct {
	Level    Level
	N        int   // values that it was compared with
	Packages int   // where they are from
	Bytes    int64 // of the answer
	Median   int64 // of the values
	Below    int   // values that are smaller
	Above    int   // values that are larger

	low, high int64 // 25th and 75th percentile
}

// Compare compares a successful answer of wireBytes with the nearest level
// that has at least [Fewest] values. The package is as [FromCommand] or
// [Census.FromLabel] spell it; an empty one is of no known package.
func (c *Census) Compare(pkg, tool string, wireBytes int64) Comparison {
	if server, ok := c.server(pkg); ok {
		if t, ok := server.tool(tool); ok && t.WireBytes.N >= Fewest {
			return compare(wireBytes, t.WireBytes.Sorted, SameTool, 1)
		}
		if medians := server.medians(); len(medians) >= Fewest {
			return compare(wireBytes, medians, SamePackage, 1)
		}
	}
	return compare(wireBytes, c.medians(), AllPackages, c.answering())
}

// answering counts the packages of which there is a size.
func (c *Census) answering() int {
	count := 0
	for _, s := range c.Servers {
		if len(s.medians()) > 0 {
			count++
		}
	}
	return count
}

func compare(wireBytes int64, sorted []int64, level Level, packages int) Comparison {
	n := len(sorted)
	cmp := Comparison{Level: level, N: n, Packages: packages, Bytes: wireBytes}
	if n == 0 {
		return cmp
	}
	cmp.low, cmp.Median, cmp.high = Percentile(sorted, 25), Percentile(sorted, 50), Percentile(sorted, 75)
	cmp.Below = sort.Search(n, func(i int) bool { return sorted[i] >= wireBytes })
	cmp.Above = n - sort.Search(n, func(i int) bool { return sorted[i] > wireBytes })
	return cmp
}

// Typical says that nothing stands out: the answer is within a tenth of the
// median (ids have more or fewer digits), or in the middle half and less than
// twice and more than half the median.
func (c Comparison) Typical() bool {
	if c.N == 0 {
		return false
	}
	near := math.Abs(float64(c.Bytes-c.Median)) <= float64(c.Median)/10
	middle := c.low <= c.Bytes && c.Bytes <= c.high
	return near || middle && c.Bytes < 2*c.Median && 2*c.Bytes > c.Median
}

// String is the comparison in words. It always says with how many values of
// which level, and how many of them are smaller or larger instead of a
// percentile.
func (c Comparison) String() string {
	switch {
	case c.N == 0:
		return "nothing was measured to compare it with"
	case c.Typical():
		return "about typical of " + strconv.Itoa(c.N) + " " + c.among()
	case c.Bytes > c.Median:
		return "larger than " + share(c.Below, c.N) + " " + c.among() + c.times()
	}
	return "smaller than " + share(c.Above, c.N) + " " + c.among() + c.times()
}

// among names the values. Every level is named by what one value stands for.
func (c Comparison) among() string {
	switch c.Level {
	case SameTool:
		return "calls of this tool"
	case SamePackage:
		return "tools of this package"
	}
	return "tools of " + terminal.Plural(int64(c.Packages), "package")
}

func share(count, n int) string {
	if count == n {
		return "all " + strconv.Itoa(n)
	}
	return strconv.Itoa(count) + " of " + strconv.Itoa(n)
}

// times is the ratio to the median where it is 2 or more, either way.
func (c Comparison) times() string {
	if c.Median <= 0 || c.Bytes <= 0 {
		return ""
	}
	more, less := float64(c.Bytes)/float64(c.Median), float64(c.Median)/float64(c.Bytes)
	switch {
	// 9.96 would be written 10.0.
	case more >= 9.95:
		return ", " + terminal.Count(int64(math.Round(more))) + "x their median"
	case more >= 2:
		return fmt.Sprintf(", %.1fx their median", more)
	case less >= 2:
		return ", 1/" + terminal.Count(int64(math.Round(less))) + " of their median"
	}
	return ""
}
