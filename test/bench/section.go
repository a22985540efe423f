package main

import (
	"fmt"
	"io"
	"strings"
)

// section is what one measure found: a table, remarks, and the figures that
// have a target.
type section struct {
	title   string
	header  []string
	rows    [][]string
	remarks []string
	figures []figure
	// failures are parts that could not be measured.
	failures []string
}

// figure is one number that has a target.
type figure struct {
	what   string
	target string
	value  string
	met    bool
}

func (s *section) row(cells ...string) { s.rows = append(s.rows, cells) }

func (s *section) remark(format string, args ...any) {
	s.remarks = append(s.remarks, fmt.Sprintf(format, args...))
}

// fail says what could not be measured. The rest is printed all the same.
func (s *section) fail(format string, args ...any) {
	s.failures = append(s.failures, fmt.Sprintf(format, args...))
}

func (s *section) print(w io.Writer) {
	fmt.Fprintf(w, "\n### %s\n\n", s.title)
	printTable(w, s.header, s.rows)
	for _, remark := range s.remarks {
		fmt.Fprintf(w, "\n%s\n", remark)
	}
	for _, failure := range s.failures {
		fmt.Fprintf(w, "\n**Not measured:** %s\n", failure)
	}
}

// printTable writes a Markdown table.
func printTable(w io.Writer, header []string, rows [][]string) {
	rule := make([]string, len(header))
	for i := range rule {
		rule[i] = "---"
	}
	for _, cells := range append([][]string{header, rule}, rows...) {
		fmt.Fprintf(w, "| %s |\n", strings.Join(cells, " | "))
	}
}

// tally gathers the figures of all runs.
type tally struct {
	order  []string
	values map[string][]figure
}

// add takes one run's figures in.
func (t *tally) add(figures []figure) {
	if t.values == nil {
		t.values = map[string][]figure{}
	}
	for _, f := range figures {
		if _, known := t.values[f.what]; !known {
			t.order = append(t.order, f.what)
		}
		t.values[f.what] = append(t.values[f.what], f)
	}
}

func (t *tally) print(w io.Writer) {
	if len(t.order) == 0 {
		return
	}
	fmt.Fprint(w, "\n## Targets\n\n")
	var rows [][]string
	for _, what := range t.order {
		figures := t.values[what]
		met := 0
		var values []string
		for _, f := range figures {
			values = append(values, f.value)
			if f.met {
				met++
			}
		}
		rows = append(rows, []string{
			what, figures[0].target, strings.Join(values, ", "),
			fmt.Sprintf("%d of %d", met, len(figures)),
		})
	}
	printTable(w, []string{"What", "Target", "Measured, one value a run", "Met"}, rows)
}
