//go:build unix

package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

func lockFile(file *os.File) error { return flock(file, unix.LOCK_EX) }

func unlockFile(file *os.File) error { return flock(file, unix.LOCK_UN) }

func flock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how)
		if err != unix.EINTR {
			return err
		}
	}
}
