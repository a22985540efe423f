//go:build unix

package wiretest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"net/rpc"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"
)

// tb is what the harness needs of a test. Its own tests put a probe in.
type tb interface {
	Helper()
	Fatalf(format string, args ...any)
	Logf(format string, args ...any)
	Cleanup(func())
}

var _ tb = (*testing.T)(nil)

// route is a way from the client to the server.
type route struct {
	name string
	// wrap turns the command that starts the server into the one that the
	// client starts, with what it adds to the environment.
	wrap func(t tb, server []string) (argv, env []string)
}

// direct has nothing between the two.
func direct() route {
	return route{"direct", func(_ tb, server []string) ([]string, []string) { return server, nil }}
}

// throughDeed puts the program between the two. The flags are those of `run`.
func throughDeed(home string, flags ...string) route {
	return route{"through deed", func(t tb, server []string) ([]string, []string) {
		argv := append([]string{deedPath(t), "run"}, flags...)
		return append(append(argv, "--"), server...), []string{"DEED_HOME=" + home}
	}}
}

// stage is one client, one way and one server.
type stage struct {
	t        tb
	client   *client
	server   *server
	listener *net.UnixListener
	patience time.Duration // how long anything may take before the test fails
}

// patience is how long one step may take; the machine may be busy with others.
const patience = 2 * time.Minute

// setup says how a stage differs from the usual one.
type setup struct {
	rawStderr bool // the test reads the client's stderr itself, or leaves it
	args      []string
	patience  time.Duration
}

// open starts a client's command over a route and waits for its server.
func open(t tb, r route, with setup) *stage {
	t.Helper()
	if with.patience == 0 {
		with.patience = patience
	}
	s := &stage{t: t, patience: with.patience}
	dir, err := os.MkdirTemp("", "wt") // short, since a socket's path has a limit
	if err != nil {
		t.Fatalf("make a folder for the stage: %v", err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	control := filepath.Join(dir, "control")
	s.listener, err = net.ListenUnix("unix", &net.UnixAddr{Name: control, Net: "unix"})
	if err != nil {
		t.Fatalf("listen for the server: %v", err)
	}
	t.Cleanup(func() { _ = s.listener.Close() })
	self, err := os.Executable()
	if err != nil {
		t.Fatalf("find the test binary: %v", err)
	}
	argv, env := r.wrap(t, append([]string{self}, with.args...))
	env = append(env, roleVariable+"=server", controlVariable+"="+control)
	s.client = startClient(t, argv, env, with)
	s.server = s.accept()
	return s
}

// accept waits for the next puppet that dials in.
func (s *stage) accept() *server {
	s.t.Helper()
	if err := s.listener.SetDeadline(time.Now().Add(s.patience)); err != nil {
		s.t.Fatalf("set a deadline: %v", err)
	}
	conn, err := s.listener.Accept()
	if err != nil {
		s.t.Fatalf("no server came within %v: %v\nstderr of the client's command: %q", s.patience, err, s.client.stderrSoFar())
	}
	watched := &watchedConn{Conn: conn, in: bufio.NewReader(conn), gone: make(chan struct{})}
	v := &server{t: s.t, conn: watched, patience: s.patience}
	s.t.Cleanup(func() { _ = conn.Close() })
	line, err := watched.in.ReadBytes('\n')
	if err != nil {
		s.t.Fatalf("read the server's greeting: %v", err)
	}
	if err := json.Unmarshal(line, &v.hello); err != nil {
		s.t.Fatalf("understand the server's greeting %q: %v", line, err)
	}
	v.calls = rpc.NewClient(watched)
	return v
}

// spawn has a server start a grandchild and waits until it is there.
func (s *stage) spawn(parent *server, held bool) *server {
	s.t.Helper()
	var pid int
	parent.call("Puppet.Spawn", held, &pid)
	child := s.accept()
	if child.hello.PID != pid {
		s.t.Fatalf("process %d dialled in, want the grandchild %d", child.hello.PID, pid)
	}
	return child
}

// server is the test's hold on one puppet.
type server struct {
	t        tb
	conn     *watchedConn
	calls    *rpc.Client
	hello    hello
	patience time.Duration
}

// watchedConn tells when the other side has hung up, which a puppet does only
// by ending.
type watchedConn struct {
	net.Conn
	in     *bufio.Reader
	once   sync.Once
	gone   chan struct{}
	goneAt time.Time
}

func (c *watchedConn) Read(p []byte) (int, error) {
	n, err := c.in.Read(p)
	if err != nil {
		c.once.Do(func() { c.goneAt = time.Now(); close(c.gone) })
	}
	return n, err
}

// start begins something and returns at once.
func (v *server) start(method string, args, reply any) *pending {
	return &pending{v, v.calls.Go("Puppet."+method, args, reply, make(chan *rpc.Call, 1))}
}

// pending is something that a puppet is doing.
type pending struct {
	v    *server
	call *rpc.Call
}

// done waits for it and returns its error.
func (p *pending) done() error {
	p.v.t.Helper()
	select {
	case <-p.call.Done:
		return p.call.Error
	case <-time.After(p.v.patience):
		return fmt.Errorf("%s took longer than %v", p.call.ServiceMethod, p.v.patience)
	}
}

func (p *pending) must() {
	p.v.t.Helper()
	if err := p.done(); err != nil {
		p.v.t.Fatalf("server: %s: %v", p.call.ServiceMethod, err)
	}
}

func (v *server) call(method string, args, reply any) {
	v.t.Helper()
	(&pending{v, v.calls.Go(method, args, reply, make(chan *rpc.Call, 1))}).must()
}

// write writes to stdout, whole.
func (v *server) write(data []byte) {
	v.t.Helper()
	var n int64
	v.call("Puppet.Write", Chunk{To: 1, Data: data}, &n)
}

// complain writes to stderr, whole.
func (v *server) complain(data []byte) {
	v.t.Helper()
	var n int64
	v.call("Puppet.Write", Chunk{To: 2, Data: data}, &n)
}

// read reads exactly n bytes, or to the end when n is below zero.
func (v *server) read(n int) Got {
	v.t.Helper()
	var got Got
	v.call("Puppet.Read", int64(n), &got)
	return got
}

// mustRead fails the test unless these bytes come next.
func (v *server) mustRead(want []byte) {
	v.t.Helper()
	if got := v.read(len(want)); string(got.Data) != string(want) {
		v.t.Fatalf("the server got %q, want %q", clip(got.Data), clip(want))
	}
}

// mustSeeEnd fails the test unless stdin ends here.
func (v *server) mustSeeEnd() {
	v.t.Helper()
	if got := v.read(-1); got.Size != 0 {
		v.t.Fatalf("the server got %d more bytes %q, want the end", got.Size, clip(got.Data))
	}
}

// ignore makes the server deaf to a signal; await then sees it.
func (v *server) ignore(which syscall.Signal) {
	v.t.Helper()
	v.call("Puppet.Trap", Trap{which, -1}, new(struct{}))
}

// exitOn makes the server end with a code when a signal comes.
func (v *server) exitOn(which syscall.Signal, code int) {
	v.t.Helper()
	v.call("Puppet.Trap", Trap{which, code}, new(struct{}))
}

// await waits for an ignored signal to come.
func (v *server) await() (syscall.Signal, error) {
	v.t.Helper()
	var which int
	err := v.start("Await", struct{}{}, &which).done()
	return syscall.Signal(which), err
}

// exit ends the server with a code, and waits until it is gone.
func (v *server) exit(code int) {
	v.t.Helper()
	v.start("Exit", code, new(struct{}))
	v.mustGo(v.patience)
}

// die ends the server by a signal, and waits until it is gone.
func (v *server) die(which syscall.Signal) {
	v.t.Helper()
	v.start("Die", int(which), new(struct{}))
	v.mustGo(v.patience)
}

// mustGo fails the test unless the server's process ends in time, and says when.
func (v *server) mustGo(within time.Duration) time.Time {
	v.t.Helper()
	select {
	case <-v.conn.gone:
		return v.conn.goneAt
	case <-time.After(within):
		v.t.Fatalf("the server's process %d is still there after %v", v.hello.PID, within)
		return time.Time{}
	}
}

// mustStay fails the test when the server's process ends during this time. The
// time is what is being tested, so it has to pass.
func (v *server) mustStay(during time.Duration) {
	v.t.Helper()
	select {
	case <-v.conn.gone:
		v.t.Fatalf("the server's process was ended early")
	case <-time.After(during):
	}
}

// clip shortens bytes for a message.
func clip(data []byte) []byte {
	if len(data) > 200 {
		return append(append([]byte{}, data[:200]...), "..."...)
	}
	return data
}
