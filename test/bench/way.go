package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"
)

// way is one way from a client to a server.
type way struct {
	name string
	wrap func(server []string) []string // the command that stands before the server
	home string                         // of deed's journal; empty for the others
	env  []string                       // what else is set
}

// The names of the ways, as they are printed.
const (
	wayDirect = "direct"
	wayBare   = "bare copier"
	waySocat  = "socat"
	wayDeed   = "deed run"
)

// ways lists the ways that can be measured here, with an own home for deed.
func (b *bench) ways() ([]way, error) {
	list := []way{
		{name: wayDirect, wrap: func(server []string) []string { return server }},
		{name: wayBare, wrap: func(server []string) []string {
			return append([]string{b.self, childWord, "copy"}, server...)
		}},
	}
	if b.socat != "" {
		list = append(list, way{name: waySocat, wrap: func(server []string) []string {
			// socat splits EXEC's command at spaces; ours has none within.
			return []string{b.socat, "-b", "65536", "EXEC:" + joinWords(server) + ",pipes", "STDIO"}
		}})
	}
	if b.deed == "" {
		return list, nil
	}
	home, err := b.newHome()
	if err != nil {
		return nil, err
	}
	return append(list, way{name: wayDeed, home: home, wrap: func(server []string) []string {
		return append([]string{b.deed, "run", "--label", "bench", "--"}, server...)
	}}), nil
}

func joinWords(words []string) string {
	var line bytes.Buffer
	for i, word := range words {
		if i > 0 {
			line.WriteByte(' ')
		}
		line.WriteString(word)
	}
	return line.String()
}

// newHome makes a folder for a journal of its own.
func (b *bench) newHome() (string, error) {
	dir, err := os.MkdirTemp(b.dir, "home-")
	if err != nil {
		return "", fmt.Errorf("make a home: %w", err)
	}
	return filepath.Join(dir, "deed"), nil
}

// server is the command line of an instant server whose answers have size bytes.
func (b *bench) server(answerBytes int) []string {
	return []string{b.self, childWord, "serve", strconv.Itoa(answerBytes)}
}

// source is the command line of a server that pours total bytes.
func (b *bench) source(total int64, lineBytes int) []string {
	return []string{b.self, childWord, "pour", strconv.FormatInt(total, 10), strconv.Itoa(lineBytes)}
}

// line is one started way with its client's ends of the pipes.
type line struct {
	way    way
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr said
	next   int // id of the next call
	ask    []byte
	answer []byte
}

// open starts the server over one way.
func (w way) open(ctx context.Context, server []string) (*line, error) {
	argv := w.wrap(server)
	theirStdin, stdin, err := blockingPipe()
	if err != nil {
		return nil, err
	}
	stdout, theirStdout, err := blockingPipe()
	if err != nil {
		return nil, err
	}
	l := &line{way: w, stdin: stdin, stdout: stdout, cmd: exec.CommandContext(ctx, argv[0], argv[1:]...)}
	l.cmd.Stdin, l.cmd.Stdout, l.cmd.Stderr = theirStdin, theirStdout, &l.stderr
	l.cmd.WaitDelay = 5 * time.Second
	if w.home != "" {
		l.cmd.Env = append(append(os.Environ(), "DEED_HOME="+w.home), w.env...)
	}
	if err := l.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", w.name, err)
	}
	theirStdin.Close()
	theirStdout.Close()
	return l, nil
}

const requestBytes = 200

// call makes one call and waits for all of its answer.
func (l *line) call(answerBytes int) (time.Duration, error) {
	if l.ask == nil {
		l.ask, l.answer = request(requestBytes), make([]byte, answerBytes)
	}
	l.next++
	copy(l.ask[idAt:], fmt.Sprintf("%0*d", idDigits, l.next))
	began := time.Now()
	if _, err := l.stdin.Write(l.ask); err != nil {
		return 0, l.failed("ask", err)
	}
	if _, err := io.ReadFull(l.stdout, l.answer); err != nil {
		return 0, l.failed("read the answer", err)
	}
	took := time.Since(began)
	if got, want := l.answer[idAt:idAt+idDigits], l.ask[idAt:idAt+idDigits]; !bytes.Equal(got, want) {
		return 0, l.failed("read the answer", fmt.Errorf("it has id %s, want %s", got, want))
	}
	return took, nil
}

// close ends the conversation as a client does, and waits.
func (l *line) close() error {
	l.stdin.Close()
	defer l.stdout.Close()
	rest, err := io.Copy(io.Discard, l.stdout)
	if err != nil {
		return l.failed("close", err)
	}
	if rest > 0 {
		return l.failed("close", fmt.Errorf("%d bytes came that nobody asked for", rest))
	}
	if err := l.cmd.Wait(); err != nil {
		return l.failed("close", err)
	}
	return nil
}

func (l *line) failed(doing string, err error) error {
	return fmt.Errorf("%s: %s: %w; its stderr: %q", l.way.name, doing, err, l.stderr.tail())
}

// said keeps the end of what a command writes to stderr. It is read when
// something failed, which may be while the command still writes.
type said struct {
	mu   sync.Mutex
	kept []byte
}

// Write implements [io.Writer].
func (s *said) Write(text []byte) (int, error) {
	const limit = 500
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kept = append(s.kept, text...)
	s.kept = s.kept[max(0, len(s.kept)-limit):]
	return len(text), nil
}

func (s *said) tail() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return string(s.kept)
}

// rotate returns the order of turn number turn, so that no way is always the
// one that comes after the slowest.
func rotate(count, turn int) []int {
	order := make([]int, count)
	for i := range order {
		order[i] = (i + turn) % count
	}
	return order
}
