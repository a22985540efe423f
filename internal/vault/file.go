package vault

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// A secret file has a key on each line, the one that seals first:
//
//	deed-secret-1:BASE64 OF 32 BYTES
//
// Empty lines and lines that begin with # are left out.
const (
	lineMark     = "deed-secret-1:"
	maxFileBytes = 64 << 10
)

// FileError says that a secret file cannot be used, and why. It never holds any of
// its content.
type FileError struct {
	Name    string // of the file, without its directory
	Problem string
	Err     error
}

func (e *FileError) Error() string {
	text := "read the secret file " + e.Name + ": " + e.Problem
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *FileError) Unwrap() error { return e.Err }

// NotFileError says that an address was given where a file is meant. What a key
// management service keeps comes by a command ([Run]).
type NotFileError struct{ Scheme string }

func (e *NotFileError) Error() string {
	return fmt.Sprintf("open the secret: a file is meant, and %s:// is none", e.Scheme)
}

// Load reads the keys that a server was told to use. It takes the name of a file.
// An address is refused with a [NotFileError].
// A missing file is [fs.ErrNotExist], and none is made: whoever gives a file means
// one that other instances have as well.
func Load(location string) (*Vault, error) {
	if scheme, _, isURL := strings.Cut(location, "://"); isURL {
		return nil, &NotFileError{Scheme: scheme}
	}
	name := filepath.Base(location)
	file, err := os.Open(location)
	if err != nil {
		return nil, &FileError{Name: name, Problem: "it cannot be opened", Err: bare(err)}
	}
	defer file.Close()
	if err := closeToOthers(file); err != nil {
		return nil, &FileError{Name: name, Problem: "others can read it, and that cannot be changed; run chmod 600 on it", Err: bare(err)}
	}
	text, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, &FileError{Name: name, Problem: "it cannot be read", Err: bare(err)}
	}
	if len(text) > maxFileBytes {
		return nil, &FileError{Name: name, Problem: "it is too long for a secret file"}
	}
	v, err := parse(text)
	if err != nil {
		return nil, &FileError{Name: name, Problem: err.Error()}
	}
	return v, nil
}

// LoadOrMake is [Load] for a server that has its data beside it: where there is no
// file it makes one that its owner alone can read. Of several that make it at once
// one wins, and all get its key.
func LoadOrMake(path string) (*Vault, error) {
	v, err := Load(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return v, err
	}
	line, err := newLine()
	if err != nil {
		return nil, err
	}
	if err := writeNew(path, line); err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, &FileError{Name: filepath.Base(path), Problem: "it cannot be made", Err: bare(err)}
	}
	return Load(path)
}

// Rotate puts a new key in front of a file: it seals from now on, and those that
// were there still open. Every instance needs the new file before the first of them
// starts with it.
func Rotate(path string) (*Vault, error) {
	if _, err := Load(path); err != nil {
		return nil, err
	}
	line, err := newLine()
	if err != nil {
		return nil, err
	}
	old, err := os.ReadFile(path)
	if err != nil {
		return nil, &FileError{Name: filepath.Base(path), Problem: "it cannot be read", Err: bare(err)}
	}
	if err := replace(path, append(line, old...)); err != nil {
		return nil, &FileError{Name: filepath.Base(path), Problem: "it cannot be replaced", Err: bare(err)}
	}
	return Load(path)
}

func parse(text []byte) (*Vault, error) {
	v := &Vault{}
	lines := bufio.NewScanner(bytes.NewReader(text))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		coded, marked := strings.CutPrefix(line, lineMark)
		secret, err := base64.StdEncoding.Strict().DecodeString(coded)
		if !marked || err != nil || len(secret) != keyBytes {
			return nil, fmt.Errorf("line %d is no key; restore the secret from a backup", number)
		}
		key, err := newMasterKey(secret)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		v.keys = append(v.keys, key)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("a line is too long for a key: %w", err)
	}
	if len(v.keys) == 0 {
		return nil, errors.New("it has no key; restore the secret from a backup")
	}
	return v, nil
}

func newLine() ([]byte, error) {
	secret := make([]byte, keyBytes)
	if _, err := rand.Read(secret); err != nil {
		return nil, fmt.Errorf("make a secret: %w", err)
	}
	return []byte(lineMark + base64.StdEncoding.EncodeToString(secret) + "\n"), nil
}

func closeToOthers(file *os.File) error {
	info, err := file.Stat()
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return err
	}
	return file.Chmod(0o600)
}

// writeNew makes a file whole or not at all, and never in the place of another.
func writeNew(path string, data []byte) error {
	temp, err := beside(path, data)
	if err != nil {
		return err
	}
	defer os.Remove(temp)
	return os.Link(temp, path)
}

func replace(path string, data []byte) error {
	temp, err := beside(path, data)
	if err != nil {
		return err
	}
	if err := os.Rename(temp, path); err != nil {
		os.Remove(temp)
		return err
	}
	return nil
}

// beside writes a file into the same directory, durably and with mode 0600.
func beside(path string, data []byte) (string, error) {
	temp, err := os.CreateTemp(filepath.Dir(path), ".secret-*")
	if err != nil {
		return "", err
	}
	_, err = temp.Write(data)
	if err == nil {
		err = temp.Sync()
	}
	if closing := temp.Close(); err == nil {
		err = closing
	}
	if err != nil {
		os.Remove(temp.Name())
		return "", err
	}
	return temp.Name(), nil
}

// bare is an error of the system without the path, which is no business of whoever
// reads a log.
func bare(err error) error {
	if in, is := errors.AsType[*fs.PathError](err); is {
		return in.Err
	}
	if in, is := errors.AsType[*os.LinkError](err); is {
		return in.Err
	}
	return err
}
