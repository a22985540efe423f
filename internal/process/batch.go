package process

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// isBatch says whether a file is a batch file, which Windows runs through
// cmd.exe: npx, uvx and their like are batch files there.
func isBatch(file string) bool {
	switch strings.ToLower(filepath.Ext(strings.TrimRight(file, " ."))) { // Windows ignores blanks and dots at the end
	case ".cmd", ".bat":
		return true
	}
	return false
}

// batchCommandLine returns the command line that has cmd.exe run a batch file
// with exactly these arguments.
//
// Two parsers read it. cmd.exe acts on & | < > ( ) ^ outside of quotes, and on
// % everywhere; the program behind the batch file splits what is left by the
// rules of the C runtime. So every argument stands in quotes; a quote inside
// is doubled, which both read as one quote, and which leaves cmd.exe inside
// of quotes for every other character; and a % is followed by a variable that
// is always empty, so that no two of them can enclose a variable's name.
//
// There is no spelling of a quote that every program reads alike. Node, Python
// and all else built on the C runtime since 2008 read this one; a program in
// Go may split an argument with a quote and a blank behind it.
//
// /d runs no startup commands, /e:on makes that empty variable work, /v:off
// leaves ! alone, and /s takes off exactly the outermost quotes.
func batchCommandLine(cmdExe, file string, args []string) (string, error) {
	if strings.Contains(file, `"`) {
		return "", fmt.Errorf("run %s: a batch file's path cannot hold a quote", file)
	}
	var line strings.Builder
	line.WriteString(`"` + cmdExe + `" /d /e:on /v:off /s /c "`)
	for i, arg := range append([]string{file}, args...) {
		if strings.ContainsAny(arg, "\r\n\x00") {
			return "", fmt.Errorf("run %s: %w", file, errLineBreak)
		}
		if i > 0 {
			line.WriteByte(' ')
		}
		quoteForBatch(&line, arg)
	}
	line.WriteByte('"')
	return line.String(), nil
}

var errLineBreak = errors.New("an argument of a batch file cannot hold a line break or a zero byte; start the program behind it instead")

func quoteForBatch(line *strings.Builder, arg string) {
	line.WriteByte('"')
	backslashes := 0
	for i := range len(arg) {
		c := arg[i]
		switch c {
		case '\\':
			backslashes++
		case '"':
			// The C runtime reads backslashes before a quote as pairs.
			line.WriteString(strings.Repeat(`\`, backslashes))
			line.WriteByte('"')
		case '%':
			line.WriteString("%%cd:~,")
		}
		if c != '\\' {
			backslashes = 0
		}
		line.WriteByte(c)
	}
	line.WriteString(strings.Repeat(`\`, backslashes))
	line.WriteByte('"')
}
