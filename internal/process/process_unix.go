//go:build unix

package process

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"syscall"
)

// Start starts the program and returns once it runs. The errors a caller may
// want to tell apart are *NotFoundError and *NotExecutableError.
func Start(command Command) (*Process, error) {
	path, err := lookUp(command)
	if err != nil {
		return nil, err
	}
	pipes, err := openPipes()
	if err != nil {
		return nil, err
	}
	p := &Process{
		Stdin: pipes.ours[0], Stdout: pipes.ours[1], Stderr: pipes.ours[2],
		done: make(chan struct{}),
	}
	attr := &os.ProcAttr{Dir: command.Dir, Env: command.Env, Files: pipes.theirs[:], Sys: sysProcAttr()}
	started := make(chan error, 1)
	go p.startAndWait(path, append([]string{command.Name}, command.Args...), attr, started)
	if err := <-started; err != nil {
		pipes.close()
		return nil, startError(command, path, err)
	}
	pipes.closeTheirs()
	p.tree.guardIt(p.pid)
	return p, nil
}

// startAndWait owns the thread that starts the program until the program has
// ended: the parent-death signal comes when that *thread* dies, and the
// runtime ends threads that it has no use for.
func (p *Process) startAndWait(path string, argv []string, attr *os.ProcAttr, started chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	child, err := os.StartProcess(path, argv, attr)
	if err != nil {
		started <- err
		return
	}
	p.pid = child.Pid
	p.tree.group = child.Pid
	started <- nil

	state, err := child.Wait()
	if err != nil {
		// Somebody else reaped it. That it is gone is certain, its code is not.
		p.exit = Exit{Code: 255}
	} else {
		p.exit = exitOf(state)
	}
	p.tree.leaderReaped.Store(true)
	close(p.done)
}

func exitOf(state *os.ProcessState) Exit {
	status, ok := state.Sys().(syscall.WaitStatus)
	if ok && status.Signaled() {
		return Exit{Code: 128 + int(status.Signal()), Signal: status.Signal()}
	}
	return Exit{Code: state.ExitCode()}
}

// startError turns what the system said into an error that a caller can act on.
func startError(command Command, path string, err error) error {
	if command.Dir != "" {
		if info, statErr := os.Stat(command.Dir); statErr != nil {
			return fmt.Errorf("start %s in the folder %s: %w", command.Name, command.Dir, errors.Unwrap(statErr))
		} else if !info.IsDir() {
			return fmt.Errorf("start %s in %s: not a folder", command.Name, command.Dir)
		}
	}
	var errno syscall.Errno
	if !errors.As(err, &errno) {
		return fmt.Errorf("start %s: %w", path, err)
	}
	switch errno {
	case syscall.ENOENT: // lookUp has seen the program, so it is what the program needs
		return &NotExecutableError{command.Name, fmt.Errorf("the interpreter in its first line, or its loader, does not exist: %w", errno)}
	case syscall.ENOEXEC:
		return &NotExecutableError{command.Name, fmt.Errorf("not a program for this system, and no #! in its first line: %w", errno)}
	case syscall.EACCES, syscall.EPERM, syscall.EISDIR, syscall.ENOTDIR, syscall.ELOOP, syscall.ETXTBSY:
		return &NotExecutableError{command.Name, errno}
	}
	return fmt.Errorf("start %s: %w", path, errno)
}

// tree is a process group and its guard.
type tree struct {
	group        int // the leader's id
	leaderReaped atomic.Bool
	gone         atomic.Bool // the group was seen empty; its number may be anyone's now
	guard        guard
}

func (t *tree) signal(signal os.Signal) error {
	number, ok := signal.(syscall.Signal)
	if !ok {
		return fmt.Errorf("send %v to the server: not a signal of this system", signal)
	}
	if t.gone.Load() {
		return os.ErrProcessDone
	}
	err := syscall.Kill(-t.group, number)
	if errors.Is(err, syscall.ESRCH) {
		t.markGone()
		return os.ErrProcessDone
	}
	if err != nil {
		return fmt.Errorf("send %v to the process group %d: %w", number, t.group, err)
	}
	return nil
}

// terminate sends TERM, and CONT after it: a stopped process would sit on the
// TERM until someone continues it.
func (t *tree) terminate() error {
	if err := t.signal(syscall.SIGTERM); err != nil {
		return err
	}
	_ = t.signal(syscall.SIGCONT)
	return nil
}

func (t *tree) alive() bool {
	if t.gone.Load() {
		return false
	}
	if err := syscall.Kill(-t.group, 0); errors.Is(err, syscall.ESRCH) {
		t.markGone()
		return false
	}
	return groupRuns(t.group)
}

// markGone remembers that the group is empty, lest a later signal go to
// strangers that got its number. While the leader is not reaped, it holds it.
func (t *tree) markGone() {
	if t.leaderReaped.Load() {
		t.gone.Store(true)
	}
}

func (t *tree) release() error { return t.guard.release() }
