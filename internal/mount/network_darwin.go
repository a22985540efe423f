package mount

import "golang.org/x/sys/unix"

// Network names the network file system that path is on, or "".
func Network(path string) string {
	var info unix.Statfs_t
	if err := unix.Statfs(path, &info); err != nil || info.Flags&unix.MNT_LOCAL != 0 {
		return ""
	}
	return unix.ByteSliceToString(info.Fstypename[:])
}
