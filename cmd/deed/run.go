package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/observer"
	"github.com/deed-dev/deed/internal/process"
	"github.com/deed-dev/deed/internal/stdio"
	"github.com/deed-dev/deed/internal/terminal"
)

// Exit codes of a command that could not be started, as shells have them.
const (
	exitNotExecutable = 126
	exitNotFound      = 127
)

type runCmd struct {
	Label      string `help:"Name of this server in the answers (default: made from the command)." placeholder:"NAME"`
	Echo       bool   `help:"Tell each call on standard error as it happens."`
	Capture    string `help:"What is kept of the messages: ${enum}." enum:"shape,redacted,raw" default:"redacted"`
	WriteAhead bool   `help:"Keep each message of the client durably before it is forwarded."`
	declareFlags
	Linger  time.Duration `help:"How long answers that are still owed are waited for after the client has gone." default:"30s"`
	Command []string      `arg:"" optional:"" passthrough:"partial" name:"cmd" help:"The server and its arguments."`
}

// Help is what deed run --help says besides its flags.
func (c *runCmd) Help() string {
	return `Example:

  deed run -- npx -y @modelcontextprotocol/server-filesystem /data

In a client's configuration, put deed in front of the server's command:

  "command": "deed",
  "args": ["run", "--", "npx", "-y", "@modelcontextprotocol/server-filesystem", "/data"]

What is kept of the messages is up to --capture. All levels keep names, types,
sizes and times. "redacted" also keeps arguments and results after their secrets
were taken out, of long ones the beginning and the end. "raw" keeps the exact
bytes, secrets too. "shape" keeps no value at all.

With --map, calls of the tools that it names are declared to a Deed server
before they go on; docs/gate.md explains it. What is declared is kept at every
level, because it may have to be sent again.

The exit code is the server's; 128+n when signal n ended it, 127 when it was
not found, 126 when it could not be executed.`
}

func (c *runCmd) Run(_ context.Context, w *world) error {
	argv := c.Command
	if len(argv) > 0 && argv[0] == "--" {
		argv = argv[1:]
	}
	if len(argv) == 0 {
		return &misuse{terminal.WithHint(errors.New("no server to run"), "put its command behind --: deed run -- npx -y @modelcontextprotocol/server-everything")}
	}
	if c.Linger < 0 {
		return &misuse{terminal.WithHint(fmt.Errorf("--linger=%s is negative", c.Linger), "wait for owed answers for e.g. --linger=30s, or not at all with --linger=0s")}
	}
	label := c.Label
	if label == "" {
		label = stdio.Label(argv)
	}
	c.fill()
	gate, err := c.gate(w, c.Label)
	if err != nil {
		return err
	}
	told := false
	options := stdio.Options{
		Command:    process.Command{Name: argv[0], Args: argv[1:]},
		Label:      label,
		Version:    buildVersion().Version,
		Linger:     c.Linger,
		Capture:    observer.Capture(c.Capture),
		WriteAhead: c.WriteAhead,
		Gate:       gate,
		Open: func(trouble func(error)) (stdio.Journal, error) {
			home, err := w.folder()
			if err != nil {
				return nil, err // the server is served all the same
			}
			if !told { // it may be called again
				told = true
				tellExposed(home, trouble)
			}
			return journal.Open(home, journal.Options{OnTrouble: trouble})
		},
		Explain: oneLine,
		Stdin:   os.Stdin,
		Stdout:  os.Stdout,
		Stderr:  w.stderr,
		Signals: endingSignals(),
	}
	if c.Map != "" {
		options.Command.Env = withoutKey(os.Environ())
	}
	if c.Echo {
		options.Echo = echoLine
	}
	code, err := stdio.Run(options)
	if err != nil {
		return startError(err)
	}
	return exitCode(code)
}

// tellExposed tells what of a home others can reach, as far as a command ends it.
func tellExposed(home string, tell func(error)) {
	for _, exposed := range journal.Exposures(home) {
		if exposed.Mend != "" {
			tell(exposed)
		}
	}
}

// endingSignals are those that end a session. One that was ignored when we
// were started, as nohup does, stays ignored.
func endingSignals() <-chan os.Signal {
	signals := make(chan os.Signal, 4)
	for _, sig := range []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP} {
		if !signal.Ignored(sig) {
			signal.Notify(signals, sig)
		}
	}
	return signals
}

// startError says what to do about a server that did not start.
func startError(err error) error {
	var missing *process.NotFoundError
	switch {
	case errors.As(err, &missing) && missing.Path != "":
		return coded{exitNotFound, terminal.WithHint(err, "an application that was started from the desktop often has a short PATH")}
	case errors.As(err, &missing):
		return coded{exitNotFound, err}
	case errors.Is(err, fs.ErrPermission):
		return coded{exitNotExecutable, terminal.WithHint(err, "make it executable (chmod +x), or put the program that runs it in front")}
	}
	return coded{exitNotExecutable, err}
}

// coded is an error that stands for an exit code of its own.
type coded struct {
	code exitCode
	error
}

func (c coded) Unwrap() error { return c.error }
