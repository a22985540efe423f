package mount

import (
	"bufio"
	"io"
	"os"
	"strings"
)

// fuseSystem tells a FUSE mount of another machine (sshfs, rclone) from a
// local one (ntfs-3g, encrypted folders), which is allowed. The kernel gives
// all of them one number, so that the mount table must say.
func fuseSystem(path string) string {
	mounts, err := os.Open("/proc/self/mounts")
	if err != nil {
		return ""
	}
	defer mounts.Close()
	return remoteFuse(mounts, path)
}

var remoteFuseSystems = map[string]string{
	"fuse.sshfs": "sshfs", "fuse.rclone": "rclone", "fuse.s3fs": "s3fs", "fuse.gcsfuse": "gcsfuse",
	"fuse.glusterfs": "GlusterFS", "fuse.davfs": "WebDAV", "fuse.curlftpfs": "FTP", "fuse.smbnetfs": "SMB",
}

// remoteFuse finds the mount that holds path in a table like /proc/mounts:
// the one with the longest mount point.
func remoteFuse(mounts io.Reader, path string) string {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	best, system := -1, ""
	lines := bufio.NewScanner(mounts)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		if len(fields) < 3 {
			continue
		}
		point := unescape.Replace(fields[1])
		inside := path == point || strings.HasPrefix(path, strings.TrimSuffix(point, "/")+"/")
		if inside && len(point) >= best {
			best, system = len(point), remoteFuseSystems[fields[2]]
		}
	}
	return system
}
