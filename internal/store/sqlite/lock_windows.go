package sqlite

import (
	"os"

	"golang.org/x/sys/windows"
)

// lock takes a file for this process; the system frees it when the process ends.
func lock(file *os.File) error {
	how := uint32(windows.LOCKFILE_EXCLUSIVE_LOCK | windows.LOCKFILE_FAIL_IMMEDIATELY)
	err := windows.LockFileEx(windows.Handle(file.Fd()), how, 0, 1, 0, new(windows.Overlapped))
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return errTaken
	}
	return err
}
