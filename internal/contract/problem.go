package contract

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong, or in a warning odd, about a contract.
type Problem struct {
	Line, Column int    // of Text, from 1; a column counts characters
	Path         string // where it stands in the contract: steps[0].where
	Text         string // what it is about, as it stands there
	Message      string
	Hint         string // what to write instead; may be empty
}

func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "line %d, column %d: ", p.Line, p.Column)
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.Message)
	return b.String()
}

// Problems is why a text is no contract, in the order of the text.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = problem.String()
	}
	return strings.Join(lines, "\n")
}

func sorted(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return problems
}
