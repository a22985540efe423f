package process

import "syscall"

// sysProcAttr puts the program into a group of its own. macOS has no signal
// for a parent's death; there the end of input and the guard do it.
func sysProcAttr() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// groupRuns: on macOS a group of nothing but zombies cannot be signalled.
func groupRuns(group int) bool { return syscall.Kill(-group, 0) == nil }
