package process

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// lookUp finds the program's file by PATH and PATHEXT. A program found only
// because it lies in the current folder does not count: that is a trap.
func lookUp(command Command) (string, error) {
	name := command.Name
	searched := ""
	if !strings.ContainsAny(name, `/\:`) {
		searched = os.Getenv("PATH")
	} else if command.Dir != "" && !filepath.IsAbs(name) {
		name = filepath.Join(command.Dir, name)
	}
	file, err := exec.LookPath(name)
	switch {
	case err == nil:
		return filepath.Abs(file)
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, exec.ErrDot), errors.Is(err, fs.ErrNotExist):
		if info, statErr := os.Stat(name); searched == "" && statErr == nil {
			if info.IsDir() {
				return "", &NotExecutableError{Name: command.Name, Err: errors.New("is a folder")}
			}
			return "", &NotExecutableError{Name: command.Name, Err: errors.New("its extension is not in PATHEXT")}
		}
		return "", &NotFoundError{Name: command.Name, Path: searched}
	}
	return "", &NotExecutableError{Name: command.Name, Err: err}
}
