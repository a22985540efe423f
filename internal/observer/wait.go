package observer

import (
	"context"
	"errors"
	"sync"

	"github.com/deed-dev/deed/internal/wire"
)

// ErrNotRecording says that nothing can be made durable, because nothing is
// recorded.
var ErrNotRecording = errors.New("nothing is recorded")

// AwaitDurable returns when everything up to place is in the journal and
// survives a loss of power. It fails when ctx ends or nothing is recorded.
func (o *Observer) AwaitDurable(ctx context.Context, place wire.Place) error {
	seen := o.ahead.add(place)
	o.buf.Kick()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-seen:
	}
	if o.journal == nil {
		return ErrNotRecording
	}
	return o.journal.Sync(ctx)
}

// waiters are those who wait for the observer to reach a place.
type waiters struct {
	mu    sync.Mutex
	last  wire.Place
	ended bool
	list  []waiter
	used  bool
}

// isUsed says whether anybody has ever waited.
func (w *waiters) isUsed() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.used
}

type waiter struct {
	place wire.Place
	seen  chan struct{}
}

func (w *waiters) add(place wire.Place) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.used = true
	seen := make(chan struct{})
	if w.ended || place <= w.last {
		close(seen)
		return seen
	}
	w.list = append(w.list, waiter{place, seen})
	return seen
}

func (w *waiters) reached(place wire.Place) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = place
	kept := w.list[:0]
	for _, x := range w.list {
		if x.place > place && !w.ended {
			kept = append(kept, x)
			continue
		}
		close(x.seen)
	}
	clear(w.list[len(kept):])
	w.list = kept
}

// end lets everybody go: nothing more will be reached.
func (w *waiters) end() {
	w.mu.Lock()
	w.ended = true
	last := w.last
	w.mu.Unlock()
	w.reached(last)
}
