//go:build unix

package wiretest

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// client is the near end of the wire: the three pipes of the command that an
// MCP client starts.
type client struct {
	t             tb
	cmd           *exec.Cmd
	in, out, err  *os.File
	patience      time.Duration
	exited        chan struct{}
	exitedAt      time.Time // valid once exited is closed
	stderrMu      sync.Mutex
	stderrBytes   []byte
	stderrDrained chan struct{}
}

func startClient(t tb, argv, env []string, with setup) *client {
	t.Helper()
	c := &client{t: t, patience: with.patience, exited: make(chan struct{}), stderrDrained: make(chan struct{})}
	var far [3]*os.File
	var err error
	for _, p := range []struct{ read, write **os.File }{{&far[0], &c.in}, {&c.out, &far[1]}, {&c.err, &far[2]}} {
		if *p.read, *p.write, err = os.Pipe(); err != nil {
			t.Fatalf("make a pipe: %v", err)
		}
	}
	c.cmd = exec.Command(argv[0], argv[1:]...)
	c.cmd.Env = append(os.Environ(), env...)
	c.cmd.Stdin, c.cmd.Stdout, c.cmd.Stderr = far[0], far[1], far[2]
	if err := c.cmd.Start(); err != nil {
		t.Fatalf("start %v: %v", argv, err)
	}
	for _, f := range far {
		_ = f.Close()
	}
	go func() {
		_ = c.cmd.Wait()
		c.exitedAt = time.Now()
		close(c.exited)
	}()
	if with.rawStderr {
		close(c.stderrDrained)
	} else {
		go c.drainStderr()
	}
	t.Cleanup(func() {
		_ = c.cmd.Process.Kill()
		for _, f := range []*os.File{c.in, c.out, c.err} {
			_ = f.Close()
		}
		<-c.exited
	})
	return c
}

func (c *client) drainStderr() {
	defer close(c.stderrDrained)
	chunk := make([]byte, 64<<10)
	for {
		n, err := c.err.Read(chunk)
		c.stderrMu.Lock()
		c.stderrBytes = append(c.stderrBytes, chunk[:n]...)
		c.stderrMu.Unlock()
		if err != nil {
			return
		}
	}
}

// stderrSoFar is what has come on stderr up to now.
func (c *client) stderrSoFar() []byte {
	c.stderrMu.Lock()
	defer c.stderrMu.Unlock()
	return bytes.Clone(c.stderrBytes)
}

// stderr waits for the end of stderr and returns all of it.
func (c *client) stderr() []byte {
	c.t.Helper()
	select {
	case <-c.stderrDrained:
	case <-time.After(c.patience):
		c.t.Fatalf("stderr did not end within %v; so far %q", c.patience, clip(c.stderrSoFar()))
	}
	return c.stderrSoFar()
}

// write writes all of data.
func (c *client) write(data []byte) {
	c.t.Helper()
	if n, err := c.tryWrite(data); err != nil {
		c.t.Fatalf("the client wrote %d of %d bytes: %v\nstderr: %q", n, len(data), err, clip(c.stderrSoFar()))
	}
}

func (c *client) tryWrite(data []byte) (int, error) {
	if err := c.in.SetWriteDeadline(time.Now().Add(c.patience)); err != nil {
		return 0, err
	}
	return c.in.Write(data)
}

// take reads n bytes from the server, or to the end when n is below zero.
func (c *client) take(n int64) (Got, error) {
	if err := c.out.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return Got{}, err
	}
	var got Got
	err := take(c.out, n, &got)
	return got, err
}

// read reads n bytes from the server, or to the end when n is below zero.
func (c *client) read(n int) Got {
	c.t.Helper()
	got, err := c.take(int64(n))
	if err != nil {
		c.t.Fatalf("the client read %d of %d bytes %q: %v\nstderr: %q", got.Size, n, clip(got.Data), err, clip(c.stderrSoFar()))
	}
	return got
}

// mustRead fails the test unless these bytes come next.
func (c *client) mustRead(want []byte) {
	c.t.Helper()
	got := c.read(len(want))
	if got.Sum != sha256.Sum256(want) {
		c.t.Fatalf("the client got %d bytes %q, want %d bytes %q", got.Size, clip(got.Data), len(want), clip(want))
	}
}

// mustSeeEnd fails the test unless stdout ends here.
func (c *client) mustSeeEnd() {
	c.t.Helper()
	if got := c.read(-1); got.Size != 0 {
		c.t.Fatalf("the client got %d more bytes %q, want the end", got.Size, clip(got.Data))
	}
}

// closeInput says that the client will write no more, and when it did.
func (c *client) closeInput() time.Time {
	c.t.Helper()
	now := time.Now()
	if err := c.in.Close(); err != nil {
		c.t.Fatalf("close the client's input: %v", err)
	}
	return now
}

// closeOutput makes the client deaf.
func (c *client) closeOutput() {
	c.t.Helper()
	if err := c.out.Close(); err != nil {
		c.t.Fatalf("close the client's output: %v", err)
	}
}

// wait waits for the command to end and returns what a shell would report.
func (c *client) wait(within time.Duration) int {
	c.t.Helper()
	select {
	case <-c.exited:
	case <-time.After(within):
		c.t.Fatalf("the command is still there after %v\nstderr: %q", within, clip(c.stderrSoFar()))
	}
	return shellCode(c.cmd.ProcessState)
}

// mustExit fails the test unless the command ends in time with this code.
func (c *client) mustExit(want int, within time.Duration) time.Time {
	c.t.Helper()
	if got := c.wait(within); got != want {
		c.t.Fatalf("exit code %d, want %d\nstderr: %q", got, want, clip(c.stderrSoFar()))
	}
	return c.exitedAt
}

// signal sends a signal to the command alone, not to its tree.
func (c *client) signal(which syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(which); err != nil {
		c.t.Fatalf("send %v: %v", which, err)
	}
}

func shellCode(state *os.ProcessState) int {
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}

// deedLine is a line that the program itself put on stderr.
var deedLine = regexp.MustCompile(`(?m)^deed: .*\n`)

// ownLines parts what the program said from what the server said.
func ownLines(stderr []byte) (own []string, server []byte) {
	for _, line := range deedLine.FindAll(stderr, -1) {
		own = append(own, strings.TrimSuffix(string(line), "\n"))
	}
	return own, deedLine.ReplaceAll(stderr, nil)
}

// readLine reads one line from the server, through a buffer that the caller
// keeps: nothing else may read the client's output in between.
func readLine(c *client, in lineReader) ([]byte, error) {
	if err := c.out.SetReadDeadline(time.Now().Add(c.patience)); err != nil {
		return nil, err
	}
	line, err := in.ReadBytes('\n')
	if errors.Is(err, io.EOF) && len(line) > 0 {
		err = io.ErrUnexpectedEOF
	}
	return line, err
}

type lineReader interface {
	ReadBytes(delim byte) ([]byte, error)
}
