package sqlstore

import (
	"context"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// Driver is a database: it opens sessions and sends what it is given, and knows
// nothing of what that means.
type Driver interface {
	Name() string
	Dialect() Dialect
	// Serial says that sessions that write run one after the other, so that none
	// of them misses what another one brings.
	Serial() bool
	// Begin opens a session. It may send nothing yet. Errors as those of [Session].
	Begin(ctx context.Context, o SessionOptions) (Session, error)
	// Tell says to the other processes on the database that wakes are due.
	Tell(ctx context.Context, workspaces []access.WorkspaceID) error
	// Told receives what other processes told. It is nil where there are none.
	Told() <-chan access.WorkspaceID
	Ping(ctx context.Context) error
	// Times are the latest time that was written before the database was opened (zero:
	// none that is known), and its clock then (zero: it has none of its own).
	Times() (written, clock value.Instant)
	Close() error
}

// SessionOptions say what a session is for.
type SessionOptions struct {
	Workspace access.WorkspaceID // empty for the directory
	ReadOnly  bool
	// Elevated lets the session delete what is otherwise kept for ever: only to
	// remove a workspace as a whole.
	Elevated bool
	// Overview lets the session see of all workspaces in which of them something waits,
	// and nothing else. Error of Begin where there is no such thing:
	// [store.ErrNoOverview].
	Overview bool
}

// Session is one transaction on one snapshot. Its errors are a [CallError], which
// holds one of the kinds below.
type Session interface {
	// Send runs calls in their order, in one round trip where the database allows
	// it. After an error nothing more can be sent.
	Send(ctx context.Context, calls []Call) error
	// Commit runs calls and commits, in one round trip likewise. After it, whatever
	// it returns, the session is over.
	Commit(ctx context.Context, calls []Call) error
	// Rollback ends a session that was not committed.
	Rollback()
	// Turn has the session wait for its turn before it takes its snapshot. It is called
	// before anything is sent, and only where sessions that write overlap.
	Turn(t store.Turn)
	// Now is the database's time when the session began; zero where it has no clock
	// of its own. It is known after the first Send.
	Now() value.Instant
}

// Call is one statement with its values.
type Call struct {
	Name string
	SQL  string
	// Args are string, int64, bool, []byte, []string and []int64.
	Args []any
	// Rows, if there are any, are the values of the parameters after Args, in
	// Columns. The statement runs for each of them, or once with lists.
	Rows    [][]any
	Columns []Column
	// Row is called for each row of the result; nil where none is wanted.
	Row func(Row) error
}

// Row reads the columns of a row from left to right. A column that is not what it
// is read as is an error of the call.
type Row interface {
	Text() string
	Int() int64
	Bool() bool
	Bytes() []byte // a copy; nil if it is empty
}

// CallError says which call failed.
type CallError struct {
	Call string
	Err  error // a ConflictError, UniqueError, store.UnavailableError, or another
}

func (e *CallError) Error() string { return "run " + e.Call + ": " + e.Err.Error() }
func (e *CallError) Unwrap() error { return e.Err }

// ConflictError says that another session was faster, and that the same again may
// succeed.
type ConflictError struct{ Err error }

func (e *ConflictError) Error() string { return "in conflict with another unit: " + e.Err.Error() }
func (e *ConflictError) Unwrap() error { return e.Err }

// UniqueError says that a unique key is there already.
type UniqueError struct{ Err error }

func (e *UniqueError) Error() string { return "is there already: " + e.Err.Error() }
func (e *UniqueError) Unwrap() error { return e.Err }
