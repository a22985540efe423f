//go:build unix

package servertest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything may take before a test gives up.
const patience = 2 * time.Minute

// site is where a server is run, again and again: its folder, its port, and what
// it ever wrote.
type site struct {
	t       *testing.T
	address string
	args    []string
	environ []string
	program func() (string, error) // that serves

	mu      sync.Mutex
	output  bytes.Buffer // all that its processes wrote, standard output and error
	running *process
}

// process is one run of the server.
type process struct {
	command *exec.Cmd
	lines   chan string // of standard output; closed at its end
	ended   chan struct{}
	err     error // once ended
}

// newSite has a port of its own, so that clients find a server that was started again.
func newSite(t *testing.T, environ []string, args ...string) *site {
	t.Helper()
	address := freeAddress(t)
	s := &site{
		t: t, address: address, program: program,
		args:    append([]string{"serve", "--listen", address, "--log-level", "debug"}, args...),
		environ: append([]string{"HOME=" + t.TempDir(), "TZ=UTC", "PATH=" + os.Getenv("PATH")}, environ...),
	}
	t.Cleanup(func() { s.kill() })
	return s
}

func (s *site) url() string { return "http://" + s.address }

// write keeps what a process wrote.
func (s *site) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.Write(p)
}

func (s *site) written() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.output.String()
}

// launch starts a process without waiting for it to be ready. It gets some variables
// more than those of the site.
func (s *site) launch(environ ...string) (*process, error) {
	path, err := s.program()
	if err != nil {
		return nil, err
	}
	p := &process{command: exec.Command(path, s.args...), lines: make(chan string, 100), ended: make(chan struct{})}
	p.command.Env, p.command.Stderr = slices.Concat(s.environ, environ), s
	stdout, err := p.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.command.Start(); err != nil {
		return nil, err
	}
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(io.TeeReader(stdout, s))
		for lines.Scan() {
			select {
			case p.lines <- lines.Text():
			default: // nobody reads them
			}
		}
		close(p.lines)
		p.err = p.command.Wait()
	}()
	s.mu.Lock()
	s.running = p
	s.mu.Unlock()
	return p, nil
}

// start starts a process and waits until it is ready.
func (s *site) start() (*process, error) {
	p, err := s.launch()
	if err != nil {
		return nil, err
	}
	return p, s.awaitReady(p)
}

// awaitReady asks until the server says that it is ready.
func (s *site) awaitReady(p *process) error {
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	limit := time.After(patience)
	for {
		if answer, err := http.Get(s.url() + "/readyz"); err == nil {
			answer.Body.Close()
			if answer.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-again.C:
		case <-p.ended:
			return fmt.Errorf("the server ended before it was ready: %w\n%s", p.err, s.tail())
		case <-limit:
			return errors.New("the server did not become ready\n" + s.tail())
		}
	}
}

// tail is the end of what was written.
func (s *site) tail() string {
	text := s.written()
	return text[max(0, len(text)-4000):]
}

// kill ends the process where it stands, and waits until it is gone.
func (s *site) kill() {
	s.mu.Lock()
	p := s.running
	s.running = nil
	s.mu.Unlock()
	if p == nil {
		return
	}
	_ = p.command.Process.Kill()
	<-p.ended
}

// end tells the process to end, and returns how it did.
func (s *site) end() error {
	s.mu.Lock()
	p := s.running
	s.running = nil
	s.mu.Unlock()
	_ = p.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
		return p.err
	case <-time.After(patience):
		_ = p.command.Process.Kill()
		return errors.New("the server did not end")
	}
}

// link is the token of the sign-in link that a first start prints.
func (p *process) link() (string, error) {
	limit := time.After(patience)
	for {
		select {
		case line, open := <-p.lines:
			if !open {
				return "", errors.New("the server printed no link")
			}
			if _, token, found := strings.Cut(line, "/sign-in#"); found && !strings.Contains(line, "deed login") {
				return strings.TrimSpace(token), nil
			}
		case <-limit:
			return "", errors.New("the server printed no link")
		}
	}
}

// run runs a command of the program to its end.
func (s *site) run(args ...string) (string, error) {
	path, err := program()
	if err != nil {
		return "", err
	}
	command := exec.Command(path, args...)
	command.Env = s.environ
	output, err := command.CombinedOutput()
	return string(output), err
}

// dataArgs are the arguments that say where the site's data is.
func (s *site) dataArgs() []string {
	var args []string
	for i, arg := range s.args {
		if slices.Contains([]string{"--data", "--secret-file"}, arg) {
			args = append(args, arg, s.args[i+1])
		}
	}
	return args
}

func dataFolder(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "data")
}
