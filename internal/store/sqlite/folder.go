package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// FolderError says why a folder cannot be the one of the data. Nothing in it was
// changed.
type FolderError struct {
	Folder  string
	Problem string
	// Shared says that it would do if others had no rights to it.
	Shared bool
}

func (e *FolderError) Error() string {
	return fmt.Sprintf("open the data in %s: %s", e.Folder, e.Problem)
}

// What the server keeps in the folder, and what others keep at the root of a file
// system.
var (
	ownNames  = []string{databaseFile, lockName, "jobs.db", "secret", "lost+found"}
	ownBegins = []string{databaseFile + "-", "jobs.db-", ".secret-", "restoring-"}
)

// prepareFolder makes a folder that only its owner can enter. One that is there and
// has nothing else in it becomes that too. One that others use keeps its rights,
// whatever they are: with --data /tmp nobody else could use /tmp any more.
func prepareFolder(folder string) error {
	problem := func(format string, values ...any) error {
		return &FolderError{Folder: folder, Problem: fmt.Sprintf(format, values...)}
	}
	about, err := os.Stat(folder)
	if errors.Is(err, fs.ErrNotExist) {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return problem("it cannot be made: %v", bare(err))
		}
		return nil
	}
	switch {
	case err != nil:
		return problem("it cannot be looked at: %v", bare(err))
	case !about.IsDir():
		return problem("it is a file and not a folder")
	case runtime.GOOS == "windows" || about.Mode().Perm()&0o077 == 0:
		return nil // rights there are not in modes; or it is private
	}
	shared, begun, err := contents(folder)
	switch {
	case err != nil:
		return problem("it cannot be read: %v", bare(err))
	case shared && about.Mode().Perm()&0o002 != 0:
		return problem("anybody may change what is in it")
	case shared && !begun:
		return &FolderError{Folder: folder, Problem: "other things are in it, and others may read it", Shared: true}
	case shared:
		return nil // what is in it can be read by its owner alone, each file by itself
	}
	if err := os.Chmod(folder, 0o700); err != nil {
		return problem("others may read it, and that cannot be changed: %v", bare(err))
	}
	return nil
}

// contents says whether a folder is used for other things, and whether there is a
// database in it.
func contents(folder string) (shared, begun bool, err error) {
	entries, err := os.ReadDir(folder)
	for _, entry := range entries {
		begun = begun || entry.Name() == databaseFile
		shared = shared || !isOwn(entry.Name())
	}
	return shared, begun, err
}

func isOwn(name string) bool {
	return slices.Contains(ownNames, name) || slices.ContainsFunc(ownBegins, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// private makes a file that only its owner can read before SQLite would make it
// otherwise. The files that SQLite makes beside it get its permissions; those that
// are there already, from wherever they were copied, get them here.
func private(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = file.Close()
	} else if errors.Is(err, fs.ErrExist) {
		err = privateThere(path)
	}
	for _, beside := range []string{"-wal", "-shm", "-journal"} {
		if wrong := os.Chmod(path+beside, 0o600); !errors.Is(wrong, fs.ErrNotExist) {
			err = errors.Join(err, wrong)
		}
	}
	if err != nil {
		return fmt.Errorf("make %s private: %w", filepath.Base(path), bare(err))
	}
	return nil
}

func privateThere(path string) error {
	about, err := os.Stat(path)
	if err == nil && !about.Mode().IsRegular() {
		err = errors.New("it is no file")
	}
	if err != nil {
		return err
	}
	return os.Chmod(path, 0o600)
}

// bare is an error of the system without the path, which the message has already.
func bare(err error) error {
	if in, is := errors.AsType[*fs.PathError](err); is {
		return in.Err
	}
	return err
}
