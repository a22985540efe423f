package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// Exposure is something about a home that lets others in, or leads elsewhere.
// It is no reason not to record: it is told, and the owner decides.
type Exposure struct {
	Path string
	What string // in plain words
	Mend string // a command that ends it; empty where it may well be meant so
}

func (e *Exposure) Error() string {
	if e.Mend == "" {
		return e.Path + " " + e.What
	}
	return e.Path + " " + e.What + "; run: " + e.Mend
}

// Exposures looks at a home without changing it. It must be asked before the
// journal is opened, which takes permissions that are too wide away from
// files. It finds nothing where there is no home, and nothing on Windows,
// whose access lists it does not read.
func Exposures(home string) []*Exposure {
	path, err := filepath.Abs(home)
	if err != nil || runtime.GOOS == "windows" {
		return nil
	}
	f := folder{path}
	var found []*Exposure
	if info, err := os.Lstat(path); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		target, _ := filepath.EvalSymlinks(path) // for reading; empty says nothing wrong
		found = append(found, &Exposure{Path: path, What: "is a link to " + target})
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() && info.Mode().Perm()&0o022 != 0 {
		found = append(found, &Exposure{path, "can be written by others, who could put another journal in the place of this one", "chmod 700 " + path})
	}
	for _, one := range []struct{ path, what string }{
		{f.key(), "can be read by others, who could then sign a journal as if it were this one"},
		{f.database(), "can be read by others, with all that was recorded"},
	} {
		if info, err := os.Lstat(one.path); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
			found = append(found, &Exposure{one.path, one.what, "chmod 600 " + one.path})
		}
	}
	return found
}

// errNotPlain says that a file of the home is something else than a file.
var errNotPlain = errors.New("it is a link or no plain file; put the file itself in its place")

// refuseOdd refuses files that lead elsewhere. Whoever can make a link could
// have us write, or sign with, a file of somebody else's choice, and a pipe
// would hold us up for ever.
func refuseOdd(paths ...string) error {
	for _, path := range paths {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s: %w", filepath.Base(path), errNotPlain)
		}
	}
	return nil
}

// databaseFiles are those that SQLite opens.
func (f folder) databaseFiles() []string {
	return []string{f.database(), f.database() + "-wal", f.database() + "-shm"}
}

// refuseOddFiles is refuseOdd of all files that a recorder uses.
func (f folder) refuseOddFiles() error {
	if err := refuseOdd(append(f.databaseFiles(), f.key(), f.lock())...); err != nil {
		return &HomeError{Home: f.path, Err: err}
	}
	return nil
}
