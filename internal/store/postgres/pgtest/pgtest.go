// Package pgtest starts a PostgreSQL server for tests.
//
// # Life of a cluster
//
// The first test of a process that calls [Start] makes a data folder and a server
// that listens on a socket in it and nowhere else; later tests get the same one. A
// shell watches the process through a pipe: when the process ends, however it does,
// the pipe closes, and the shell stops the server and removes the folder. Each test
// works in a database of its own.
//
// Where PostgreSQL is not installed tests fail with CI=true, and are skipped loudly
// otherwise.
package pgtest

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Cluster is a running server.
type Cluster struct {
	folder string
	bin    string
	extra  []string
	made   atomic.Int64
}

// shared is the cluster of this process: tests of many packages' files use it, and
// it ends with the process.
var shared = sync.OnceValues(func() (*Cluster, error) {
	// Nothing that a test commits has to survive a loss of power.
	return start("fsync=off", "full_page_writes=off")
})

// Start returns the process's cluster.
func Start(tb testing.TB) *Cluster {
	tb.Helper()
	c, err := shared()
	return need(tb, c, err)
}

// StartOwn starts a cluster for one test, which may stop it and start it again, with
// settings such as "fsync=on".
func StartOwn(tb testing.TB, settings ...string) *Cluster {
	tb.Helper()
	c, err := start(settings...)
	need(tb, c, err)
	tb.Cleanup(func() { _ = c.Stop() })
	return c
}

// Run starts a cluster for a program that is no test. It ends with the process.
func Run(settings ...string) (*Cluster, error) { return start(settings...) }

func need(tb testing.TB, c *Cluster, err error) *Cluster {
	tb.Helper()
	if err == nil {
		return c
	}
	if missing, is := err.(*missingError); is && os.Getenv("CI") != "true" {
		fmt.Fprintf(os.Stderr, "pgtest: %s: PostgreSQL is NOT tested in this run\n", missing.Error())
		tb.Skip(missing.Error())
	}
	tb.Fatal(err)
	return nil
}

// missingError says that there is no PostgreSQL to be tested with.
type missingError struct{ what string }

func (e *missingError) Error() string {
	return e.what + " (install the package postgresql, or put its bin folder into PATH)"
}

// programs finds the folder of PostgreSQL's programs: of PATH, or the newest of a
// Debian system, which does not put them there.
func programs() (string, error) {
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	found, _ := filepath.Glob("/usr/lib/postgresql/*/bin/initdb")
	if len(found) == 0 {
		return "", &missingError{"PostgreSQL is not installed"}
	}
	slices.SortFunc(found, func(a, b string) int { return len(a) - len(b) + strings.Compare(a, b) })
	return filepath.Dir(found[len(found)-1]), nil
}

// start makes a folder and a server in it.
func start(extra ...string) (*Cluster, error) {
	if runtime.GOOS == "windows" {
		return nil, &missingError{"the tests' PostgreSQL listens on a Unix socket"}
	}
	bin, err := programs()
	if err != nil {
		return nil, err
	}
	// The path is short because that of a socket has at most some 100 bytes.
	folder, err := os.MkdirTemp("", "deedpg")
	if err != nil {
		return nil, err
	}
	c := &Cluster{folder: folder, bin: bin, extra: extra}
	if err := own(folder); err != nil {
		return nil, err
	}
	if err := c.watch(); err != nil {
		return nil, err
	}
	if err := c.run("initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"); err != nil {
		return nil, err
	}
	return c, c.Start()
}

func (c *Cluster) data() string { return filepath.Join(c.folder, "data") }

// watch stops the server and removes the folder when this process ends.
func (c *Cluster) watch() error {
	// The write end is closed by the system, whatever ends the process; it is not
	// passed on to children.
	read, write, err := os.Pipe()
	if err != nil {
		return err
	}
	script := `cat >/dev/null; "$1/pg_ctl" -D "$2/data" -m immediate -w stop >/dev/null 2>&1; rm -rf "$2"`
	shell := exec.Command("/bin/sh", "-c", script, "sh", c.bin, c.folder)
	shell.Stdin = read
	shell.Dir = c.folder
	apart(shell)
	err = shell.Start()
	_ = read.Close()
	if err != nil {
		return err
	}
	go func() {
		_ = shell.Wait() // never before this process ends, which closes the pipe
		runtime.KeepAlive(write)
	}()
	return nil
}

// run runs one of PostgreSQL's programs, as a user that it accepts.
func (c *Cluster) run(program string, args ...string) error {
	command := exec.Command(filepath.Join(c.bin, program), args...)
	command.Dir = c.folder
	apart(command)
	// A server that goes on running must not hold a pipe of this process.
	log, err := os.OpenFile(filepath.Join(c.folder, program+".log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	command.Stdout, command.Stderr = log, log
	if err := command.Run(); err != nil {
		said, _ := os.ReadFile(log.Name())
		return fmt.Errorf("run %s: %w: %s", program, err, said)
	}
	return nil
}

// waitSeconds is how long a server may take to start or stop before a test gives up:
// after a crash it writes all that it has to its disk, which others may be busy with.
const waitSeconds = "600"

// Start starts the server after a [Cluster.Stop].
func (c *Cluster) Start() error {
	options := "-c listen_addresses='' -c unix_socket_directories=" + c.folder +
		" -c max_connections=200 -c shared_buffers=256MB -c max_wal_size=4GB -c log_min_messages=fatal"
	for _, setting := range c.extra {
		options += " -c " + setting
	}
	return c.run("pg_ctl", "-D", c.data(), "-w", "-t", waitSeconds, "-o", options, "-l", filepath.Join(c.folder, "server.log"), "start")
}

// Stop ends the server at once, as a crash would.
func (c *Cluster) Stop() error {
	return c.run("pg_ctl", "-D", c.data(), "-w", "-t", waitSeconds, "-m", "immediate", "stop")
}

// URL is where a database of the cluster is, for a user.
func (c *Cluster) URL(database, user string) string {
	return "postgres:///" + database + "?" + url.Values{"host": {c.folder}, "user": {user}}.Encode()
}

// Database makes an empty database for a test, owned by the superuser, and returns
// its URL. It is removed after the test.
func (c *Cluster) Database(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("t%d", c.made.Add(1))
	c.Exec(tb, "CREATE DATABASE "+name+" TEMPLATE template0 STRATEGY file_copy")
	tb.Cleanup(func() {
		conn, err := pgx.Connect(context.Background(), c.URL("postgres", "postgres"))
		if err != nil {
			return // the cluster is stopped
		}
		defer conn.Close(context.Background())
		_, _ = conn.Exec(context.Background(), "DROP DATABASE "+name+" WITH (FORCE)")
	})
	return c.URL(name, "postgres")
}

// Exec runs statements as the superuser.
func (c *Cluster) Exec(tb testing.TB, statements ...string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, c.URL("postgres", "postgres"))
	if err != nil {
		tb.Fatal(err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	for _, statement := range statements {
		if _, err := conn.Exec(ctx, statement); err != nil {
			tb.Fatalf("%s: %v", statement, err)
		}
	}
}
