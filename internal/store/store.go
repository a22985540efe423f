package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/value"
)

// ErrNotFound says that there is no such thing in the workspace. Whether there is
// one in another workspace cannot be told from it.
var ErrNotFound = errors.New("not found")

// UnavailableError says that the database cannot be reached or did not answer.
// After a commit that failed so, the unit may have been kept.
type UnavailableError struct{ Err error }

func (e *UnavailableError) Error() string {
	return fmt.Sprintf("the database does not answer: %v", e.Err)
}
func (e *UnavailableError) Unwrap() error { return e.Err }

// Store keeps all workspaces.
type Store interface {
	// Do runs a unit of work and commits it if fn returns nil. On return without an
	// error everything is durable; on an error of fn nothing is kept and that error
	// is returned as it is. fn may run more than once (on a conflict with another
	// unit), and must start anew each time. Other errors: [UnavailableError],
	// context errors.
	Do(ctx context.Context, w access.WorkspaceID, fn func(Tx) error) error
	// View runs fn on one snapshot. Writing in it is an error of the program.
	View(ctx context.Context, w access.WorkspaceID, fn func(Tx) error) error
	// Directory is what is asked before a workspace is known.
	Directory() Directory
	// Woken receives workspaces for which wakes may be due, sooner than a look at
	// all of them would. A signal may be lost; it is bounded and never closed
	// before Close.
	Woken() <-chan access.WorkspaceID
	// Ping says whether a unit could run now.
	Ping(ctx context.Context) error
	// Name is "sqlite" or "postgres", for logs and metrics.
	Name() string
	Close() error
}

// Tx is a unit of work in one workspace. What it reads is one snapshot, but for
// what it locks. Writes return nothing: they are sent at the latest with the
// commit, and one that fails makes Do fail. A unit is for one goroutine, and its
// context is the one given to Do. Slices and maps that are given or returned are
// not changed by either side.
type Tx interface {
	// Now is the time of the unit: the database's clock where it has one. It never
	// goes back within a process.
	Now() value.Instant
	Workspace() access.WorkspaceID
	// Ask answers questions of [docket.BuildAll] in one round trip where the
	// database allows it.
	Ask(questions []*docket.Question) error

	Actions
	Verdicts
	Queue
	Evidence
	Contracts
	Keys
	Members
	Trail
	Ledger
}

// Cursor is where a list goes on: opaque to whoever holds it, empty for the start
// and after the end.
type Cursor string

// Page is a part of a list.
type Page struct {
	After Cursor
	Limit int // at least 1
}

// CursorError says that a cursor is none of this list, or of this list under
// another filter.
type CursorError struct{ List string }

func (e *CursorError) Error() string {
	return fmt.Sprintf("the cursor is none of this list of %s with this filter", e.List)
}
