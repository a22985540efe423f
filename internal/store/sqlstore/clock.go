package sqlstore

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/value"
)

// MaxBehind is how far the clock may be behind what was written before, so that the
// time of units stands still until the clock has come there.
const MaxBehind = 5 * time.Minute

const (
	// keepEvery is how often the latest time is kept where its rows cannot be read at
	// the start.
	keepEvery = time.Minute
	// keepTakes is how long that may take.
	keepTakes = 5 * time.Second
)

// ClockError says that the clock is further behind what was written than [MaxBehind].
// What is received by such a clock would come before what was received already: under
// contracts that were not active then.
type ClockError struct{ Clock, Written value.Instant }

func (e *ClockError) Error() string {
	return fmt.Sprintf("the clock says %s, which is %s before the latest time that was written, %s",
		e.Clock, e.Behind(), e.Written)
}

// Behind is how far the clock is behind, in whole seconds.
func (e *ClockError) Behind() time.Duration { return e.Written.Sub(e.Clock).Truncate(time.Second) }

// WhenClockBehind asks whether to go on from a clock that is behind: f returns nil to
// do so, or the error to open the store with. Without it nothing is opened.
func WhenClockBehind(f func(*ClockError) error) Option {
	return func(o *options) { o.behind = f }
}

// resume has time go on from what was written when the driver was opened.
func (s *Store) resume() error {
	written, clock := s.driver.Times()
	if s.options.clock != nil {
		clock = s.options.clock()
	} else if clock == 0 {
		clock = value.FromTime(time.Now())
	}
	behind := written.Sub(clock)
	switch {
	case written == 0 || behind <= 0:
		return nil
	case behind <= MaxBehind:
		s.latest = written
		return nil
	}
	problem := &ClockError{Clock: clock, Written: written}
	if s.options.behind == nil {
		return problem
	}
	return s.options.behind(problem)
}

// keepTime writes down how late it is, where no row of a workspace can be read before
// one is known. It is the time of whoever wrote last, so that a clock which was ahead
// by mistake is forgotten once it was put right.
var keepTime = directory("keep_time", `
	INSERT INTO turns (name, taken) VALUES ('`+TimeTurn+`', $1) ON CONFLICT (name) DO UPDATE SET taken = excluded.taken`)

// TimeTurn is the row of the table turns that has the latest time that was written.
const TimeTurn = "time"

// timekeeper keeps the latest time of units that wrote, outside of them: a row that
// every unit changes would have them wait for each other.
type timekeeper struct {
	store *Store
	stop  context.CancelFunc
	done  sync.WaitGroup
	due   chan struct{} // holds one if it is time

	mu            sync.Mutex
	written, kept value.Instant
}

func newTimekeeper(s *Store) *timekeeper {
	ctx, stop := context.WithCancel(context.Background())
	k := &timekeeper{store: s, stop: stop, due: make(chan struct{}, 1)}
	k.done.Go(func() { k.loop(ctx) })
	return k
}

// wrote says that a unit of a workspace was committed that began at a time.
func (k *timekeeper) wrote(at value.Instant) {
	k.mu.Lock()
	k.written = max(k.written, at)
	late := k.written.Sub(k.kept) >= keepEvery
	k.mu.Unlock()
	if !late {
		return
	}
	select {
	case k.due <- struct{}{}:
	default:
	}
}

func (k *timekeeper) loop(ctx context.Context) {
	for {
		select {
		case <-k.due:
			k.keep(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// keep writes the time down. Where it does not work out, it is done again after the
// next unit.
func (k *timekeeper) keep(ctx context.Context) {
	k.mu.Lock()
	at, before := k.written, k.kept
	k.mu.Unlock()
	if at == before {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, keepTakes)
	defer cancel()
	if err := (&catalogue{store: k.store}).write(ctx, keepTime, at); err != nil {
		return
	}
	k.mu.Lock()
	k.kept = at
	k.mu.Unlock()
}

func (k *timekeeper) close() {
	k.stop()
	k.done.Wait()
	k.keep(context.Background())
}
