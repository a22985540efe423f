package process

import (
	"bufio"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func TestAServerReadsWritesAndEndsWithItsInput(t *testing.T) {
	t.Parallel()
	p := self(t, "echo")
	if _, err := io.WriteString(p.Stdin, "one\x00\xff\r\ntwo"); err != nil {
		t.Fatal(err)
	}
	if err := p.Stdin.Close(); err != nil {
		t.Fatal(err)
	}
	exit := p.Exit() // its output is still there to read after it was reaped
	out, err := io.ReadAll(p.Stdout)
	if err != nil || string(out) != "one\x00\xff\r\ntwo" {
		t.Errorf("stdout: %q, %v", out, err)
	}
	said, err := io.ReadAll(p.Stderr)
	if err != nil || string(said) != "bye" {
		t.Errorf("stderr: %q, %v", said, err)
	}
	if exit.Code != 0 || exit.Signal != nil {
		t.Errorf("exit: %+v", exit)
	}
	if err := p.Signal(os.Kill); !errors.Is(err, os.ErrProcessDone) {
		t.Errorf("a signal to an ended tree: %v", err)
	}
}

func TestAServersExitCodeIsReported(t *testing.T) {
	t.Parallel()
	for _, code := range []int{0, 1, 7, 126, 127, 255} {
		t.Run(strconv.Itoa(code), func(t *testing.T) {
			t.Parallel()
			if exit := self(t, "exit", strconv.Itoa(code)).Exit(); exit.Code != code || exit.Signal != nil {
				t.Errorf("got %+v", exit)
			}
		})
	}
}

func TestArgumentsPassAsTheyAre(t *testing.T) {
	t.Parallel()
	args := []string{"", "a b", `"quoted"`, "$HOME", "`id`", "*", "a\\", "%PATH%", "-x", "--", "héé\u2028", "; exit 3"}
	p := self(t, "arguments", args...)
	out, err := io.ReadAll(p.Stdout)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(strings.ReplaceAll(string(out), "\r", "")), "\n")
	if len(lines) != len(args) {
		t.Fatalf("%d arguments arrived, want %d: %q", len(lines), len(args), lines)
	}
	for i, arg := range args {
		if lines[i] != strconv.Quote(arg) {
			t.Errorf("argument %d arrived as %s, want %q", i, lines[i], arg)
		}
	}
}

func TestEnvironmentAndFolderPassThrough(t *testing.T) {
	t.Parallel()
	dir, err := os.MkdirTemp("", "deed process *")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := start(t, Command{
		Name: os.Args[0], Dir: dir,
		Env: append(os.Environ(), roleVariable+"=surroundings", "DEED_PROCESS_TEST_WORD=word = with blanks"),
	})
	out := bufio.NewReader(p.Stdout)
	got, want := readLine(t, out), dir
	gotInfo, err1 := os.Stat(strings.TrimSpace(got))
	wantInfo, err2 := os.Stat(want)
	if err := errors.Join(err1, err2); err != nil || !os.SameFile(gotInfo, wantInfo) {
		t.Errorf("the server runs in %q, want %q (%v)", got, want, err)
	}
	if word := strings.TrimSpace(readLine(t, out)); word != "word = with blanks" {
		t.Errorf("the server's environment has %q", word)
	}
	<-p.Done() // the folder must not be in use when it is removed
}

func TestAProgramThatDoesNotExistIsNotFound(t *testing.T) {
	t.Parallel()
	_, err := Start(Command{Name: "deed-no-such-program"})
	var notFound *NotFoundError
	if !errors.As(err, &notFound) || notFound.Path != os.Getenv("PATH") || !strings.Contains(err.Error(), os.Getenv("PATH")) {
		t.Errorf("in PATH: %v", err)
	}
	_, err = Start(Command{Name: "./deed-no-such-program"})
	if !errors.As(err, &notFound) || notFound.Path != "" {
		t.Errorf("by its path: %v", err)
	}
	_, err = Start(Command{})
	if !errors.As(err, &notFound) {
		t.Errorf("without a name: %v", err)
	}
}

func TestAFolderIsNotExecutable(t *testing.T) {
	t.Parallel()
	_, err := Start(Command{Name: t.TempDir()})
	var notExecutable *NotExecutableError
	if !errors.As(err, &notExecutable) {
		t.Errorf("got %v", err)
	}
}

func TestAMissingWorkingFolderIsSaidToBeMissing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir() + "/gone"
	_, err := Start(Command{Name: os.Args[0], Dir: dir})
	var notFound *NotFoundError
	if err == nil || errors.As(err, &notFound) || !strings.Contains(err.Error(), "folder "+dir) {
		t.Errorf("got %v", err)
	}
}

func TestEndKillsAServerThatIgnoresTheEndOfItsInput(t *testing.T) {
	t.Parallel()
	p := self(t, "deaf")
	readLine(t, bufio.NewReader(p.Stdout))
	began := time.Now()
	p.End(Patience{Input: 10 * time.Millisecond, Term: 2 * time.Minute})
	if p.TreeAlive() {
		t.Error("it lives on")
	}
	if took := time.Since(began); took > time.Minute && !isWindows {
		t.Errorf("it took %v: the server was not asked to end, but waited for", took)
	}
}

func TestCloseLeavesNothingBehindWithoutEnd(t *testing.T) {
	t.Parallel()
	p := self(t, "stubborn")
	readLine(t, bufio.NewReader(p.Stdout))
	if !p.TreeAlive() {
		t.Error("a running server has no tree")
	}
	for range 2 {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
	if p.TreeAlive() {
		t.Error("it lives on")
	}
	if _, err := p.Stdout.Read(make([]byte, 1)); !errors.Is(err, os.ErrClosed) {
		t.Errorf("its output is still open: %v", err)
	}
}

const isWindows = os.PathSeparator == '\\'
