//go:build unix

package servertest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
)

// TestMain makes a server of the test binary where it is started as one.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "serve" {
		if err := serveMortal(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	code := m.Run()
	if buildDir != "" {
		_ = os.RemoveAll(buildDir)
	}
	os.Exit(code)
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

// killPoints is how often a torture kills.
func killPoints(t *testing.T) int {
	t.Helper()
	given := os.Getenv("DEED_KILL_POINTS")
	if given == "" {
		return 20
	}
	n, err := strconv.Atoi(given)
	if err != nil || n < 1 {
		t.Fatalf("DEED_KILL_POINTS is %q", given)
	}
	return n
}

// seed makes a torture repeatable, as far as the machine's timing allows.
func seed(t *testing.T) uint64 {
	t.Helper()
	given := os.Getenv("DEED_TEST_SEED")
	if given == "" {
		return 1
	}
	n, err := strconv.ParseUint(given, 10, 64)
	if err != nil {
		t.Fatalf("DEED_TEST_SEED is %q", given)
	}
	return n
}
