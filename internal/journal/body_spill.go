package journal

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// Spill files are named so that what a crash left behind can be swept.
const (
	spillPrefix = "spill-"
	spillSuffix = ".tmp"
)

type bodySum struct{ hash.Hash }

func (s *bodySum) hash() entry.Hash { return entry.Hash(s.Sum(nil)) }

// Spill keeps a body on disk while it passes, so that one of any size takes
// no memory. It is written by one goroutine, then given away in a [Body], or
// closed when it is not wanted after all.
type Spill struct {
	file *os.File
	path string // empty where the file has no name any more
	salt [entry.SaltBytes]byte
	sum  *bodySum
	size int64
}

// NewSpill makes a file in the home for a body. Where the system allows, it
// has no name from then on, and is gone with the process whatever happens.
func (j *Journal) NewSpill() (*Spill, error) {
	home := j.writer.folder.path
	var id [12]byte
	rand.Read(id[:]) // never fails
	path := filepath.Join(home, spillPrefix+hex.EncodeToString(id[:])+spillSuffix)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("make a file for a body in %s; see that there is room and that you can write there: %w", home, err)
	}
	s := &Spill{file: file, path: path}
	if err := os.Remove(path); err == nil || errors.Is(err, fs.ErrNotExist) {
		s.path = ""
	}
	rand.Read(s.salt[:]) // never fails
	s.sum = newBodySum(s.salt[:])
	return s, nil
}

// Write adds to the body. After an error the spill is of no use and can only
// be closed.
func (s *Spill) Write(p []byte) (int, error) {
	n, err := s.file.WriteAt(p, s.size)
	s.sum.Write(p[:n])
	s.size += int64(n)
	if err != nil {
		return n, fmt.Errorf("write a body aside; see that the disk has room: %w", err)
	}
	return n, nil
}

// Size is how many bytes were written.
func (s *Spill) Size() int64 { return s.size }

// Hash is the hash over the spill's salt and what was written so far.
func (s *Spill) Hash() entry.Hash { return s.sum.hash() }

// Close throws the spill away.
func (s *Spill) Close() error {
	err := s.file.Close()
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	if s.path != "" {
		err = errors.Join(err, os.Remove(s.path))
	}
	if err != nil {
		return fmt.Errorf("throw away a body that was written aside: %w", err)
	}
	return nil
}

func (s *Spill) readAt(p []byte, at int64) error {
	if _, err := s.file.ReadAt(p, at); err != nil {
		return fmt.Errorf("read a body that was written aside: %w", err)
	}
	return nil
}

// sweepSpills removes what recorders that were killed left behind. The file
// of a living one has no name, or cannot be removed, so that none is lost.
func sweepSpills(f folder) {
	files, err := os.ReadDir(f.path)
	if err != nil {
		return // whoever needs the home will be told
	}
	for _, file := range files {
		if name := file.Name(); strings.HasPrefix(name, spillPrefix) && strings.HasSuffix(name, spillSuffix) {
			os.Remove(filepath.Join(f.path, name))
		}
	}
}
