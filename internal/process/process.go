// Package process starts a server as a tree of processes of its own, and ends
// the whole tree: npx starts npm, which starts sh, which starts node, and a
// signal to the first alone leaves the rest behind.
//
// It never puts a shell between itself and the program, never restarts
// anything, and never touches a byte of what the program reads or writes.
//
// # Life of a process
//
// [Start] finds the program, makes three pipes and starts it as the leader of
// a process group (on Windows: in a job object). One goroutine waits for it,
// and closes [Process.Done] when it has ended; the pipes stay open, so the
// last bytes can still be read. [Process.End] is the polite way out: end of
// input, then TERM to the group, then KILL. [Process.Close] gives back what is
// left, processes included.
//
// If this program is itself killed, nothing here runs any more. Then the
// server sees the end of its input; on Linux the kernel sends it TERM; on Unix
// a small guard process ends the group; on Windows the system ends the job.
package process

import (
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Command is what to start. There is never a shell in between.
type Command struct {
	Name string   // as given by the user; looked up in PATH when it has no separator
	Args []string // without the name itself
	Dir  string   // working directory; empty is the current one
	Env  []string // nil is the current environment
}

// Exit says how a process ended.
type Exit struct {
	Code   int       // what a shell would report: the code, or 128+n for signal n
	Signal os.Signal // the signal that ended it, or nil
}

// NotFoundError says that no such program exists. A shell would exit with 127.
type NotFoundError struct {
	Name string
	Path string // the PATH that was searched; empty when Name was a path itself
}

func (e *NotFoundError) Error() string {
	if e.Path == "" {
		return fmt.Sprintf("%s: not found; check the path", e.Name)
	}
	return fmt.Sprintf("%s: not found in PATH (%s); give its full path or extend PATH", e.Name, e.Path)
}

// NotExecutableError says that the program is there but cannot be run. A
// shell would exit with 126.
type NotExecutableError struct {
	Name string
	Err  error
}

func (e *NotExecutableError) Error() string {
	return fmt.Sprintf("%s: not executable: %v", e.Name, e.Err)
}
func (e *NotExecutableError) Unwrap() error { return e.Err }

// Process is a started program and all that it starts in turn, except what
// leaves the process group on purpose (a daemon; on Windows nothing can).
type Process struct {
	// Our ends of the pipes. Reads and writes may be cut short by deadlines
	// on Unix. The process ending does not close them; Close does.
	Stdin  *os.File
	Stdout *os.File
	Stderr *os.File

	pid  int
	tree tree // the group or job
	done chan struct{}
	exit Exit

	closeOnce sync.Once
	closeErr  error
}

// PID is the process id of the program itself.
func (p *Process) PID() int { return p.pid }

// Done is closed when the program itself has ended and was reaped. Others of
// its tree may live on, and hold its pipes.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit waits for Done and says how the program ended.
func (p *Process) Exit() Exit {
	<-p.done
	return p.exit
}

// Signal sends a signal to the whole tree. On Windows os.Kill ends the job and
// every other signal becomes a Ctrl-Break. Where nothing is left to signal it
// returns [os.ErrProcessDone].
func (p *Process) Signal(signal os.Signal) error { return p.tree.signal(signal) }

// Terminate asks the whole tree to end (TERM, or Ctrl-Break on Windows).
func (p *Process) Terminate() error { return p.tree.terminate() }

// Kill ends the whole tree at once.
func (p *Process) Kill() error { return p.tree.signal(os.Kill) }

// TreeAlive says whether any process of the tree is still running, be it the
// program itself or one that it left behind.
func (p *Process) TreeAlive() bool { return p.tree.alive() }

// Patience is how long [Process.End] waits at each step before the next.
type Patience struct {
	Input time.Duration // from the end of input to TERM
	Term  time.Duration // from TERM to KILL
}

// treeLook is how often End looks whether a tree is gone: no system tells when
// the last member of a group ends.
const treeLook = 10 * time.Millisecond

// End closes the program's input and waits for the tree to end, sends TERM and
// waits again, then kills it. It returns as soon as nothing is left. To hurry
// it, call Kill. Only a process that not even KILL ends can hold it up.
func (p *Process) End(patience Patience) Exit {
	_ = p.Stdin.Close() // closed already is as good
	if !p.waitTree(patience.Input, true) {
		// Where it cannot even be asked, there is nothing to wait for.
		err := p.Terminate()
		asked := err == nil || errors.Is(err, os.ErrProcessDone)
		if !asked || !p.waitTree(patience.Term, false) {
			_ = p.Kill()
		}
	}
	exit := p.Exit()
	p.waitTree(time.Second, false) // a killed process may need a moment to go
	return exit
}

// waitTree reports whether the tree ended within limit. With leftBehind it
// returns early when the program has ended and others of its tree have not:
// they were not given the input, so its end tells them nothing.
func (p *Process) waitTree(limit time.Duration, leftBehind bool) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.done:
	case <-timer.C:
		return false
	}
	ticker := time.NewTicker(treeLook)
	defer ticker.Stop()
	for p.TreeAlive() {
		if leftBehind {
			return false
		}
		select {
		case <-ticker.C:
		case <-timer.C:
			return !p.TreeAlive()
		}
	}
	return true
}

// Close kills what is left of the tree, waits for the program, closes the
// pipes and lets the guard go. It is safe to call after End, and twice.
func (p *Process) Close() error {
	p.closeOnce.Do(func() {
		_ = p.Stdin.Close()
		if p.TreeAlive() {
			_ = p.Kill()
		}
		<-p.done
		p.waitTree(time.Second, false)
		_ = p.Stdout.Close()
		_ = p.Stderr.Close()
		if err := p.tree.release(); err != nil {
			p.closeErr = fmt.Errorf("release the process tree of %d: %w", p.pid, err)
		}
	})
	return p.closeErr
}

// pipes are both ends of the three standard streams.
type pipes struct{ ours, theirs [3]*os.File }

func openPipes() (*pipes, error) {
	p := &pipes{}
	for i := range 3 {
		r, w, err := os.Pipe()
		if err != nil {
			p.close()
			return nil, fmt.Errorf("open a pipe for the server: %w", err)
		}
		p.theirs[i], p.ours[i] = w, r
		if i == 0 {
			p.theirs[i], p.ours[i] = r, w
		}
	}
	return p, nil
}

func (p *pipes) closeTheirs() {
	for _, file := range p.theirs {
		if file != nil {
			_ = file.Close() // a second copy only; the server has its own
		}
	}
}

func (p *pipes) close() {
	p.closeTheirs()
	for _, file := range p.ours {
		if file != nil {
			_ = file.Close()
		}
	}
}
