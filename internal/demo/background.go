package demo

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/terminal"
)

// background is a program that runs beside the demonstration until stop.
type background struct {
	name   string
	cmd    *exec.Cmd
	lines  chan string // of its standard output; closed at its end
	stderr *lastLines
}

// start starts the deed program with arguments and more variables. Those of the
// user that speak of a server or a key stay out.
func (d *Demo) start(name, home string, variables []string, args ...string) (*background, error) {
	b := &background{name: name, cmd: exec.Command(d.Program, args...), lines: make(chan string, 64), stderr: &lastLines{}}
	b.cmd.Env = append(environment(home), variables...)
	b.cmd.Stderr = b.stderr
	b.cmd.WaitDelay = time.Second
	out, err := b.cmd.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start the %s: %w", name, err)
	}
	if err := b.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start the %s: %w", name, err)
	}
	go b.read(out)
	return b, nil
}

func (b *background) read(out io.Reader) {
	defer close(b.lines)
	scanner := bufio.NewScanner(out)
	for scanner.Scan() {
		select {
		case b.lines <- scanner.Text():
		default: // nobody waits for so many
		}
	}
	_, _ = io.Copy(io.Discard, out)
}

// await returns what stands behind a text in a line of the output. Error: the
// program ended or said nothing of it in time, with the end of what it complained.
func (b *background) await(ctx context.Context, text string) (string, error) {
	for {
		select {
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return "", terminal.WithHint(fmt.Errorf("the %s did not start in time", b.name), b.stderr.String())
			}
			return "", ctx.Err()
		case line, more := <-b.lines:
			if !more {
				return "", terminal.WithHint(fmt.Errorf("the %s ended before it had started", b.name), b.stderr.String())
			}
			if _, after, found := strings.Cut(line, text); found {
				return strings.TrimSpace(after), nil
			}
		}
	}
}

// patience is how long a program is given to end by itself.
const patience = 5 * time.Second

// stop ends the program and waits for it.
func (b *background) stop() error {
	if b == nil {
		return nil
	}
	told := b.cmd.Process.Signal(os.Interrupt)
	if runtime.GOOS == "windows" || told != nil {
		told = b.cmd.Process.Kill()
	}
	timer := time.AfterFunc(patience, func() { _ = b.cmd.Process.Kill() })
	defer timer.Stop()
	err := b.cmd.Wait()
	if exit := new(exec.ExitError); errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) || errors.Is(told, os.ErrProcessDone) {
		return nil // it was to end
	}
	return err
}
