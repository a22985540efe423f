package journal

import (
	"os"

	"golang.org/x/sys/windows"
)

const wholeFile = ^uint32(0)

func lockFile(file *os.File) error {
	return windows.LockFileEx(windows.Handle(file.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK, 0, wholeFile, wholeFile, new(windows.Overlapped))
}

func unlockFile(file *os.File) error {
	return windows.UnlockFileEx(windows.Handle(file.Fd()), 0, wholeFile, wholeFile, new(windows.Overlapped))
}
