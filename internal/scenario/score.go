package scenario

import (
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/verdict"
)

// Score counts, for each lens, how often which result was expected and which
// was given.
type Score map[string]Matrix

// Matrix has the results expected, then the results given.
type Matrix map[verdict.Result]map[verdict.Result]int

// Add counts one verdict.
func (s Score) Add(want Expectation, outcome, conformance verdict.Result) {
	s.lens(verdict.OutcomeLens).add(want.Outcome, outcome)
	s.lens(verdict.ConformanceLens).add(want.Conformance, conformance)
}

func (s Score) lens(name string) Matrix {
	if s[name] == nil {
		s[name] = Matrix{}
	}
	return s[name]
}

func (m Matrix) add(want, got verdict.Result) {
	if m[want] == nil {
		m[want] = map[verdict.Result]int{}
	}
	m[want][got]++
}

// False is how often a result was given that should not have been.
func (m Matrix) False(result verdict.Result) int {
	n := 0
	for want, got := range m {
		if want != result {
			n += got[result]
		}
	}
	return n
}

// Total is how many results there are.
func (m Matrix) Total() int {
	n := 0
	for _, got := range m {
		for _, count := range got {
			n += count
		}
	}
	return n
}

var lensResults = []verdict.Result{verdict.Pass, verdict.Fail, verdict.Unknown}

// String is the score as a table: what was expected down, what was given
// across, and the three kinds of error below, each apart from the others.
func (s Score) String() string {
	var b strings.Builder
	for _, lens := range []string{verdict.OutcomeLens, verdict.ConformanceLens} {
		m := s[lens]
		fmt.Fprintf(&b, "%-12s %8s %8s %8s\n", lens, "PASS", "FAIL", "UNKNOWN")
		for _, want := range lensResults {
			fmt.Fprintf(&b, "  %-10s", want)
			for _, got := range lensResults {
				fmt.Fprintf(&b, " %8d", m[want][got])
			}
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "  false PASS %d, false FAIL %d, false UNKNOWN %d of %d\n",
			m.False(verdict.Pass), m.False(verdict.Fail), m.False(verdict.Unknown), m.Total())
	}
	return b.String()
}
