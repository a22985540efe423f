package process

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// runs says whether a process exists and is not a zombie.
func runs(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	state, _, ok := parseStat(stat)
	return ok && state != 'Z' && state != 'X'
}

// waitUntil looks again and again until something is so, or fails the test.
func waitUntil(t *testing.T, what string, is func() bool) {
	t.Helper()
	const limit = 2 * time.Minute // the machine may be busy with others
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for deadline := time.Now().Add(limit); !is(); <-ticker.C {
		if time.Now().After(deadline) {
			t.Fatalf("after %v it is still not so: %s", limit, what)
		}
	}
}

// mustBeGone waits until processes are gone: on a busy machine one that was killed has
// to be given a processor before it can go.
func mustBeGone(t *testing.T, pids []int) {
	t.Helper()
	for _, pid := range pids {
		waitUntil(t, fmt.Sprintf("process %d of %v is gone", pid, pids), func() bool { return !runs(pid) })
	}
}

func TestASignalThatEndsAServerIsReportedAsAShellWould(t *testing.T) {
	t.Parallel()
	for _, sent := range []syscall.Signal{syscall.SIGKILL, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP} {
		t.Run(sent.String(), func(t *testing.T) {
			t.Parallel()
			if signal.Ignored(sent) {
				// As under nohup. Children inherit that, and would never end.
				t.Skipf("whoever started this test ignores %v, so nothing that it starts can end by it", sent)
			}
			p := self(t, "deaf")
			readLine(t, bufio.NewReader(p.Stdout))
			if err := p.Signal(sent); err != nil {
				t.Fatal(err)
			}
			if exit := p.Exit(); exit.Code != 128+int(sent) || exit.Signal != sent {
				t.Errorf("got %+v", exit)
			}
		})
	}
}

func TestEndKillsAServerThatIgnoresTermToo(t *testing.T) {
	t.Parallel()
	p := self(t, "stubborn")
	readLine(t, bufio.NewReader(p.Stdout))
	exit := p.End(Patience{Input: 10 * time.Millisecond, Term: 50 * time.Millisecond})
	if exit.Signal != syscall.SIGKILL || exit.Code != 137 || p.TreeAlive() {
		t.Errorf("got %+v, tree alive: %v", exit, p.TreeAlive())
	}
}

func TestEndEndsAStoppedServerByTerm(t *testing.T) {
	t.Parallel()
	p := self(t, "deaf")
	readLine(t, bufio.NewReader(p.Stdout))
	if err := p.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if exit := p.End(Patience{Input: 10 * time.Millisecond, Term: time.Minute}); exit.Signal != syscall.SIGTERM {
		t.Errorf("got %+v", exit)
	}
}

// tree is a shell that starts a shell that starts a program; each writes its
// process id. %s is how the innermost goes on.
const treeScript = `trap '' TERM; echo $$; sh -c 'echo $$; sleep 300 & echo $!; wait' & %s`

func readPIDs(t *testing.T, out *bufio.Reader, n int) []int {
	t.Helper()
	var pids []int
	for range n {
		pid, err := strconv.Atoi(readLine(t, out))
		if err != nil {
			t.Fatal(err)
		}
		pids = append(pids, pid)
	}
	return pids
}

func TestEndEndsTheWholeTree(t *testing.T) {
	t.Parallel()
	p := start(t, Command{Name: "sh", Args: []string{"-c", fmt.Sprintf(treeScript, "wait")}})
	pids := readPIDs(t, bufio.NewReader(p.Stdout), 3)
	p.End(Patience{Input: 10 * time.Millisecond, Term: 50 * time.Millisecond})
	mustBeGone(t, pids)
	if p.TreeAlive() {
		t.Error("the tree is said to live")
	}
}

func TestWhatAServerLeavesBehindIsSeenAndEnded(t *testing.T) {
	t.Parallel()
	p := start(t, Command{Name: "sh", Args: []string{"-c", fmt.Sprintf(treeScript, "exit 7")}})
	pids := readPIDs(t, bufio.NewReader(p.Stdout), 3)
	if exit := p.Exit(); exit.Code != 7 {
		t.Errorf("got %+v", exit)
	}
	if !p.TreeAlive() {
		t.Error("the tree is said to be gone, but it holds the pipes")
	}
	// The pipe stays open, so a reader must not wait for its end.
	if err := p.Stdout.SetReadDeadline(time.Now().Add(10 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Stdout.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("read: %v", err)
	}
	// They are in nobody's input, so End does not wait for Input to pass.
	began := time.Now()
	if exit := p.End(Patience{Input: time.Hour, Term: 50 * time.Millisecond}); exit.Code != 7 {
		t.Errorf("End says %+v", exit)
	}
	if took := time.Since(began); took > time.Minute {
		t.Errorf("it took %v", took)
	}
	mustBeGone(t, pids)
}

func TestAFileThatIsThereButCannotRunIsNotExecutable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string, mode os.FileMode) string {
		file := filepath.Join(dir, name)
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
		return file
	}
	plain := write("plain", "#!/bin/sh\n", 0o644)
	for name, command := range map[string]Command{
		"no x bit":                     {Name: plain},
		"no x bit, by a relative path": {Name: "./plain", Dir: dir},
		"no x bit, found in PATH":      {Name: "plain", Env: []string{"PATH=/nowhere:" + dir}},
		"no program and no #!":         {Name: write("text", "echo hello\n", 0o755)},
		"an interpreter that is gone":  {Name: write("orphan", "#!/no/such/interpreter\n", 0o755)},
	} {
		_, err := Start(command)
		var notExecutable *NotExecutableError
		if !errors.As(err, &notExecutable) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := Start(Command{Name: plain + "/below"}); err == nil || !strings.Contains(err.Error(), "not found") {
		t.Errorf("below a file: %v", err)
	}
}

func TestAProgramIsFoundInThePathThatItWillHave(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Symlink(os.Args[0], filepath.Join(dir, "deed-test-program")); err != nil {
		t.Fatal(err)
	}
	p := start(t, Command{
		Name: "deed-test-program", Args: []string{"7"},
		Env: []string{"PATH=/nowhere:" + dir, roleVariable + "=exit"},
	})
	if exit := p.Exit(); exit.Code != 7 {
		t.Errorf("got %+v", exit)
	}
	_, err := Start(Command{Name: "sh", Env: []string{"PATH=" + dir}})
	var notFound *NotFoundError
	if !errors.As(err, &notFound) || notFound.Path != dir {
		t.Errorf("got %v", err)
	}
}

func TestAKilledParentLeavesNoTree(t *testing.T) {
	t.Parallel()
	for name, command := range map[string][]string{
		"of a server that ignores its input": {"deaf", os.Args[0]},
		"of a server that ignores TERM too":  {"stubborn", os.Args[0]},
		"of shells that ignore TERM":         {"", "sh", "-c", fmt.Sprintf(treeScript, "wait")},
		"of a server that has already died":  {"", "sh", "-c", fmt.Sprintf(treeScript, "exit 7")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := exec.Command(os.Args[0], command...)
			parent.Env = append(os.Environ(), roleVariable+"=parent")
			stdout, err := parent.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := parent.Start(); err != nil {
				t.Fatal(err)
			}
			out := bufio.NewReader(stdout)
			pids := readPIDs(t, out, 1)
			if command[0] == "" {
				pids = append(pids, readPIDs(t, out, 3)...)
			} else {
				readLine(t, out)
			}
			// The guard starts behind the server; without it only TERM is sent.
			waitUntil(t, "the guard runs", func() bool { return guardOf(pids[0]) != 0 })
			guard := guardOf(pids[0])
			if err := parent.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = parent.Wait() // it was killed; that is all it can say
			for _, pid := range append(pids, guard) {
				waitUntil(t, fmt.Sprintf("process %d of %v and guard %d is gone", pid, pids, guard), func() bool { return !runs(pid) })
			}
		})
	}
}

// guardOf finds the guard of a group by its command line.
func guardOf(group int) int {
	files, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range files {
		line, err := os.ReadFile(file)
		if err == nil && strings.HasSuffix(string(line), "\x00deed-guard\x00"+strconv.Itoa(group)+"\x00") {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(file)))
			return pid
		}
	}
	return 0
}

func TestTheGuardHoldsNoneOfTheServersPipes(t *testing.T) {
	t.Parallel()
	p := self(t, "echo")
	p.tree.guard.ready.Wait()
	pipes := map[string]bool{}
	for _, file := range []*os.File{p.Stdin, p.Stdout, p.Stderr} {
		pipes[linkOf(t, file)] = true
	}
	_ = p.Stdin.Close()
	// Were an end of it open elsewhere, this would wait for ever.
	if err := p.Stdout.SetReadDeadline(time.Now().Add(2 * time.Minute)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(p.Stdout); err != nil {
		t.Error(err)
	}
	guard := p.tree.guard.process.Pid
	files, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", guard))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		target, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%s", guard, file.Name()))
		if pipes[target] {
			t.Errorf("the guard has the server's %s open as %s", target, file.Name())
		}
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if runs(guard) {
		t.Error("the guard outlives its farewell")
	}
}

// linkOf names the pipe behind a file; both ends of it have the same name.
func linkOf(t *testing.T, file *os.File) string {
	t.Helper()
	conn, err := file.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	link := ""
	if err := conn.Control(func(fd uintptr) { link, err = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)) }); err != nil {
		t.Fatal(err)
	}
	if err != nil || !strings.HasPrefix(link, "pipe:") {
		t.Fatalf("%s is %q: %v", file.Name(), link, err)
	}
	return link
}

func TestManyStartsLeakNothing(t *testing.T) { // not parallel: it counts what the process has open
	count := func() (files, goroutines int) {
		entries, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Fatal(err)
		}
		return len(entries), runtime.NumGoroutine()
	}
	one := func() (server, guard int) {
		p, err := Start(Command{Name: os.Args[0], Args: []string{"7"}, Env: []string{roleVariable + "=exit"}})
		if err != nil {
			t.Fatal(err)
		}
		if exit := p.Exit(); exit.Code != 7 {
			t.Fatalf("got %+v", exit)
		}
		if err := p.Close(); err != nil {
			t.Fatal(err)
		}
		return p.PID(), p.tree.guard.process.Pid
	}
	one() // what the runtime opens once is open from here on
	files, goroutines := count()
	var pids []int
	for range 200 {
		server, guard := one()
		pids = append(pids, server, guard)
	}
	for range 20 { // failed starts as well
		if _, err := Start(Command{Name: "/dev/null"}); err == nil {
			t.Fatal("a device was started")
		}
	}
	waitUntil(t, fmt.Sprintf("%d files and %d goroutines, as before", files, goroutines), func() bool {
		nowFiles, nowGoroutines := count()
		return nowFiles <= files && nowGoroutines <= goroutines
	})
	mustBeGone(t, pids)
}

func TestAProcessNameCannotForgeItsGroup(t *testing.T) {
	t.Parallel()
	for stat, want := range map[string]struct {
		state byte
		group int
		ok    bool
	}{
		"12 (sh) S 1 12 12 0":             {'S', 12, true},
		"12 (a) Z 1 99 (b) R 1 34 34 0":   {'R', 34, true},
		"12 (two words) Z 1 7 7":          {'Z', 7, true},
		"12 (cut":                         {0, 0, false},
		"12 (cut) S 1":                    {0, 0, false},
		"12 (no number) S 1 twelve 12 12": {'S', 0, false},
	} {
		state, group, ok := parseStat([]byte(stat))
		if ok != want.ok || ok && (state != want.state || group != want.group) {
			t.Errorf("%q: got %c %d %v", stat, state, group, ok)
		}
	}
}

func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		p, err := Start(Command{Name: "/bin/true"})
		if err != nil {
			b.Fatal(err)
		}
		p.Exit()
		b.StopTimer()
		if err := p.Close(); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
