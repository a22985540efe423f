// Package faulty is a store that fails where a test says so, over one that works:
// before a commit, so that nothing was kept, after it, so that everything was and
// only the answer is lost, or not at all, but with the unit's function run twice.
// Whoever uses a store has to come out right in all three cases.
//
// It is for tests. It invents no kind of failure that the interface does not name,
// and it never keeps a part of a unit.
//
// # Life of a lost answer
//
// A test declares an action over a store whose second writing unit fails with
// [Kept]. The service's unit commits, and the service is told that the database
// does not answer; it tells its client so. The client sends the declaration again,
// the third unit finds the action, and the test finds one action, one verdict and
// one count. To go through all units, a test runs its story once with [Never],
// asks [Store.Units] how many there were, and then fails one after the other.
package faulty

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

// Fault is what happens to a unit.
type Fault uint8

// The faults. The zero Fault is none.
const (
	None Fault = iota
	// Lost fails before the commit: the function has run, and nothing was kept.
	Lost
	// Kept fails after the commit: everything was kept, and the caller is told that
	// the database does not answer.
	Kept
	// Twice runs the function, keeps nothing, and runs it again, as after a conflict.
	// A unit of the directory, which has no function, runs as ever.
	Twice
)

// Unit is a unit that is about to run.
type Unit struct {
	Number    int // of those that write, from 1 in the order in which they begin; 0 for one that reads
	Workspace access.WorkspaceID
	Directory bool // one of the directory's methods
}

// Plan says what happens to a unit. Units run at the same time ask it at the same
// time.
type Plan func(Unit) Fault

// Never is the plan in which nothing fails.
func Never(Unit) Fault { return None }

// Always is the plan in which each unit that writes has the same fault.
func Always(f Fault) Plan {
	return func(u Unit) Fault {
		if u.Number == 0 {
			return None
		}
		return f
	}
}

// Nth is the plan in which the nth unit that writes has a fault, and no other.
func Nth(n int, f Fault) Plan {
	return func(u Unit) Fault {
		if u.Number != n {
			return None
		}
		return f
	}
}

// errInjected is why a unit fails.
var errInjected = errors.New("a test wanted it to fail")

// errAgain ends the first run of a function that runs twice.
var errAgain = errors.New("run again")

// unavailable is what a caller is told.
func unavailable() error { return &store.UnavailableError{Err: errInjected} }

// Store fails by a plan.
type Store struct {
	store.Store
	plan  Plan
	units atomic.Int64
}

var _ store.Store = (*Store)(nil)

// New makes a store that works as the given one and fails by a plan.
func New(works store.Store, plan Plan) *Store { return &Store{Store: works, plan: plan} }

// Units is how many units that write have begun.
func (s *Store) Units() int { return int(s.units.Load()) }

// fault numbers a unit that writes and asks the plan.
func (s *Store) fault(w access.WorkspaceID, directory bool) Fault {
	return s.plan(Unit{Number: int(s.units.Add(1)), Workspace: w, Directory: directory})
}

// Do implements [store.Store].
func (s *Store) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	fault := s.fault(w, false)
	if fault == Lost || fault == Twice {
		err := s.Store.Do(ctx, w, func(tx store.Tx) error {
			if err := fn(tx); err != nil {
				return err
			}
			return errAgain
		})
		switch {
		case !errors.Is(err, errAgain):
			return err
		case fault == Lost:
			return unavailable()
		}
	}
	err := s.Store.Do(ctx, w, fn)
	if err == nil && fault == Kept {
		return unavailable()
	}
	return err
}

// View implements [store.Store]. Any fault makes it fail but Twice, which runs the
// function twice.
func (s *Store) View(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	switch s.plan(Unit{Workspace: w}) {
	case Lost, Kept:
		return unavailable()
	case Twice:
		if err := s.Store.View(ctx, w, fn); err != nil {
			return err
		}
	}
	return s.Store.View(ctx, w, fn)
}

// Directory implements [store.Store].
func (s *Store) Directory() store.Directory { return &directory{Directory: s.Store.Directory(), of: s} }
