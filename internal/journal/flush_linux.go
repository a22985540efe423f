package journal

import (
	"os"

	"golang.org/x/sys/unix"
)

// syncData makes durable what is in a file and how long it is. When it was last
// written is left out: that alone costs a transaction of the file system, and
// a WAL that begins anew is overwritten without becoming longer.
func syncData(file *os.File) error {
	for {
		err := unix.Fdatasync(int(file.Fd()))
		if err != unix.EINTR {
			return err
		}
	}
}
