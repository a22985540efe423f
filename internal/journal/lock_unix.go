//go:build unix

package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

func lockFile(file *os.File) error { return flock(file, unix.LOCK_EX) }

func unlockFile(file *os.File) error { return flock(file, unix.LOCK_UN) }

// tryLockFile is lockFile that does not wait, and says whether it was free.
func tryLockFile(file *os.File) (bool, error) {
	err := flock(file, unix.LOCK_EX|unix.LOCK_NB)
	if err == unix.EWOULDBLOCK {
		return false, nil
	}
	return err == nil, err
}

func flock(file *os.File, how int) error {
	for {
		err := unix.Flock(int(file.Fd()), how)
		if err != unix.EINTR {
			return err
		}
	}
}
