package demo

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestTheRealProgramRecordsTheWholeTour builds deed and runs deed demo, with
// nothing played by the test binary.
func TestTheRealProgramRecordsTheWholeTour(t *testing.T) {
	t.Parallel()
	program, err := deed()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "demo")
	home, temporary := t.TempDir(), t.TempDir()
	cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "TMPDIR="+temporary, "TMP="+temporary, "DEED_HOME="+filepath.Join(home, "own"))
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil {
		t.Fatalf("deed demo: %v\n%s", err, out.String())
	}
	play{out: out.String()}.shows(t,
		"charge_card        failed    card declined: insufficient funds",
		// The catalogue beside what was measured of other servers.
		"larger than all ", "not compared, it failed", "docs/baseline.md",
		// What deed last makes of it: both failures, and the enormous answer.
		"18 calls, 2 failed", "error -32050", "tool error", "export_catalog",
		// What deed verify makes of it.
		"intact", "What to do next",
	)
	// A demonstration leaves nothing behind and the user's own journal alone.
	for _, dir := range []string{home, temporary} {
		left, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		for _, entry := range left {
			t.Errorf("deed demo left %s", entry.Name())
		}
	}
}

func TestTheRealProgramFailsWhereNothingCanBeCalled(t *testing.T) {
	t.Parallel()
	program, err := deed()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for kind, said := range map[string]string{
		"that only writes": "deed: no tool was called",
		"that exits":       "deed: the server did not start",
	} {
		cmd := exec.Command(program, "demo", "--", self, "stranger", kind, filepath.Join(t.TempDir(), "calls"))
		out, err := cmd.CombinedOutput()
		if cmd.ProcessState.ExitCode() != 1 {
			t.Errorf("a server %s: %v, want exit code 1", kind, err)
		}
		if !strings.Contains(string(out), said) {
			t.Errorf("a server %s: want %q in\n%s", kind, said, out)
		}
	}
}
