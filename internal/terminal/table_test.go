package terminal_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/terminal"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestColumnsStandUnderEachOther(t *testing.T) {
	t.Parallel()
	table := terminal.Table{Indent: 2, Columns: []terminal.Column{{Title: "tool", Max: 8}, {Title: "out", Right: true}, {Title: "call"}}}
	table.Add(terminal.Text("get_sum"), terminal.Text("98 B"), terminal.Text("6d4e47f7.1"))
	table.Add(terminal.Text("工具"), terminal.Text("1.0 MiB"))
	table.Add(terminal.Text("a_long_name"), terminal.Text(""), terminal.Text("6d4e47f7.3"))
	table.Add(terminal.Text("a\nb"), terminal.Text("1 B"), terminal.Text("x"), terminal.Text("one too many"))
	want := "" +
		"  tool          out  call\n" +
		"  get_sum      98 B  6d4e47f7.1\n" +
		"  工具      1.0 MiB\n" +
		"  a_long_…           6d4e47f7.3\n" +
		"  a\\nb          1 B  x\n"
	if diff := cmp.Diff(want, table.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	table.Drop(1)
	if diff := cmp.Diff("  tool      call\n", strings.SplitAfter(table.String(), "\n")[0]); diff != "" {
		t.Errorf("without its second column (-want +got):\n%s", diff)
	}
}

func TestAColumnInWhichNothingStandsTakesNoRoom(t *testing.T) {
	t.Parallel()
	table := terminal.Table{Columns: []terminal.Column{{Right: true}, {}, {}}}
	table.Add(terminal.Text(""), terminal.Text("refund"), terminal.Text("1"))
	table.Add(terminal.Text(""), terminal.Text("get"), terminal.Text("2"))
	if diff := cmp.Diff("refund  1\nget     2\n", table.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestColourDoesNotMoveColumns(t *testing.T) {
	t.Parallel()
	style := terminal.Colourful()
	table := terminal.Table{Heading: style.Faint, Columns: []terminal.Column{{Title: "a"}, {Title: "b"}}}
	table.Add(terminal.Cell{Text: "x", Paint: style.Bad}, terminal.Text("y"))
	table.Add(terminal.Text("long"), terminal.Cell{Text: "z", Paint: style.Good})
	want := "\x1b[2ma\x1b[0m     \x1b[2mb\x1b[0m\n\x1b[31mx\x1b[0m     y\nlong  \x1b[32mz\x1b[0m\n"
	if diff := cmp.Diff(want, table.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
}

func TestATableIsCleanWhateverItsCellsSay(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		table := terminal.Table{Columns: []terminal.Column{{Max: 12}, {Right: true}}}
		rows := rapid.IntRange(1, 5).Draw(rt, "rows")
		for range rows {
			table.Add(terminal.Text(rapid.String().Draw(rt, "left")), terminal.Text(string(rapid.SliceOf(rapid.Byte()).Draw(rt, "right"))))
		}
		lines := strings.Split(table.String(), "\n")
		if len(lines) != rows+1 || lines[rows] != "" {
			rt.Fatalf("%d rows became %q", rows, table.String())
		}
		for _, line := range lines {
			checkClean(rt, line)
		}
	})
}

func TestWithoutColourNothingIsAdded(t *testing.T) {
	t.Parallel()
	var plain terminal.Style
	if got := plain.Bad("x") + plain.Good("x") + plain.Warn("x") + plain.Strong("x") + plain.Faint("x"); got != "xxxxx" {
		t.Errorf("got %q", got)
	}
	if got := terminal.Colourful().Bad(""); got != "" {
		t.Errorf("colour around nothing: %q", got)
	}
}

func TestAnErrorIsOneLineAndThenWhatToDo(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	terminal.PrintError(&b, errors.New("no session begins with \"x\x1b[2J\"\nfake: line"))
	terminal.PrintError(&b, fmt.Errorf("open journal: %w", terminal.WithHint(errors.New("nothing recorded yet"), "try: deed demo\nor: deed run -- CMD")))
	want := "deed: no session begins with \"x\\x1b[2J\"\\nfake: line\n" +
		"deed: open journal: nothing recorded yet\n  try: deed demo\n  or: deed run -- CMD\n"
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("printed (-want +got):\n%s", diff)
	}
}
