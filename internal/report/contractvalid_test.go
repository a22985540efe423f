package report_test

import (
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

func TestTheCaretStandsBelowTheProblemHoweverLongAndWideTheLine(t *testing.T) {
	t.Parallel()
	for name, line := range map[string]string{
		"a short line":             "    where: X",
		"a line of tabs":           "\t\twhere: X",
		"a line of wide letters":   "title: 返金返金 X",
		"a line that begins early": strings.Repeat("a ", 200) + "X" + strings.Repeat(" b", 200),
		"a line of escapes":        "title: \x1b[2K X",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			column := len([]rune(line[:strings.Index(line, "X")])) + 1
			v := report.Validation{Files: []report.ValidatedFile{{
				Name: "x.yaml", Text: "first\n" + line + "\nlast\n",
				Problems: []contract.Problem{{Line: 2, Column: column, Message: "wrong", Hint: "write Y"}},
			}}}
			lines := strings.Split(v.Text(report.View{}), "\n")
			if len(lines) < 4 || !strings.HasSuffix(lines[0], ": wrong") || lines[3] != "  write Y" {
				t.Fatalf("it says %q", lines)
			}
			shown, _, _ := strings.Cut(lines[1], "X")
			caret, _, _ := strings.Cut(lines[2], "^")
			if terminal.Width(shown) != terminal.Width(caret) || !strings.Contains(lines[1], "X") || terminal.Width(lines[1]) > 104 {
				t.Errorf("the caret stands elsewhere:\n%s\n%s", lines[1], lines[2])
			}
		})
	}
}
