package mount

import (
	"path/filepath"

	"golang.org/x/sys/windows"
)

// Network names the network file system that path is on, or "".
func Network(path string) string {
	root, err := windows.UTF16PtrFromString(filepath.VolumeName(path) + `\`)
	if err != nil {
		return ""
	}
	if windows.GetDriveType(root) == windows.DRIVE_REMOTE {
		return "network drive"
	}
	return ""
}
