package terminal_test

import (
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/terminal"
	"pgregory.net/rapid"
)

func TestWrappedTextIsWholeAndFits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.String().Draw(rt, "text")
		limit := rapid.IntRange(2, 40).Draw(rt, "limit")
		lines := terminal.Wrap(text, limit)
		if joined := strings.Join(lines, ""); joined != terminal.Clean(text) {
			rt.Fatalf("%q came back as %q", terminal.Clean(text), joined)
		}
		for _, line := range lines {
			if terminal.Width(line) > limit {
				rt.Fatalf("%q has %d columns, the limit is %d", line, terminal.Width(line), limit)
			}
		}
	})
}

func TestPaddedTextHasExactlyItsWidth(t *testing.T) {
	t.Parallel()
	// Marks that join the letter before them are left out: a blank in front
	// of one takes it up, and the width of that is the terminal's own affair.
	letters := rapid.StringOf(rapid.SampledFrom([]rune("abcxyz 0189äé漢字テ\x1b\n\u202e")))
	rapid.Check(t, func(rt *rapid.T) {
		width := rapid.IntRange(2, 30).Draw(rt, "width")
		got := terminal.Pad(letters.Draw(rt, "text"), width, rapid.Bool().Draw(rt, "right"))
		if terminal.Width(got) != width {
			rt.Fatalf("%q has %d columns, not %d", got, terminal.Width(got), width)
		}
	})
}

func TestPadPutsNumbersBelowEachOther(t *testing.T) {
	t.Parallel()
	if got := terminal.Pad("12 B", 7, true) + "|" + terminal.Pad("ok", 4, false) + "|" + terminal.Pad("a long name", 6, false); got != "   12 B|ok  |a lon…" {
		t.Errorf("got %q", got)
	}
}

func TestAroundShowsWhatStandsBesideAHit(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, text, hit string
		limit           int
		want            string
	}{
		{"everything where there is room", "refund of 12 EUR", "of", 40, "refund of 12 EUR"},
		{"the start of a long text", "refund of 12 EUR to somebody", "refund", 12, "refund of 1…"},
		{"the end of a long text", "the order was a refund", "refund", 12, "…as a refund"},
		{"the middle", "aaaaaaaaaaaaaaaaaaaa refund bbbbbbbbbbbbbbbbbbbb", "refund", 16, "…a refund bbbbb…"},
		{"a hit that is too long", "x" + strings.Repeat("y", 30), strings.Repeat("y", 30), 10, "yyyyyyyyy…"},
		{"escapes are spelled out", "\x1b[2J refund \x07", "refund", 40, `\x1b[2J refund \x07`},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			place := strings.Index(test.text, test.hit)
			got := terminal.Around(test.text, place, len(test.hit), test.limit)
			if terminal.Width(got) > test.limit {
				t.Errorf("%q has %d columns", got, terminal.Width(got))
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestAroundNeverPrintsWhatATerminalActsOnAndNeverGrows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(rt, "text"))
		place, length := rapid.IntRange(-2, 60).Draw(rt, "place"), rapid.IntRange(-2, 60).Draw(rt, "length")
		got := terminal.Around(text, place, length, 20)
		if terminal.Width(got) > 20 || got != terminal.Clean(got) {
			rt.Fatalf("%q has %d columns", got, terminal.Width(got))
		}
	})
}
