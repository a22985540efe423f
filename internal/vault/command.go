package vault

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"time"
)

// How long a command may take, and for how long its pipes are read after its end.
const (
	commandLimit = time.Minute
	pipesLimit   = 2 * time.Second
)

// CommandError says that a command did not give the secret, and why. It never holds
// anything that the command printed.
type CommandError struct {
	Problem string
	Err     error
}

func (e *CommandError) Error() string {
	text := "get the secret from the command: " + e.Problem
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *CommandError) Unwrap() error { return e.Err }

// Run reads the keys that a command prints, in the form of a secret file: so the
// secret can be with any key management service or secret manager that has a program,
// and is on no disk of the server. The system's shell runs it. What it writes to its
// standard error goes to stderr as it comes. Errors: [*CommandError].
func Run(ctx context.Context, command string, stderr io.Writer) (*Vault, error) {
	ctx, cancel := context.WithTimeout(ctx, commandLimit)
	defer cancel()
	shell := []string{"/bin/sh", "-c", command}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C", command}
	}
	printed := &limited{most: maxFileBytes}
	c := exec.CommandContext(ctx, shell[0], shell[1:]...)
	c.Stdout, c.Stderr, c.WaitDelay = printed, stderr, pipesLimit
	err := c.Run()
	exit, ended := errors.AsType[*exec.ExitError](err)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return nil, &CommandError{Problem: fmt.Sprintf("it took longer than %s", commandLimit)}
	case ctx.Err() != nil:
		return nil, &CommandError{Problem: "it was not waited for", Err: context.Cause(ctx)}
	case printed.over:
		return nil, &CommandError{Problem: "it printed more than a secret"}
	case ended:
		return nil, &CommandError{Problem: "it ended with " + exit.ProcessState.String()}
	case err != nil:
		return nil, &CommandError{Problem: "it cannot be run", Err: err}
	case len(bytes.TrimSpace(printed.text.Bytes())) == 0:
		return nil, &CommandError{Problem: "it printed nothing"}
	}
	v, err := parse(printed.text.Bytes())
	if err != nil {
		return nil, &CommandError{Problem: "what it printed is not what deed secret new makes", Err: err}
	}
	return v, nil
}

// limited keeps what is written up to a limit, and remembers whether there was more.
type limited struct {
	text bytes.Buffer
	most int
	over bool
}

func (l *limited) Write(p []byte) (int, error) {
	if l.text.Len()+len(p) > l.most {
		l.over = true
		return len(p), nil // a full pipe would only make it wait
	}
	return l.text.Write(p)
}
