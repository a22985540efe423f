package npmtest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// without is the environment variable that leaves these tests out, loudly.
const without = "DEED_TEST_WITHOUT_NPM"

// What TestMain prepares for all tests.
var (
	folder string // this folder, where node_modules is
	deed   string // the program under test
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "alter":
			os.Exit(alter(os.Args[2:]))
		case "tee":
			os.Exit(tee(os.Args[2:]))
		case "go-server":
			os.Exit(goServer())
		}
	}
	os.Exit(prepare(m))
}

func prepare(m *testing.M) int {
	if os.Getenv(without) == "1" {
		fmt.Fprintf(os.Stderr, "\nNOT TESTED, because %s=1: %d public MCP servers through deed run with the TypeScript client, and %d clients and servers of all eras\n\n", without, len(servers()), len(encounters()))
		return m.Run()
	}
	var err error
	if folder, err = os.Getwd(); err != nil {
		return fail(err)
	}
	if err := checkParts(); err != nil {
		return fail(fmt.Errorf("%w\n\nrun (cd test/npm && npm ci), or set %s=1 to leave these tests out", err, without))
	}
	built, err := os.MkdirTemp("", "deed-npm-")
	if err != nil {
		return fail(err)
	}
	defer os.RemoveAll(built)
	if deed, err = buildDeed(built); err != nil {
		return fail(err)
	}
	return m.Run()
}

func fail(err error) int {
	fmt.Fprintln(os.Stderr, "npm tests:", err)
	return 1
}

// checkParts says what is missing of Node.js and the packages.
func checkParts() error {
	for _, program := range []string{"node", "npx"} {
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("node.js 20 or newer is needed: %w", err)
		}
	}
	names := slices.Clone(sdks)
	for _, s := range servers() {
		names = append(names, s.name)
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(folder, "node_modules", name, "package.json")); err != nil {
			return fmt.Errorf("npm package %s is not installed: %w", name, err)
		}
	}
	return nil
}

// buildDeed builds the program, unless DEED_BIN names one.
func buildDeed(into string) (string, error) {
	if given := os.Getenv("DEED_BIN"); given != "" {
		return filepath.Abs(given)
	}
	program := filepath.Join(into, "deed")
	build := exec.Command("go", "build", "-o", program, "github.com/deed-dev/deed/cmd/deed")
	if said, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build deed: %w\n%s", err, said)
	}
	return program, nil
}

// alter is a relay that does to the server's answers what the first argument
// says. The comparison has to notice every one of them.
func alter(args []string) int {
	how, command := args[0], args[1:]
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Stdin, cmd.Stderr = os.Stdin, os.Stderr
	answers, err := cmd.StdoutPipe()
	if err != nil {
		return 1
	}
	if err := cmd.Start(); err != nil {
		return 1
	}
	if err := relay(how, answers); err != nil {
		return 1
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case how == "lose the exit code":
		return 9
	case errors.As(err, &exit):
		return exit.ExitCode()
	}
	return 0
}

// relay copies line by line, so that it knows where it may do its worst.
func relay(how string, answers io.Reader) error {
	var held []byte
	chunk := make([]byte, 1<<16)
	for {
		n, err := answers.Read(chunk)
		held = append(held, chunk[:n]...)
		for {
			line, after, found := bytes.Cut(held, []byte("\n"))
			if !found {
				break
			}
			held = bytes.Clone(after)
			if _, err := os.Stdout.Write(altered(how, append(bytes.Clone(line), '\n'))); err != nil {
				return err
			}
		}
		if err != nil { // the server has closed its side
			return nil
		}
	}
}

func altered(how string, line []byte) []byte {
	switch how {
	case "add a space":
		return bytes.Replace(line, []byte(`"jsonrpc":`), []byte(`"jsonrpc": `), 1)
	case "write CRLF":
		return append(bytes.TrimSuffix(line, []byte("\n")), "\r\n"...)
	case "escape a letter":
		return bytes.Replace(line, []byte("Hello"), []byte(`H\u0065llo`), 1)
	case "add a line":
		return append(line, "\n"...)
	case "change a text":
		return bytes.Replace(line, []byte("Hello World"), []byte("Hello world"), 1)
	case "drop an answer's member":
		return bytes.Replace(line, []byte(`"isError":true`), []byte(`"isError":false`), 1)
	}
	return line
}
