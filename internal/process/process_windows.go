package process

import (
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// Start starts the program in a job of its own and returns once it runs. The
// errors a caller may want to tell apart are *NotFoundError and
// *NotExecutableError.
//
// The program is created suspended, put into the job, and only then let go:
// whatever it starts is in the job too.
func Start(command Command) (*Process, error) {
	path, err := lookUp(command)
	if err != nil {
		return nil, err
	}
	sys, argv0, err := sysProcAttr(command, path)
	if err != nil {
		return nil, err
	}
	pipes, err := openPipes()
	if err != nil {
		return nil, err
	}
	job, err := newJob()
	if err != nil {
		pipes.close()
		return nil, err
	}
	child, err := os.StartProcess(argv0, append([]string{command.Name}, command.Args...), &os.ProcAttr{
		Dir: command.Dir, Env: command.Env, Files: pipes.theirs[:], Sys: sys,
	})
	if err != nil {
		pipes.close()
		_ = windows.CloseHandle(job)
		return nil, startError(command, path, err)
	}
	if err := enterJob(job, child); err != nil {
		_ = child.Kill()
		_, _ = child.Wait()
		pipes.close()
		_ = windows.CloseHandle(job)
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	pipes.closeTheirs()

	p := &Process{
		Stdin: pipes.ours[0], Stdout: pipes.ours[1], Stderr: pipes.ours[2],
		pid: child.Pid, done: make(chan struct{}),
	}
	p.tree.job, p.tree.leader = job, uint32(child.Pid)
	go p.wait(child)
	return p, nil
}

func (p *Process) wait(child *os.Process) {
	defer close(p.done)
	state, err := child.Wait()
	if err != nil {
		p.exit = Exit{Code: 255} // it is gone; how is not known
		return
	}
	p.exit = Exit{Code: state.ExitCode()}
}

// sysProcAttr gives the program a console group of its own, so that a
// Ctrl-Break can be meant for it alone. Where we have no console it must not
// open a window either.
func sysProcAttr(command Command, path string) (sys *syscall.SysProcAttr, argv0 string, err error) {
	sys = &syscall.SysProcAttr{
		HideWindow:    true,
		CreationFlags: windows.CREATE_SUSPENDED | windows.CREATE_NEW_PROCESS_GROUP,
	}
	if window, _, _ := getConsoleWindow.Call(); window == 0 {
		sys.CreationFlags |= windows.CREATE_NO_WINDOW
	}
	if !isBatch(path) {
		return sys, path, nil
	}
	system, err := windows.GetSystemDirectory()
	if err != nil {
		return nil, "", fmt.Errorf("find cmd.exe: %w", err)
	}
	cmdExe := system + `\cmd.exe`
	sys.CmdLine, err = batchCommandLine(cmdExe, path, command.Args)
	if err != nil {
		return nil, "", err
	}
	return sys, cmdExe, nil
}

// The window of our console, or 0 without a console.
var getConsoleWindow = windows.NewLazySystemDLL("kernel32.dll").NewProc("GetConsoleWindow")

// newJob makes a job that ends with its last handle, so with this program.
func newJob() (windows.Handle, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return 0, fmt.Errorf("create a job for the server: %w", err)
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		_ = windows.CloseHandle(job)
		return 0, fmt.Errorf("have the job end with this program: %w", err)
	}
	return job, nil
}

// enterJob puts a suspended process into the job and lets it go.
func enterJob(job windows.Handle, child *os.Process) error {
	assigned := errors.New("the process has no handle")
	err := child.WithHandle(func(handle uintptr) {
		assigned = windows.AssignProcessToJobObject(job, windows.Handle(handle))
	})
	if err = errors.Join(err, assigned); err != nil {
		return fmt.Errorf("put the server into its job: %w", err)
	}
	return resume(uint32(child.Pid))
}

// resume lets the one thread of a suspended process run. Its handle is not to
// be had from os.StartProcess, so the thread is looked up by its process.
func resume(pid uint32) error {
	snapshot, err := windows.CreateToolhelp32Snapshot(windows.TH32CS_SNAPTHREAD, 0)
	if err != nil {
		return fmt.Errorf("list threads: %w", err)
	}
	defer func() { _ = windows.CloseHandle(snapshot) }()
	entry := windows.ThreadEntry32{Size: uint32(unsafe.Sizeof(windows.ThreadEntry32{}))}
	for err = windows.Thread32First(snapshot, &entry); err == nil; err = windows.Thread32Next(snapshot, &entry) {
		if entry.OwnerProcessID != pid {
			continue
		}
		thread, err := windows.OpenThread(windows.THREAD_SUSPEND_RESUME, false, entry.ThreadID)
		if err != nil {
			return fmt.Errorf("open the server's thread: %w", err)
		}
		defer func() { _ = windows.CloseHandle(thread) }()
		if _, err := windows.ResumeThread(thread); err != nil {
			return fmt.Errorf("let the server's thread run: %w", err)
		}
		return nil
	}
	return fmt.Errorf("find the thread of process %d: %w", pid, err)
}

func startError(command Command, path string, err error) error {
	if command.Dir != "" {
		if info, statErr := os.Stat(command.Dir); statErr != nil || !info.IsDir() {
			return fmt.Errorf("start %s in the folder %s: no such folder", command.Name, command.Dir)
		}
	}
	switch {
	case errors.Is(err, windows.ERROR_BAD_EXE_FORMAT), errors.Is(err, windows.ERROR_EXE_MACHINE_TYPE_MISMATCH),
		errors.Is(err, windows.ERROR_ACCESS_DENIED):
		return &NotExecutableError{Name: command.Name, Err: err}
	}
	return fmt.Errorf("start %s: %w", path, err)
}

// tree is a job.
type tree struct {
	job    windows.Handle
	leader uint32
	closed atomic.Bool
}

func (t *tree) signal(signal os.Signal) error {
	if !t.alive() {
		return os.ErrProcessDone
	}
	if signal != os.Kill {
		return t.terminate()
	}
	if err := windows.TerminateJobObject(t.job, 128+9); err != nil {
		return fmt.Errorf("end the job of %d: %w", t.leader, err)
	}
	return nil
}

// terminate sends a Ctrl-Break. It reaches only processes that share our
// console; there is no gentle way to the others, only the end of their input.
func (t *tree) terminate() error {
	if err := windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, t.leader); err != nil {
		return fmt.Errorf("send a Ctrl-Break to %d: %w", t.leader, err)
	}
	return nil
}

// accounting is JOBOBJECT_BASIC_ACCOUNTING_INFORMATION.
type accounting struct {
	TotalUserTime, TotalKernelTime, PeriodUserTime, PeriodKernelTime int64
	PageFaults, TotalProcesses, ActiveProcesses, TerminatedForLimits uint32
}

func (t *tree) alive() bool {
	if t.closed.Load() {
		return false
	}
	var info accounting
	err := windows.QueryInformationJobObject(t.job, windows.JobObjectBasicAccountingInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)), nil)
	return err != nil || info.ActiveProcesses > 0
}

// release closes the job's last handle, which ends what is still in it.
func (t *tree) release() error {
	t.closed.Store(true)
	return windows.CloseHandle(t.job)
}
