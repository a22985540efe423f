package terminal_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/terminal"
	"pgregory.net/rapid"
)

func TestTextFromTheWireIsSpelledOutWhereATerminalWouldActOnIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, given, want string }{
		{"plain text stays", "get_sum", "get_sum"},
		{"letters of any script stay", "échô 工具 أداة", "échô 工具 أداة"},
		{"an emoji stays", "🙂", "🙂"},
		{"a line end cannot begin a new line", "a\nb\r\n", `a\nb\r\n`},
		{"a tab cannot break columns", "a\tb", `a\tb`},
		{"an escape sequence loses its escape", "\x1b[2J\x1b]0;owned\x07", `\x1b[2J\x1b]0;owned\x07`},
		{"the one-character form of it too", "\u009b31m", `\u009b31m`},
		{"delete and NUL", "\x7f\x00", `\x7f\x00`},
		{"text cannot run backwards", "a\u202etxt.exe", `a\u202etxt.exe`},
		{"nor be isolated", "\u2066x\u2069", `\u2066x\u2069`},
		{"invisible characters show", "get\u200b_sum\ufeff", `get\u200b_sum\ufeff`},
		{"blank letters show", "a\u3164b", `a\u3164b`},
		{"variation selectors show", "a\ufe0f\U000e0101", `a\ufe0f\U000e0101`},
		{"tag characters show", "\U000e0041", `\U000e0041`},
		{"a blank that is none shows", "a\u00a0b", `a\u00a0b`},
		{"line and paragraph separators show", "\u2028\u2029", `\u2028\u2029`},
		{"bytes that are not UTF-8 show", "a\xffb\xed\xa0\x80", `a\xffb\xed\xa0\x80`},
		{"a replacement character that was written stays", "\ufffd", "\ufffd"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if got := terminal.Clean(test.given); got != test.want {
				t.Errorf("Clean(%q) = %q, want %q", test.given, got, test.want)
			}
		})
	}
}

func TestCleanTextIsPrintableWhateverTheWireSent(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		given := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		checkClean(t, terminal.Clean(given))
		if again := terminal.Clean(terminal.Clean(given)); again != terminal.Clean(given) {
			t.Fatalf("cleaning twice changed %q to %q", terminal.Clean(given), again)
		}
		limit := rapid.IntRange(1, 30).Draw(t, "limit")
		cut := terminal.Cut(given, limit)
		checkClean(t, cut)
		if terminal.Width(cut) > limit {
			t.Fatalf("Cut(%q, %d) is %d columns wide", given, limit, terminal.Width(cut))
		}
	})
}

type failer interface{ Fatalf(string, ...any) }

func checkClean(t failer, text string) {
	if !utf8.ValidString(text) {
		t.Fatalf("%q is not UTF-8", text)
	}
	for _, r := range text {
		if !unicode.IsPrint(r) {
			t.Fatalf("%q has the unprintable %U", text, r)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, seed := range []string{"", "get_sum", "\x1b[31m", "\xff\xfe", "a\u202eb", "工具", "\r\n\t\x00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		checkClean(t, terminal.Clean(text))
		if isASCII := strings.IndexFunc(text, func(r rune) bool { return r < 0x20 || r > 0x7e }) < 0; isASCII && utf8.ValidString(text) {
			if got := terminal.Clean(text); got != text {
				t.Errorf("plain text %q became %q", text, got)
			}
		}
	})
}
