package terminal

import (
	"os"

	"golang.org/x/sys/windows"
)

// showsEscapes asks the console to act on colour codes, which older ones do
// only when asked, and reports whether it will.
func showsEscapes(f *os.File) bool {
	var mode uint32
	console := windows.Handle(f.Fd())
	if err := windows.GetConsoleMode(console, &mode); err != nil {
		return false
	}
	return windows.SetConsoleMode(console, mode|windows.ENABLE_VIRTUAL_TERMINAL_PROCESSING) == nil
}
