package terminal

import (
	"errors"
	"fmt"
	"io"
	"strings"
)

// Hint is an error that also says what to do next.
type Hint struct {
	Err  error
	Next string // one or more lines, each something to do
}

func (h *Hint) Error() string { return h.Err.Error() }
func (h *Hint) Unwrap() error { return h.Err }

// WithHint adds to an error what to do next.
func WithHint(err error, next string) error { return &Hint{Err: err, Next: next} }

// PrintError writes an error the way every command does: one line that begins
// with "deed: ", then what to do next. Error texts may carry what a peer
// wrote, so they are neutralised like everything else.
func PrintError(w io.Writer, err error) {
	// Nothing is left to tell anyone when standard error is gone.
	_, _ = fmt.Fprintf(w, "deed: %s\n", Clean(err.Error()))
	var hint *Hint
	if !errors.As(err, &hint) {
		return
	}
	for line := range strings.SplitSeq(hint.Next, "\n") {
		_, _ = fmt.Fprintf(w, "  %s\n", Clean(line))
	}
}
