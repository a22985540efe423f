//go:build unix

package sqlite

import (
	"os"

	"golang.org/x/sys/unix"
)

// lock takes a file for this process; the system frees it when the process ends.
func lock(file *os.File) error {
	for {
		switch err := unix.Flock(int(file.Fd()), unix.LOCK_EX|unix.LOCK_NB); err {
		case unix.EINTR:
		case unix.EWOULDBLOCK:
			return errTaken
		default:
			return err
		}
	}
}
