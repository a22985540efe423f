//go:build unix

package wiretest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The variables that make the test binary something other than a test.
const (
	roleVariable    = "WIRETEST_ROLE"    // "server": be a puppet
	relayVariable   = "WIRETEST_RELAY"   // be a relay with this fault; taken off before the server starts
	controlVariable = "WIRETEST_CONTROL" // the socket of the test that holds the strings
)

func TestMain(m *testing.M) {
	if fault := os.Getenv(relayVariable); fault != "" {
		os.Exit(relayWithFault(fault, os.Args[1:]))
	}
	if os.Getenv(roleVariable) == "server" {
		os.Exit(servePuppet(os.Getenv(controlVariable)))
	}
	heed(syscall.SIGHUP, syscall.SIGINT)
	code := m.Run()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir)
	}
	os.Exit(code)
}

// heed lets the programs that tests start be ended by signals that whoever started the
// tests ignores, as nohup does, and a shell for what it runs in the background. What is
// ignored is so for children too; what is taken notice of is not.
func heed(signals ...os.Signal) {
	for _, which := range signals {
		if signal.Ignored(which) {
			signal.Notify(make(chan os.Signal, 1), which)
		}
	}
}

// buildDir is where the program was built, so that it can be removed.
var buildDir string

// program is the path of the program under test, built once for all tests and
// only when one asks for it.
var program = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("DEED_BIN"); given != "" {
		return filepath.Abs(given)
	}
	dir, err := os.MkdirTemp("", "deed-bin")
	if err != nil {
		return "", fmt.Errorf("make a folder to build in: %w", err)
	}
	buildDir = dir
	path := filepath.Join(dir, "deed")
	build := exec.Command("go", "build", "-o", path, "./cmd/deed")
	build.Dir = filepath.Join("..", "..")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build ./cmd/deed: %w\n%s", err, out)
	}
	return path, nil
})

// deedPath is the program under test; the test ends when it cannot be built.
func deedPath(t tb) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatalf("no program to test: %v", err)
	}
	return path
}

// answered is what one finished command left.
type answered struct {
	stdout, stderr string
	code           int
}

// deed runs a command of the program on a home and waits for it.
func deed(t tb, home string, args ...string) answered {
	t.Helper()
	return deedWith(t, []string{"DEED_HOME=" + home}, args...)
}

// deedWith runs a command of the program with these variables changed.
func deedWith(t tb, env []string, args ...string) answered {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, deedPath(t), args...)
	cmd.Env = append(os.Environ(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if ctx.Err() != nil {
		t.Fatalf("deed %v did not end within five minutes", args)
	}
	if cmd.ProcessState == nil {
		t.Fatalf("start deed %v: %v", args, err)
	}
	return answered{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}
}

// mustVerify fails the test unless the journal is intact.
func mustVerify(t tb, home string) {
	t.Helper()
	if got := deed(t, home, "verify"); got.code != 0 {
		t.Fatalf("deed verify: exit code %d, want 0\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// number reads a dose from the environment.
func number(t tb, variable string, otherwise int) int {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		t.Fatalf("%s is %q, want a number above zero", variable, text)
	}
	return n
}
