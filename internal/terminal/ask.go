package terminal

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// Ask puts a question that can be answered with yes or no and reads one line.
// Whatever does not begin with y means no, and so does the end of the input:
// what is asked about cannot be undone.
func Ask(in io.Reader, out io.Writer, question string) (bool, error) {
	if _, err := fmt.Fprintf(out, "%s [y/N] ", Clean(question)); err != nil {
		return false, fmt.Errorf("ask whether to go on: %w", err)
	}
	line, err := bufio.NewReader(in).ReadString('\n')
	if err != nil && err != io.EOF {
		return false, fmt.Errorf("read whether to go on: %w", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}

// IsTerminal says that a person sits at the other end of a file.
func IsTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }
