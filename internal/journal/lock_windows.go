package journal

import (
	"os"

	"golang.org/x/sys/windows"
)

const wholeFile = ^uint32(0)

func lockFile(file *os.File) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, wholeFile, wholeFile, new(windows.Overlapped))
}

// tryLockFile is lockFile that does not wait, and says whether it was free.
func tryLockFile(file *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, wholeFile, wholeFile, new(windows.Overlapped))
	if err == windows.ERROR_LOCK_VIOLATION || err == windows.ERROR_IO_PENDING {
		return false, nil
	}
	return err == nil, err
}

func unlockFile(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, wholeFile, wholeFile, new(windows.Overlapped))
}
