//go:build unix

package wiretest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestWhatCannotBeRunIsToldInOneLineAndAHint(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plain := filepath.Join(dir, "plain-file")
	if err := os.WriteFile(plain, []byte("#!/bin/sh\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	garbled := filepath.Join(dir, "garbled")
	if err := os.WriteFile(garbled, []byte("\x00\x01\x02 no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	lost := filepath.Join(dir, "lost-interpreter")
	if err := os.WriteFile(lost, []byte("#!/no/such/interpreter\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		args []string
		code int
		says []string
		not  string // advice that would be wrong
	}{
		{"no command", []string{"run"}, 2, []string{"command"}, ""},
		{"no command after two dashes", []string{"run", "--"}, 2, []string{"command"}, ""},
		{"an unknown flag", []string{"run", "--nonsense", "--", "true"}, 2, []string{"--nonsense"}, ""},
		{"a flag without its value", []string{"run", "--linger", "--", "true"}, 2, []string{"linger"}, ""},
		{"a time that is none", []string{"run", "--linger", "soon", "--", "true"}, 2, []string{"linger"}, ""},
		{"a negative time", []string{"run", "--linger=-1s", "--", "true"}, 2, []string{"linger"}, ""},
		{"a command that is not in PATH", []string{"run", "--", "no-such-server"}, 127, []string{"no-such-server", "/first/folder:/second/folder"}, ""},
		{"a path where nothing is", []string{"run", "--", filepath.Join(dir, "nothing")}, 127, []string{filepath.Join(dir, "nothing")}, ""},
		{"an empty command", []string{"run", "--", ""}, 127, nil, ""},
		{"a file that is not executable", []string{"run", "--", plain}, 126, []string{plain}, ""},
		{"a folder", []string{"run", "--", dir}, 126, []string{dir}, "chmod"},
		{"a file that is no program", []string{"run", "--", garbled}, 126, []string{garbled}, "chmod"},
		{"a script whose interpreter is missing", []string{"run", "--", lost}, 126, []string{lost}, "chmod"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			got := deedIn(t, "/first/folder:/second/folder", newHome(t), c.args...)
			if got.code != c.code {
				t.Errorf("exit code %d, want %d", got.code, c.code)
			}
			if got.stdout != "" {
				t.Errorf("stdout belongs to the server, and got %q", got.stdout)
			}
			lines := strings.Split(strings.TrimSuffix(got.stderr, "\n"), "\n")
			if !strings.HasPrefix(lines[0], "deed: ") {
				t.Fatalf("stderr does not begin with deed: %q", got.stderr)
			}
			t.Logf("it says:\n%s", got.stderr)
			for i, line := range lines {
				mustReadWell(t, line)
				if i > 0 && !strings.HasPrefix(line, "  ") {
					t.Errorf("what follows the first line is no hint: %q", line)
				}
			}
			for _, want := range c.says {
				if n := strings.Count(got.stderr, want); n != 1 && want != "command" && want != "linger" {
					t.Errorf("%q is named %d times, want once: %q", want, n, got.stderr)
				} else if n == 0 {
					t.Errorf("%q is not named: %q", want, got.stderr)
				}
			}
			if c.not != "" && strings.Contains(got.stderr, c.not) {
				t.Errorf("the advice %q is wrong here: %q", c.not, got.stderr)
			}
		})
	}
}

// deedIn runs a command with this PATH.
func deedIn(t tb, path, home string, args ...string) answered {
	t.Helper()
	return deedWith(t, []string{"PATH=" + path, "DEED_HOME=" + home}, args...)
}

func TestTheHomeFlagWinsOverTheEnvironment(t *testing.T) {
	t.Parallel()
	flagged, unused := newHome(t), newHome(t)
	s := open(t, throughDeed(unused, "--home", flagged), setup{})
	s.client.write(callTo("a", "1"))
	s.server.mustRead(callTo("a", "1"))
	s.server.exit(0)
	s.client.mustExit(0, patience)
	if _, err := os.Stat(unused); err == nil {
		t.Errorf("something was made in the home of the environment too")
	}
	if got := len(callsIn(t, flagged)); got != 1 {
		t.Errorf("%d calls are recorded in the home of the flag, want 1", got)
	}
	info, err := os.Stat(flagged)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != 0o700 {
		t.Errorf("the home has mode %o, want 700", got)
	}
	files, err := os.ReadDir(flagged)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		info, err := file.Info()
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got&0o077 != 0 {
			t.Errorf("%s has mode %o, which others can read", file.Name(), got)
		}
	}
}
