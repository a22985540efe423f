//go:build !linux

package journal

import "os"

// syncData makes durable what is in a file.
func syncData(file *os.File) error { return file.Sync() }
