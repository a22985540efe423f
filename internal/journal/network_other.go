//go:build !linux && !darwin && !windows

package journal

// networkFileSystem cannot tell on this system.
func networkFileSystem(string) string { return "" }
