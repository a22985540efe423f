package sqlstore

import (
	"context"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/value"
)

const (
	// maxRows is how many rows may say one sum before they are replaced by one.
	maxRows = 16
	// maxCrowds is how many sums wait to be made smaller; whoever reads one that is
	// left out says so again.
	maxCrowds = 256
	// reliefTakes is how long it may take.
	reliefTakes = 10 * time.Second
)

// crowd is a sum that many rows stand for.
type crowd struct {
	workspace access.WorkspaceID
	sum       sumKey // of a limit: what names the span
	source    string // of a source's tally
}

// reliever replaces many rows that say one sum by one row that says the same,
// outside of the units that read or write them.
type reliever struct {
	store *Store
	stop  context.CancelFunc
	done  sync.WaitGroup

	mu      sync.Mutex
	waiting map[crowd]bool
	added   chan struct{} // holds one if there are some
}

func newReliever(s *Store) *reliever {
	ctx, stop := context.WithCancel(context.Background())
	r := &reliever{store: s, stop: stop, waiting: map[crowd]bool{}, added: make(chan struct{}, 1)}
	r.done.Go(func() { r.loop(ctx) })
	return r
}

func (r *reliever) add(crowds []crowd) {
	if len(crowds) == 0 {
		return
	}
	r.mu.Lock()
	for _, c := range crowds {
		if len(r.waiting) < maxCrowds {
			r.waiting[c] = true
		}
	}
	r.mu.Unlock()
	select {
	case r.added <- struct{}{}:
	default:
	}
}

func (r *reliever) loop(ctx context.Context) {
	for {
		select {
		case <-r.added:
		case <-ctx.Done():
			return
		}
		r.mu.Lock()
		crowds := r.waiting
		r.waiting = map[crowd]bool{}
		r.mu.Unlock()
		for _, c := range together(crowds) {
			one, cancel := context.WithTimeout(ctx, reliefTakes)
			// Where it does not work out, everything is as it was, and still right.
			_ = r.store.run(one, SessionOptions{Workspace: c[0].workspace}, func(u *unit) error { return u.relieve(c) })
			cancel()
		}
	}
}

// together puts the crowds of one workspace together.
func together(crowds map[crowd]bool) map[access.WorkspaceID][]crowd {
	all := map[access.WorkspaceID][]crowd{}
	for c := range crowds {
		all[c.workspace] = append(all[c.workspace], c)
	}
	return all
}

func (r *reliever) close() {
	r.stop()
	r.done.Wait()
}

// relieve takes rows out and adds what they come to.
func (u *unit) relieve(crowds []crowd) error {
	sums := &query{statement: takeLimitSums, row: func(r Row) error {
		k, s, err := readSum(r)
		u.late.sum(k).add(s.entries, s.amount, s.received)
		return err
	}}
	tallies := &query{statement: takeTallies, row: func(r Row) error {
		u.late.tally(r.Text()).add(r.Int(), value.Instant(r.Int()))
		return nil
	}}
	for _, c := range crowds {
		if c.source != "" {
			tallies.keys = append(tallies.keys, []any{c.source})
		} else {
			sums.keys = append(sums.keys, []any{c.sum.limit, c.sum.group, c.sum.width, c.sum.bucket})
		}
	}
	return u.ask(sums, tallies)
}
