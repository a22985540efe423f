package process

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// roleVariable makes the test binary a server instead of a test.
const roleVariable = "DEED_PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	role := os.Getenv(roleVariable)
	switch role {
	case "":
		os.Exit(m.Run())
	case "exit": // ends with the code in its argument
		code, _ := strconv.Atoi(os.Args[1])
		os.Exit(code)
	case "arguments": // says each argument on a line, quoted
		for _, arg := range os.Args[1:] {
			fmt.Println(strconv.Quote(arg))
		}
	case "surroundings":
		dir, _ := os.Getwd()
		fmt.Printf("%s\n%s\n", dir, os.Getenv("DEED_PROCESS_TEST_WORD"))
	case "echo": // answers until its input ends
		_, _ = io.Copy(os.Stdout, os.Stdin)
		fmt.Fprint(os.Stderr, "bye")
	case "deaf": // ignores the end of its input
		fmt.Println("ready")
		hang()
	case "stubborn": // ignores TERM as well
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		fmt.Println("ready")
		hang()
	case "parent": // starts a stubborn server by way of this package, and is then killed
		parent()
	default:
		fmt.Fprintln(os.Stderr, "unknown role", role)
		os.Exit(2)
	}
}

// hang is a server that never ends by itself. It has an end all the same, lest
// a failed test leave it behind for good.
func hang() { time.Sleep(5 * time.Minute) }

func parent() {
	_ = os.Setenv(roleVariable, os.Args[1])
	p, err := Start(Command{Name: os.Args[2], Args: os.Args[3:]})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(p.PID())
	_, _ = io.Copy(os.Stdout, p.Stdout)
	hang()
}

// self starts this binary in a role.
func self(t *testing.T, role string, args ...string) *Process {
	t.Helper()
	return start(t, Command{Name: os.Args[0], Args: args, Env: append(os.Environ(), roleVariable+"="+role)})
}

func start(t *testing.T, command Command) *Process {
	t.Helper()
	p, err := Start(command)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// readLine waits for a line, so that a test knows how far a server has got.
func readLine(t *testing.T, from *bufio.Reader) string {
	t.Helper()
	line, err := from.ReadString('\n')
	if err != nil {
		t.Fatalf("read a line of the server: %v", err)
	}
	return line[:len(line)-1]
}
