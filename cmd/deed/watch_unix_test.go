//go:build !windows

package main

import (
	"bufio"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// A watch has no other end than this, so that scripts must be able to tell it
// from a failure.
func TestCtrlCEndsAWatchWithItsOwnExitCode(t *testing.T) {
	t.Parallel()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	watch := exec.CommandContext(t.Context(), program, "watch", "--home", t.TempDir())
	watch.Args[0] = "deed" // under this name the test binary is the program
	said, err := watch.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(said).ReadString('\n')
	if err != nil || !strings.Contains(line, "waiting for the first session") {
		t.Fatalf("it said %q, %v", line, err)
	}
	if err := watch.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	_ = watch.Wait() // what it exits with is looked at next
	if got := watch.ProcessState.ExitCode(); got != exitInterrupted {
		t.Errorf("exit code %d", got)
	}
}
