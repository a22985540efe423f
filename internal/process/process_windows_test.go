package process

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/windows"
)

func TestABatchFileGetsItsArgumentsAsTheyAre(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"without percent signs": {"plain", "", "a b", `say "hi"`, "a^b", "a&b|c<d>e", "(a)", "!PATH!", `C:\dir\`, "héllo", `"&exit`},
		"with percent signs":    {"%PATH%", "100%", "%", "%%", "%cd%", "a%PATH%&b"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			checkBatchArguments(t, args)
		})
	}
}

func checkBatchArguments(t *testing.T, args []string) {
	t.Helper()
	dir, err := os.MkdirTemp("", "deed batch & more *")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	file := filepath.Join(dir, "server.cmd")
	if err := os.WriteFile(file, []byte("@\""+os.Args[0]+"\" %*\r\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := start(t, Command{Name: file, Args: args, Env: append(os.Environ(), roleVariable+"=arguments")})
	out, err := io.ReadAll(p.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Fields(strings.ReplaceAll(string(out), " ", "_"))
	if len(lines) != len(args) {
		t.Fatalf("%d arguments arrived, want %d: %q", len(lines), len(args), lines)
	}
	for i, arg := range args {
		if want := strings.ReplaceAll(strconv.Quote(arg), " ", "_"); lines[i] != want {
			t.Errorf("argument %d arrived as %s, want %s", i, lines[i], want)
		}
	}
}

func TestAKilledParentLeavesNoServer(t *testing.T) {
	t.Parallel()
	parent := exec.Command(os.Args[0], "stubborn", os.Args[0])
	parent.Env = append(os.Environ(), roleVariable+"=parent")
	stdout, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	pid, err := strconv.Atoi(strings.TrimSpace(readLine(t, out)))
	if err != nil {
		t.Fatal(err)
	}
	readLine(t, out) // the server runs
	server, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = windows.CloseHandle(server) }()
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait() // it was killed; that is all it can say
	event, err := windows.WaitForSingleObject(server, uint32((5 * time.Second).Milliseconds()))
	if err != nil || event != windows.WAIT_OBJECT_0 {
		t.Errorf("the server lives on: %d, %v", event, err)
	}
}
