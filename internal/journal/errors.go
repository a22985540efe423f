package journal

import (
	"errors"
	"fmt"
	"time"
)

var (
	// ErrNoJournal says that nothing was ever recorded in a home.
	ErrNoJournal = errors.New("no journal here yet; record something first: deed run -- <server command>")
	// ErrNotFound says that the journal has no such entry.
	ErrNotFound = errors.New("the journal has no such entry")
	// ErrClosed says that the journal was closed before.
	ErrClosed = errors.New("the journal is closed")
)

// HomeError says that a home cannot be used.
type HomeError struct {
	Home string
	Err  error
}

func (e *HomeError) Error() string {
	return fmt.Sprintf("home %s cannot be used; set DEED_HOME to a folder that you can write: %v", e.Home, e.Err)
}
func (e *HomeError) Unwrap() error { return e.Err }

// NetworkHomeError says that a home lies on a network file system, where
// neither file locks nor the database can be trusted.
type NetworkHomeError struct {
	Home, System string
}

func (e *NetworkHomeError) Error() string {
	return fmt.Sprintf("home %s is on a network file system (%s), where a journal can be damaged; set DEED_HOME to a local folder",
		e.Home, e.System)
}

// NewerFormatError says that a newer deed has written here.
type NewerFormatError struct {
	Path    string
	Version int
}

func (e *NewerFormatError) Error() string {
	return fmt.Sprintf("%s has format %d and this deed knows up to %d; update deed, or set DEED_HOME to another folder",
		e.Path, e.Version, formatVersion)
}

// CorruptError says that the file is there and is not a journal's database.
type CorruptError struct {
	Path string
	Err  error
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s is damaged; restore it from a backup, or move it aside to begin a new journal: %v", e.Path, e.Err)
}
func (e *CorruptError) Unwrap() error { return e.Err }

// KeyMissingError says that a journal is there and its signing key is not.
type KeyMissingError struct{ Path string }

func (e *KeyMissingError) Error() string {
	return fmt.Sprintf("key file %s is missing, and the journal beside it cannot go on without it; restore it, or move the journal aside to begin a new one",
		e.Path)
}

// AlteredError says that the journal's last checkpoint is not one that its
// key signed. Nothing is added to such a log: signing its new end would make
// what somebody else wrote look like ours.
type AlteredError struct {
	Path string
	Err  error
}

func (e *AlteredError) Error() string {
	return fmt.Sprintf("%s was altered by another program; see deed verify, then move it aside to begin a new journal: %v", e.Path, e.Err)
}
func (e *AlteredError) Unwrap() error { return e.Err }

// UnwrittenError says what a Close that ran out of time could not do.
type UnwrittenError struct {
	Entries   int   // still queued; they are lost if the program ends now
	Unflushed int64 // committed, and lost only if the power fails now
	Err       error // why, as far as is known
}

func (e *UnwrittenError) Error() string {
	if e.Entries == 0 {
		return fmt.Sprintf("the last %d entries of the journal would not survive a loss of power yet: %v", e.Unflushed, e.Err)
	}
	return fmt.Sprintf("%d entries were not written to the journal: %v", e.Entries, e.Err)
}
func (e *UnwrittenError) Unwrap() error { return e.Err }

// LockedError says that another program keeps everybody else from writing.
// Recorders hold the lock for milliseconds.
type LockedError struct {
	Path   string // of the lock file
	Waited time.Duration
}

func (e *LockedError) Error() string {
	return fmt.Sprintf("another program has held %s for %v; end that program, or set DEED_HOME to another folder",
		e.Path, max(time.Millisecond, e.Waited.Round(time.Millisecond)))
}

// errSlow is the reason when nothing failed and there was not time enough.
var errSlow = errors.New("the disk takes its time; see what else keeps it busy, or set DEED_HOME to a folder on a faster one")
