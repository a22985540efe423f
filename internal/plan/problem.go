package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Problem is one thing that is wrong with a file of plans.
type Problem struct {
	File         string // as it was given
	Line, Column int    // from 1; a column counts characters
	Plan         string // its name; empty where it is about none
	Key          string // of the plan, or of the file
	Message      string
	Hint         string // what to write instead; may be empty
}

func (p Problem) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:%d:%d: ", p.File, p.Line, p.Column)
	if p.Plan != "" {
		fmt.Fprintf(&b, "plan %s: ", p.Plan)
	}
	if p.Key != "" {
		fmt.Fprintf(&b, "%s: ", p.Key)
	}
	return b.String() + p.Message
}

// Problems is everything that is wrong with a file, in the order of the file.
type Problems []Problem

func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, one := range p {
		lines[i] = one.Error()
	}
	return strings.Join(lines, "\n")
}

func (p Problems) sort() {
	slices.SortStableFunc(p, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// clip keeps what is quoted from a file short.
func clip(s string) string {
	const most = 80
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}
