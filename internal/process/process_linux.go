package process

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// sysProcAttr puts the program into a group of its own, and has the kernel
// send it TERM when this program dies in whatever way.
func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}

// groupRuns says whether a group has a member that is not a zombie. A process
// whose parent does not reap it stays a member for ever, but runs no more.
func groupRuns(group int) bool {
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return true // without /proc the group's existence is all there is to go by
	}
	seen := false
	for _, entry := range entries {
		if _, err := strconv.Atoi(entry.Name()); err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join("/proc", entry.Name(), "stat"))
		if err != nil {
			continue // it ended meanwhile
		}
		seen = true
		state, itsGroup, ok := parseStat(stat)
		if ok && itsGroup == group && state != 'Z' && state != 'X' {
			return true
		}
	}
	return !seen
}

// parseStat reads a process's state and group from /proc/PID/stat. The name
// in parentheses may hold anything, so only what follows its last one counts.
func parseStat(stat []byte) (state byte, group int, ok bool) {
	end := bytes.LastIndexByte(stat, ')')
	if end < 0 {
		return 0, 0, false
	}
	fields := bytes.Fields(stat[end+1:])
	if len(fields) < 3 || len(fields[0]) != 1 {
		return 0, 0, false
	}
	group, err := strconv.Atoi(string(fields[2]))
	return fields[0][0], group, err == nil
}
