//go:build unix

package stdio

import (
	"os"

	"golang.org/x/sys/unix"
)

// hungUp says whether nobody can read any more what is written to f.
func hungUp(f *os.File) bool {
	raw, err := f.SyscallConn()
	if err != nil {
		return false
	}
	gone := false
	err = raw.Control(func(fd uintptr) {
		ask := []unix.PollFd{{Fd: int32(fd)}}
		n, err := unix.Poll(ask, 0)
		gone = err == nil && n > 0 && ask[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
	})
	return err == nil && gone
}
