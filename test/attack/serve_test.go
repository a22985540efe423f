//go:build unix

package attack

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long anything may take before a test gives up.
const patience = 3 * time.Minute

func TestMain(m *testing.M) {
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(built)
	}
	os.Exit(code)
}

// built is the folder that the program was built in.
var built string

// program is the path of the program under test: DEED_BIN, or built from the tree.
var program = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("DEED_BIN"); given != "" {
		return filepath.Abs(given)
	}
	dir, err := os.MkdirTemp("", "deed-bin")
	if err != nil {
		return "", err
	}
	built = dir
	path := filepath.Join(dir, "deed")
	build := exec.Command("go", "build", "-o", path, "./cmd/deed")
	build.Dir, build.Stderr = filepath.Join("..", ".."), os.Stderr
	return path, build.Run()
})

// newcomer runs the program in a home of their own, with a usual umask.
type newcomer struct {
	t    *testing.T
	home string
	env  []string
}

func newNewcomer(t *testing.T, env ...string) *newcomer {
	t.Helper()
	// It is built before any time is taken.
	if _, err := program(); err != nil {
		t.Fatalf("no program to test: %v", err)
	}
	home := t.TempDir()
	return &newcomer{t: t, home: home, env: append([]string{"HOME=" + home, "PATH=" + os.Getenv("PATH"), "TZ=UTC"}, env...)}
}

func (n *newcomer) path(parts ...string) string {
	return filepath.Join(append([]string{n.home}, parts...)...)
}

// command is the program with arguments, in the home.
func (n *newcomer) command(ctx context.Context, args ...string) *exec.Cmd {
	n.t.Helper()
	path, err := program()
	if err != nil {
		n.t.Fatal(err)
	}
	c := exec.CommandContext(ctx, path, args...)
	c.Dir, c.Env = n.home, n.env
	return c
}

// run runs the program to its end, and returns what it wrote and its exit code:
// -1 if it did not end.
func (n *newcomer) run(args ...string) (string, int) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), patience)
	defer cancel()
	c := n.command(ctx, args...)
	var output bytes.Buffer
	c.Stdout, c.Stderr = &output, &output
	_ = c.Run()
	return output.String(), c.ProcessState.ExitCode()
}

// started is a server that runs.
type started struct {
	url  string
	link string // the token of its first link
	end  func() // ends it, once
}

// serve starts a server for the first time. It ends with the test at the latest.
func (n *newcomer) serve(args ...string) *started {
	n.t.Helper()
	c := n.command(context.Background(), append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)...)
	stdout, err := c.StdoutPipe()
	if err != nil {
		n.t.Fatal(err)
	}
	var complaint bytes.Buffer
	c.Stderr = &complaint
	if err := c.Start(); err != nil {
		n.t.Fatal(err)
	}
	s := &started{end: sync.OnceFunc(func() {
		_ = c.Process.Signal(syscall.SIGTERM)
		_ = c.Wait()
	})}
	n.t.Cleanup(s.end)
	slow := time.AfterFunc(patience, func() { _ = c.Process.Kill() })
	defer slow.Stop()
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		line := lines.Text()
		if at, found := strings.CutPrefix(line, "Deed serves "); found {
			s.url = at
		}
		if _, token, found := strings.Cut(line, "/sign-in#"); found {
			s.link = strings.TrimSpace(token)
			return s
		}
	}
	n.t.Fatal("the server printed no link: " + complaint.String())
	return nil
}

// launch starts the program, waits until it said something, and ends it.
func (n *newcomer) launch(args ...string) {
	n.t.Helper()
	ctx, cancel := context.WithTimeout(n.t.Context(), patience)
	defer cancel()
	c := n.command(ctx, args...)
	reader, writer, err := os.Pipe()
	if err != nil {
		n.t.Fatal(err)
	}
	defer reader.Close()
	c.Stdout, c.Stderr = writer, writer
	err = c.Start()
	writer.Close()
	if err != nil {
		n.t.Fatal(err)
	}
	_, _ = reader.Read(make([]byte, 1))
	_ = c.Process.Signal(syscall.SIGTERM)
	_, _ = io.Copy(io.Discard, reader)
	_ = c.Wait()
}

// await waits until a file is there.
func (n *newcomer) await(path string) {
	n.t.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	limit := time.After(patience)
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-again.C:
		case <-limit:
			n.t.Fatal("there is no " + filepath.Base(path))
		}
	}
}

// ask sends a request and returns the status and the body.
func ask(t *testing.T, method, url, credential, body string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if credential != "" {
		r.Header.Set("Authorization", "Bearer "+credential)
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}
