package process

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestArgumentsOfABatchFileAreQuoted(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want string // what follows the batch file's name
	}{
		"none":                         {nil, ``},
		"a plain word":                 {[]string{"word"}, ` "word"`},
		"an empty one":                 {[]string{"", "x"}, ` "" "x"`},
		"blanks and tabs":              {[]string{"a b\tc"}, " \"a b\tc\""},
		"quotes":                       {[]string{`say "hi"`}, ` "say ""hi"""`},
		"a lone quote":                 {[]string{`"`}, ` """"`},
		"a percent sign":               {[]string{"100%"}, ` "100%%cd:~,%"`},
		"a variable's name":            {[]string{"%PATH%"}, ` "%%cd:~,%PATH%%cd:~,%"`},
		"carets":                       {[]string{"a^b^^"}, ` "a^b^^"`},
		"ampersand, pipe, redirection": {[]string{"a&b|c<d>e"}, ` "a&b|c<d>e"`},
		"parentheses":                  {[]string{"(a)"}, ` "(a)"`},
		"exclamation marks":            {[]string{"!PATH!"}, ` "!PATH!"`},
		"a quote before an ampersand":  {[]string{`"&calc`}, ` """&calc"`},
		"backslashes at the end":       {[]string{`C:\dir\`}, ` "C:\dir\\"`},
		"backslashes before a quote":   {[]string{`a\"b`}, ` "a\\""b"`},
		"backslashes elsewhere":        {[]string{`a\\b`}, ` "a\\b"`},
		"backslash and percent":        {[]string{`a\%"`}, ` "a\%%cd:~,%"""`},
		"other scripts":                {[]string{"héllo 世界"}, ` "héllo 世界"`},
		"what looks like a switch":     {[]string{"/c", "-y"}, ` "/c" "-y"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := batchCommandLine(`C:\Windows\system32\cmd.exe`, `C:\Program Files\npx.cmd`, test.args)
			if err != nil {
				t.Fatal(err)
			}
			want := `"C:\Windows\system32\cmd.exe" /d /e:on /v:off /s /c ""C:\Program Files\npx.cmd"` + test.want + `"`
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestWhatCannotBePassedToABatchFileIsRefused(t *testing.T) {
	t.Parallel()
	for _, arg := range []string{"a\nb", "a\rb", "a\x00b"} {
		if line, err := batchCommandLine("cmd.exe", "x.cmd", []string{arg}); err == nil {
			t.Errorf("%q became %s", arg, line)
		}
	}
	if _, err := batchCommandLine("cmd.exe", `a"b.cmd`, nil); err == nil {
		t.Error("a quote in the file's path was taken")
	}
}

// Whatever the arguments, cmd.exe finds nothing to act on, and the program
// behind the batch file gets them as they were. The two parsers are modelled
// here from their documentation.
func TestArgumentsOfABatchFileSurviveBothParsers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		args := rapid.SliceOf(rapid.StringMatching(`[a-c "%^&|<>()!\\\t,;=]{0,12}`)).Draw(t, "args")
		line, err := batchCommandLine("cmd.exe", `C:\x.cmd`, args)
		if err != nil {
			t.Fatal(err)
		}
		_, command, _ := strings.Cut(line, " /c ")
		command = command[1 : len(command)-1] // what /s does

		expanded := expandVariables(command)
		quoted := false
		for i := range len(expanded) {
			switch c := expanded[i]; {
			case c == '"':
				quoted = !quoted
			case !quoted && strings.IndexByte("&|<>()^%!", c) >= 0:
				t.Fatalf("cmd.exe acts on %q in %s", c, expanded)
			}
		}
		if quoted {
			t.Fatalf("the quotes of %s do not pair", expanded)
		}
		got := splitByRuntime(expanded)
		if diff := cmp.Diff(append([]string{`C:\x.cmd`}, args...), got); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", line, diff)
		}
	})
}

// expandVariables does what cmd.exe does with % on its command line, where
// the only variables are cd and some that an argument might name.
func expandVariables(line string) string {
	var out strings.Builder
	for len(line) > 0 {
		before, rest, found := strings.Cut(line, "%")
		out.WriteString(before)
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "%")
		switch {
		case closed && name == "cd:~,": // from the start, no characters
			line = after
		case closed && name != "" && strings.Trim(name, "abc") == "":
			out.WriteString("EXPANDED")
			line = after
		default: // no such variable: the sign stays, and the search goes on behind it
			out.WriteByte('%')
			line = rest
		}
	}
	return out.String()
}

// splitByRuntime splits a command line as the Microsoft C runtime does.
func splitByRuntime(line string) []string {
	var args []string
	for {
		line = strings.TrimLeft(line, " \t")
		if line == "" {
			return args
		}
		var arg strings.Builder
		quoted := false
		for line != "" && (quoted || line[0] != ' ' && line[0] != '\t') {
			rest := strings.TrimLeft(line, `\`)
			n := len(line) - len(rest)
			if !strings.HasPrefix(rest, `"`) {
				arg.WriteString(line[:n])
				if n == 0 {
					arg.WriteByte(line[0])
					rest = line[1:]
				}
				line = rest
				continue
			}
			arg.WriteString(line[:n/2])
			line = rest[1:]
			switch {
			case n%2 == 1:
				arg.WriteByte('"')
			case quoted && strings.HasPrefix(line, `"`):
				arg.WriteByte('"')
				line = line[1:]
			default:
				quoted = !quoted
			}
		}
		args = append(args, arg.String())
	}
}

func TestBatchFilesAreToldByTheirName(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]bool{
		`C:\npm\npx.cmd`: true, `x.BAT`: true, `x.cmd. `: true,
		`x.exe`: false, `cmd`: false, `x.cmd.exe`: false, `x.cmd\y`: false,
	} {
		if got := isBatch(file); got != want {
			t.Errorf("%q: got %v", file, got)
		}
	}
}
