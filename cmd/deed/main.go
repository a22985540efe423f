// Command deed records what an AI agent does through its tools, and answers
// questions about the record.
//
// This package turns flags into one call and an error into an exit code.
// What is asked of a journal is answered in internal/report, what a user
// reads follows the rules of internal/terminal, and the wire belongs to
// internal/stdio; nothing of that is decided here.
//
// # Life of a command
//
// deed tail --session 6d4e runs tailCmd.Run in tail.go with the [world] that
// main made. It opens the journal of the home, asks internal/report for the
// calls and writes them to standard output. Its error, if any, becomes one
// line "deed: …", a hint, and the exit code that the error stands for.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"syscall"

	"github.com/alecthomas/kong"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

func main() {
	// With a receiver set, a write to a closed stdout returns an error
	// instead of ending the process. Ignoring the signal would do that too,
	// but wrapped servers would inherit it.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	clock := terminal.SystemClock()
	w := &world{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		clock:    clock,
		style:    terminal.StyleFor(os.Stdout),
		progress: terminal.ProgressOn(os.Stderr, clock),
		asks:     terminal.IsTerminal(os.Stdin), shows: terminal.IsTerminal(os.Stdout),
	}
	os.Exit(execute(context.Background(), os.Args[1:], w))
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, w *world) int {
	line, home := grammar(args)
	exited := exitOK
	parser, err := newParser(ctx, line, w, func(code int) { exited = code; panic(halt{}) })
	if err != nil {
		return exit(w, err)
	}
	parsed, halted, err := parse(parser, args)
	switch {
	case halted:
		return exited
	case err != nil:
		return exit(w, usageError(args, err))
	}
	w.home = string(*home)
	return exit(w, parsed.Run())
}

func newParser(ctx context.Context, line any, w *world, stop func(code int)) (*kong.Kong, error) {
	parser, err := kong.New(line,
		kong.Name("deed"),
		kong.Description("Deed records what an AI agent does through its tools, and proves what happened.\n\nBegin with: deed demo"),
		kong.Writers(w.stdout, w.stderr),
		kong.Exit(stop),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.BindTo(ctx, (*context.Context)(nil)),
		kong.Bind(w),
		kong.Vars{"bytes_per_token": strconv.FormatFloat(report.DefaultBytesPerToken, 'f', -1, 64)},
	)
	if err != nil {
		return nil, fmt.Errorf("build the command line: %w", err)
	}
	return parser, nil
}

// halt is how kong stops after --help and --version: it has printed all there
// is to print and expects its exit function not to return.
type halt struct{}

func parse(parser *kong.Kong, args []string) (parsed *kong.Context, halted bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(halt); !ok {
				panic(r)
			}
			halted = true
		}
	}()
	parsed, err = parser.Parse(args)
	return parsed, false, err
}
