//go:build unix

package wiretest

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/rpc"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
)

// hello is the first line that a puppet sends.
type hello struct {
	PID, Parent int
	Args        []string
	Dir         string
	Env         []string
}

// servePuppet is the whole life of a server: dial back to the test, do what it
// says, and end when it hangs up.
func servePuppet(control string) int {
	conn, err := net.Dial("unix", control)
	if err != nil {
		fmt.Fprintln(os.Stderr, "puppet:", err)
		return 99
	}
	// A broken pipe must come back as an error that the test can see, not
	// as a signal.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	dir, _ := os.Getwd()
	first, err := json.Marshal(hello{os.Getpid(), os.Getppid(), os.Args, dir, os.Environ()})
	if err != nil {
		fmt.Fprintln(os.Stderr, "puppet:", err)
		return 99
	}
	if _, err := conn.Write(append(first, '\n')); err != nil {
		return 99
	}
	calls := rpc.NewServer()
	if err := calls.Register(&Puppet{trapped: make(chan os.Signal, 64)}); err != nil {
		fmt.Fprintln(os.Stderr, "puppet:", err)
		return 99
	}
	calls.ServeConn(conn)
	return 98 // the test has ended
}

// Puppet is a server whose every move is a call from the test.
type Puppet struct{ trapped chan os.Signal }

// Chunk is something to write.
type Chunk struct {
	To   int // 1 is stdout, 2 is stderr
	Data []byte
	// Repeat writes Data so many times; zero is once.
	Repeat int
}

// Write writes a chunk and says how many bytes went.
func (p *Puppet) Write(c Chunk, written *int64) error {
	to := os.Stdout
	if c.To == 2 {
		to = os.Stderr
	}
	for range max(c.Repeat, 1) {
		n, err := to.Write(c.Data)
		*written += int64(n)
		if err != nil {
			return fmt.Errorf("write: %w", err)
		}
	}
	return nil
}

// keepLimit is how much of what was read travels back whole; of more, only
// its size and hash do.
const keepLimit = 1 << 20

// Got is what a read found.
type Got struct {
	Data []byte // nil when Size is above keepLimit
	Size int64
	Sum  [sha256.Size]byte
	EOF  bool
}

// Read reads so many bytes from stdin, or to its end when limit is below zero.
func (p *Puppet) Read(limit int64, got *Got) error { return take(os.Stdin, limit, got) }

func take(from io.Reader, limit int64, got *Got) error {
	sum := sha256.New()
	var kept bytes.Buffer
	chunk := make([]byte, 256<<10)
	for limit < 0 || got.Size < limit {
		want := int64(len(chunk))
		if limit >= 0 {
			want = min(want, limit-got.Size)
		}
		n, err := from.Read(chunk[:want])
		got.Size += int64(n)
		sum.Write(chunk[:n])
		if got.Size <= keepLimit {
			kept.Write(chunk[:n])
		}
		if errors.Is(err, io.EOF) {
			got.EOF = true
			break
		}
		if err != nil {
			return fmt.Errorf("read after %d bytes: %w", got.Size, err)
		}
	}
	sum.Sum(got.Sum[:0])
	if got.Size <= keepLimit {
		got.Data = kept.Bytes()
	}
	return nil
}

// Answer answers every request at once until stdin ends, and says how many
// there were. An id is found without parsing, so that nothing is faster.
func (p *Puppet) Answer(_ struct{}, count *int64) error {
	in := bufio.NewReaderSize(os.Stdin, 256<<10)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read a line: %w", err)
		}
		if _, err := os.Stdout.Write(answerTo(line)); err != nil {
			return fmt.Errorf("answer: %w", err)
		}
		*count++
	}
}

// Close closes stdin (0), stdout (1) or stderr (2).
func (p *Puppet) Close(which int, _ *struct{}) error {
	return []*os.File{os.Stdin, os.Stdout, os.Stderr}[which].Close()
}

// Spawn starts a grandchild: a puppet that shares stdin, stdout and stderr
// when held is true, and has none of them when it is not.
func (p *Puppet) Spawn(held bool, pid *int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	child := exec.Command(self)
	if held {
		child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	}
	if err := child.Start(); err != nil {
		return fmt.Errorf("start a grandchild: %w", err)
	}
	*pid = child.Process.Pid
	go func() { _ = child.Wait() }() // no zombies
	return nil
}

// Trap says what to do with a signal.
type Trap struct {
	Signal syscall.Signal
	Exit   int // end with this code; below zero: ignore it, and let Await see it
}

// Trap takes a signal's usual effect away.
func (p *Puppet) Trap(t Trap, _ *struct{}) error {
	if t.Exit < 0 {
		signal.Notify(p.trapped, t.Signal)
		return nil
	}
	came := make(chan os.Signal, 1)
	signal.Notify(came, t.Signal)
	go func() { <-came; os.Exit(t.Exit) }()
	return nil
}

// Await waits for the next trapped signal.
func (p *Puppet) Await(_ struct{}, which *int) error {
	got, _ := (<-p.trapped).(syscall.Signal)
	*which = int(got)
	return nil
}

// Exit ends the process; nobody hears an answer.
func (p *Puppet) Exit(code int, _ *struct{}) error { os.Exit(code); return nil }

// Die ends the process by a signal.
func (p *Puppet) Die(which int, _ *struct{}) error {
	signal.Reset()
	return syscall.Kill(os.Getpid(), syscall.Signal(which))
}
