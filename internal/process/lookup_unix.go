//go:build unix

package process

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// lookUp finds the program's file: the first in PATH that can be run. Unlike
// a plain search it remembers one that is there but cannot be run, and it
// takes PATH from the environment that the program is to have.
func lookUp(command Command) (string, error) {
	name := command.Name
	if name == "" {
		return "", &NotFoundError{Name: `""`}
	}
	if strings.Contains(name, "/") {
		file := name
		if command.Dir != "" && !filepath.IsAbs(name) {
			file = filepath.Join(command.Dir, name) // the program starts there
		}
		switch err := executable(file); {
		case err == nil:
			return name, nil
		case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
			return "", &NotFoundError{Name: name}
		default:
			return "", &NotExecutableError{Name: name, Err: err}
		}
	}

	path := pathOf(command.Env)
	var notExecutable error
	for _, folder := range filepath.SplitList(path) {
		if !filepath.IsAbs(folder) {
			continue // a program from wherever one happens to stand is a trap
		}
		file := filepath.Join(folder, name)
		err := executable(file)
		if err == nil {
			return file, nil
		}
		if notExecutable == nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, syscall.ENOTDIR) && isFile(file) {
			notExecutable = &NotExecutableError{Name: file, Err: err}
		}
	}
	if notExecutable != nil {
		return "", notExecutable
	}
	if path == "" {
		path = "it is empty"
	}
	return "", &NotFoundError{Name: name, Path: path}
}

// executable says why a file cannot be run, or nil.
func executable(file string) error {
	info, err := os.Stat(file)
	if err != nil {
		return errors.Unwrap(err)
	}
	if info.IsDir() {
		return syscall.EISDIR
	}
	if err := unix.Access(file, unix.X_OK); err != nil {
		return err
	}
	return nil
}

func isFile(file string) bool {
	info, err := os.Stat(file)
	return err == nil && !info.IsDir()
}

func pathOf(env []string) string {
	if env == nil {
		return os.Getenv("PATH")
	}
	path := ""
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, "PATH="); ok {
			path = value // the last one is what the program gets
		}
	}
	return path
}
