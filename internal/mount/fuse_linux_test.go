package mount

import (
	"strings"
	"testing"
)

func TestARemoteFuseMountIsToldFromALocalOne(t *testing.T) {
	t.Parallel()
	const mounts = `/dev/sda / ext4 rw 0 0
box:/home /mnt/box fuse.sshfs rw 0 0
/dev/sdb1 /mnt/box/usb fuseblk rw 0 0
drive: /mnt/my\040drive fuse.rclone rw 0 0
`
	for path, want := range map[string]string{
		"/home/me/.deed":       "",
		"/mnt/box":             "sshfs",
		"/mnt/box/deed":        "sshfs",
		"/mnt/boxes/deed":      "",
		"/mnt/box/usb/deed":    "",
		"/mnt/my drive/deed":   "rclone",
		"/mnt/my drives/.deed": "",
	} {
		if got := remoteFuse(strings.NewReader(mounts), path); got != want {
			t.Errorf("%s is on %q, want %q", path, got, want)
		}
	}
}
