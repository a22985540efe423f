package npmtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// tapped is both directions of a wire, as a tee saw them.
type tapped struct{ in, out []byte }

// tee is a relay that keeps what passes: what the client sent in PREFIX-N.in,
// and what the server did in PREFIX-N.out. N is its process: there are clients
// that start their server once to see what it is, and then again.
func tee(args []string) int {
	prefix, command := fmt.Sprintf("%s-%d", args[0], os.Getpid()), args[1:]
	in, err := os.Create(prefix + ".in")
	if err != nil {
		return 1
	}
	out, err := os.Create(prefix + ".out")
	if err != nil {
		return 1
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stderr = os.Stderr
	cmd.Stdout = io.MultiWriter(out, os.Stdout)
	far, err := cmd.StdinPipe()
	if err != nil {
		return 1
	}
	if err := cmd.Start(); err != nil {
		return 1
	}
	go func() {
		_, _ = io.Copy(io.MultiWriter(in, far), os.Stdin) // until one side has gone
		_ = far.Close()
	}()
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	return 0
}

// readTapped returns the one wire on which tools were called.
func readTapped(t *testing.T, prefix string) (wire tapped) {
	t.Helper()
	files, err := filepath.Glob(prefix + "-*.in")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		in, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(in, []byte("tools/call")) {
			continue
		}
		if wire.in != nil {
			t.Fatalf("tools were called on two wires: %q", files)
		}
		out, err := os.ReadFile(strings.TrimSuffix(file, "in") + "out")
		if err != nil {
			t.Fatal(err)
		}
		wire = tapped{in, out}
	}
	return wire
}
