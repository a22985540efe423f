package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/deed-dev/deed/internal/mount"
)

// formatVersion is in the database's name and in its user_version. A change
// of the format opens a new file beside the old one.
const formatVersion = 1

// The files of a home.
const (
	databaseName = "journal-v1.db"
	lockName     = "journal.lock"
	keyName      = "journal.key"
)

// folder is a home whose place and permissions have been looked at.
type folder struct{ path string }

func (f folder) database() string { return filepath.Join(f.path, databaseName) }
func (f folder) lock() string     { return filepath.Join(f.path, lockName) }
func (f folder) key() string      { return filepath.Join(f.path, keyName) }

// openFolder makes the home if it is not there, for its owner alone. A folder
// that somebody else made keeps its mode: the files in it are closed anyway.
func openFolder(home string, allowNetwork bool) (folder, error) {
	path, err := filepath.Abs(home)
	if err != nil {
		return folder{}, &HomeError{Home: home, Err: err}
	}
	if info, err := os.Stat(path); err == nil && !info.IsDir() {
		return folder{}, &HomeError{Home: path, Err: errNoFolder}
	}
	if err := os.MkdirAll(path, 0o700); err != nil {
		return folder{}, &HomeError{Home: path, Err: err}
	}
	f := folder{path}
	if err := f.refuse(allowNetwork); err != nil {
		return folder{}, err
	}
	return f, nil
}

var errNoFolder = errors.New("it is not a folder")

// findFolder is openFolder for readers: it makes nothing.
func findFolder(home string, allowNetwork bool) (folder, error) {
	path, err := filepath.Abs(home)
	if err != nil {
		return folder{}, &HomeError{Home: home, Err: err}
	}
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return folder{}, fmt.Errorf("home %s: %w", path, ErrNoJournal)
	}
	if err != nil {
		return folder{}, &HomeError{Home: path, Err: err}
	}
	if !info.IsDir() {
		return folder{}, &HomeError{Home: path, Err: errNoFolder}
	}
	f := folder{path}
	if err := f.refuse(allowNetwork); err != nil {
		return folder{}, err
	}
	if err := refuseOdd(f.databaseFiles()...); err != nil {
		return folder{}, &HomeError{Home: path, Err: err}
	}
	if _, err := os.Stat(f.database()); errors.Is(err, fs.ErrNotExist) {
		return folder{}, fmt.Errorf("home %s: %w", path, ErrNoJournal)
	} else if err != nil {
		return folder{}, &HomeError{Home: path, Err: err}
	}
	return f, nil
}

// refuse finds reasons not to touch a home that is there.
func (f folder) refuse(allowNetwork bool) error {
	if !allowNetwork {
		if system := mount.Network(f.path); system != "" {
			return &NetworkHomeError{Home: f.path, System: system}
		}
	}
	files, err := os.ReadDir(f.path)
	if err != nil {
		return &HomeError{Home: f.path, Err: err}
	}
	for _, file := range files {
		digits, named := strings.CutPrefix(file.Name(), "journal-v")
		digits, database := strings.CutSuffix(digits, ".db")
		if !named || !database {
			continue
		}
		if version, err := strconv.Atoi(digits); err == nil && version > formatVersion {
			return &NewerFormatError{Path: filepath.Join(f.path, file.Name()), Version: version}
		}
	}
	return nil
}

// closeToOthers takes permissions of group and others away from a file. The
// database makes its side files with the mode of the database itself.
func closeToOthers(path string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	if info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	return os.Chmod(path, 0o600)
}
