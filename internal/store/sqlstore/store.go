package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// maxRuns is how often a unit runs at most. Conflicts are between a few units, and
// each time at least one of them goes through.
const maxRuns = 24

// maxPause is the longest wait before a unit runs again.
const maxPause = 100 * time.Millisecond

// Store is [store.Store] over a driver.
type Store struct {
	driver  Driver
	options options
	texts   *compiled
	signal  *signaller
	relief  *reliever
	keeper  *timekeeper // nil where what was written can be read at the start

	mu     sync.Mutex
	latest value.Instant // the latest time that a unit had

	closing sync.Once
	closed  error
}

var _ store.Store = (*Store)(nil)

type options struct {
	clock  func() value.Instant
	behind func(*ClockError) error
}

// Option changes how a store works.
type Option func(*options)

// WithClock makes units take their time from a clock instead of the database.
func WithClock(clock func() value.Instant) Option {
	return func(o *options) { o.clock = clock }
}

// New makes a store of a driver whose tables are there. It owns the driver from
// now on. It refuses to begin with a statement that does not keep to its workspace.
// Errors: a [ClockError], and those of [WhenClockBehind].
func New(d Driver, o ...Option) (*Store, error) {
	for _, s := range book {
		if err := s.check(); err != nil {
			return nil, fmt.Errorf("open the store: %w", err)
		}
	}
	s := &Store{driver: d, texts: newCompiled()}
	for _, set := range o {
		set(&s.options)
	}
	if err := s.resume(); err != nil {
		return nil, err
	}
	s.signal, s.relief = newSignaller(d), newReliever(s)
	if d.Told() != nil { // other processes, and so more than one clock
		s.keeper = newTimekeeper(s)
	}
	return s, nil
}

// Name implements [store.Store].
func (s *Store) Name() string { return s.driver.Name() }

// Ping implements [store.Store].
func (s *Store) Ping(ctx context.Context) error { return s.driver.Ping(ctx) }

// Woken implements [store.Store].
func (s *Store) Woken() <-chan access.WorkspaceID { return s.signal.woken }

// Close implements [store.Store]. Units that are running must have ended.
func (s *Store) Close() error {
	s.closing.Do(func() {
		s.relief.close()
		if s.keeper != nil {
			s.keeper.close()
		}
		s.signal.close()
		s.closed = s.driver.Close()
	})
	return s.closed
}

// Directory implements [store.Store].
func (s *Store) Directory() store.Directory { return &catalogue{store: s} }

// Do implements [store.Store].
func (s *Store) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	if w == "" {
		return errors.New("a unit of work needs a workspace")
	}
	return s.run(ctx, SessionOptions{Workspace: w}, func(u *unit) error { return fn(u) })
}

// View implements [store.Store].
func (s *Store) View(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	if w == "" {
		return errors.New("a view needs a workspace")
	}
	return s.run(ctx, SessionOptions{Workspace: w, ReadOnly: true}, func(u *unit) error { return fn(u) })
}

// run runs a unit until it goes through, fails, or has been in conflict too often.
func (s *Store) run(ctx context.Context, o SessionOptions, fn func(*unit) error) error {
	var conflict error
	for n := range maxRuns {
		if n > 1 {
			if err := pause(ctx, n); err != nil {
				return err
			}
		}
		err, again := s.once(ctx, o, fn)
		if !again {
			return err
		}
		conflict = err
	}
	return &store.UnavailableError{Err: fmt.Errorf("a unit ran %d times and was in conflict each time: %w", maxRuns, conflict)}
}

// once runs a unit once and says whether it is to run again.
func (s *Store) once(ctx context.Context, o SessionOptions, fn func(*unit) error) (err error, again bool) {
	session, err := s.driver.Begin(ctx, o)
	if err != nil {
		return err, false
	}
	u := &unit{
		store: s, ctx: ctx, session: session, workspace: o.Workspace, readOnly: o.ReadOnly,
		rows: map[*statement]int{},
	}
	over := false
	defer func() {
		if !over { // fn panicked
			session.Rollback()
		}
	}()
	err = fn(u)
	over = true
	if err != nil || u.failed != nil {
		session.Rollback()
		if u.failed == nil {
			return err, false
		}
		return u.outcome()
	}
	if u.commit() != nil {
		return u.outcome()
	}
	if u.due {
		s.signal.wake(u.workspace)
	}
	s.relief.add(u.crowded)
	if s.keeper != nil && !u.readOnly && u.workspace != "" {
		s.keeper.wrote(u.at)
	}
	return nil, false
}

// outcome says what the error of a session means for its unit.
func (u *unit) outcome() (err error, again bool) {
	if _, is := errors.AsType[*ConflictError](u.failed); is {
		return u.failed, true
	}
	if _, is := errors.AsType[*UniqueError](u.failed); is {
		if call, is := errors.AsType[*CallError](u.failed); is {
			for _, s := range book {
				if s.name == call.Call && s.unique {
					return store.ErrTaken, false
				}
			}
		}
		return u.failed, true
	}
	if err := u.ctx.Err(); err != nil {
		return err, false
	}
	return u.failed, false
}

// pause waits before the n-th run, longer each time, and never all units for the
// same time.
func pause(ctx context.Context, n int) error {
	timer := time.NewTimer(rand.N(min(time.Millisecond<<min(n, 10), maxPause)))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// now is the time of a unit that began at a database's time, never before that of
// another unit of this process, nor what was written before it.
func (s *Store) now(at value.Instant) value.Instant {
	switch {
	case s.options.clock != nil:
		at = s.options.clock()
	case at == 0:
		at = value.FromTime(time.Now())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.latest = max(s.latest, at)
	return s.latest
}
