package mount

import "golang.org/x/sys/unix"

// Network names the network file system that path is on, or "".
func Network(path string) string {
	var info unix.Statfs_t
	if err := unix.Statfs(path, &info); err != nil {
		return "" // what is wrong with it will show when it is used
	}
	switch uint32(info.Type) {
	case unix.NFS_SUPER_MAGIC:
		return "NFS"
	case unix.SMB_SUPER_MAGIC, unix.SMB2_SUPER_MAGIC, unix.CIFS_SUPER_MAGIC:
		return "SMB"
	case unix.AFS_SUPER_MAGIC, unix.AFS_FS_MAGIC:
		return "AFS"
	case unix.CEPH_SUPER_MAGIC:
		return "Ceph"
	case unix.V9FS_MAGIC:
		return "9p"
	case unix.FUSE_SUPER_MAGIC:
		return fuseSystem(path)
	}
	return ""
}
