package sqlstore

import (
	"context"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/value"
)

const (
	// maxRows is how many rows may say one sum before they are replaced by one, and how
	// many entries of a window may be read one by one where there could be sums of them.
	maxRows = 16
	// sumAtOnce is how many entries of a group one unit adds up, but for those of a last
	// span, and groupsAtOnce how many groups.
	sumAtOnce    = 5000
	groupsAtOnce = 32
	// maxCrowds is how many sums wait to be made smaller; whoever reads one that is
	// left out says so again.
	maxCrowds = 256
	// reliefTakes is how long it may take.
	reliefTakes = 10 * time.Second
)

// crowd is a sum that many rows stand for, or a limit's group many of whose entries are in
// no sum.
type crowd struct {
	workspace access.WorkspaceID
	sum       sumKey // of a limit: what names the span, or the group
	until     int64  // of a group: before what time its entries are to be added up
	source    string // of a source's tally
}

// reliever replaces many rows that say one sum by one row that says the same, and adds
// up the entries of groups that have many, outside of the units that read or write them.
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
		sums, groups := apartBy(crowds)
		for workspace, some := range groups {
			r.sumUp(ctx, workspace, some)
		}
		for workspace, some := range sums {
			r.unit(ctx, workspace, func(u *unit) error { return u.relieve(some) })
		}
	}
}

// unit runs a unit. Where it does not work out, everything is as it was, and still right.
func (r *reliever) unit(ctx context.Context, w access.WorkspaceID, fn func(*unit) error) (done bool) {
	ctx, cancel := context.WithTimeout(ctx, reliefTakes)
	defer cancel()
	return r.store.run(ctx, SessionOptions{Workspace: w}, fn) == nil
}

// sumUp adds groups up, a few at a time: whoever declares waits for each unit.
func (r *reliever) sumUp(ctx context.Context, w access.WorkspaceID, groups []crowd) {
	for len(groups) > 0 {
		some := groups[:min(groupsAtOnce, len(groups))]
		var more []crowd
		if !r.unit(ctx, w, func(u *unit) (err error) {
			more, err = u.sumUp(some)
			return err
		}) {
			return
		}
		groups = append(more, groups[len(some):]...)
	}
}

// apartBy parts crowds by their workspaces, and those that are groups from those that are
// sums. Of what is said of a group the latest time counts.
func apartBy(crowds map[crowd]bool) (sums, groups map[access.WorkspaceID][]crowd) {
	sums, groups = map[access.WorkspaceID][]crowd{}, map[access.WorkspaceID][]crowd{}
	latest := map[crowd]int64{}
	for c := range crowds {
		if c.until == 0 {
			sums[c.workspace] = append(sums[c.workspace], c)
			continue
		}
		group := c
		group.until = 0
		latest[group] = max(latest[group], c.until)
	}
	for c, until := range latest {
		c.until = until
		groups[c.workspace] = append(groups[c.workspace], c)
	}
	return sums, groups
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
