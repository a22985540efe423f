package intent

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Problem is something that is wrong with a mapping file, or odd about it.
type Problem struct {
	Line    int    `json:"line"`           // from 1
	Column  int    `json:"column"`         // from 1, in characters
	Tool    string `json:"tool,omitempty"` // the key under tools
	Key     string `json:"key,omitempty"`  // such as subject or params.amount
	Message string `json:"message"`        // what is wrong
	Hint    string `json:"hint,omitempty"` // what to write instead
}

func (p Problem) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d:%d: ", p.Line, p.Column)
	if p.Tool != "" {
		fmt.Fprintf(&b, "tool %s: ", quoted(p.Tool))
	}
	if p.Key != "" {
		fmt.Fprintf(&b, "key %s: ", quoted(p.Key))
	}
	b.WriteString(p.Message)
	if p.Hint != "" {
		b.WriteString("; " + p.Hint)
	}
	return b.String()
}

// MappingError is everything that is wrong with a mapping file.
type MappingError struct {
	File     string // as it was given
	Problems []Problem
}

// Error has one line for each problem: the file, the line and the column, the
// tool and the key, what is wrong and what to write instead.
func (e *MappingError) Error() string {
	lines := make([]string, 0, len(e.Problems))
	for _, p := range e.Problems {
		lines = append(lines, e.File+":"+p.String())
	}
	return strings.Join(lines, "\n")
}

func sorted(problems []Problem) []Problem {
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return problems
}

func quoted(s string) string { return strconv.Quote(clip(s)) }

// clip keeps a text that stands in a problem short.
func clip(s string) string {
	const most = 80
	if utf8.RuneCountInString(s) <= most {
		return s
	}
	return string([]rune(s)[:most]) + "…"
}
