//go:build !windows

package terminal

import "os"

// showsEscapes is true for every Unix terminal that is not dumb.
func showsEscapes(*os.File) bool { return true }
