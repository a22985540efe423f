package settlement

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
)

const (
	// sweepEvery is how often workspaces are looked at that nobody signalled: for what
	// became due by itself, and for signals that were lost.
	sweepEvery = time.Second
	// sweepMost is how many of them are looked at each time, where each has to be asked.
	sweepMost = 100
	// pause is how long to wait after the database did not answer.
	pause = time.Second
)

// Run evaluates what is woken in all workspaces until the context ends, and returns
// when all its units have. Errors are told to [Options.OnFailure] and tried again.
func (e *Evaluator) Run(ctx context.Context) {
	waiting := &agenda{waits: map[access.WorkspaceID]bool{}, busy: map[access.WorkspaceID]bool{}, more: make(chan struct{}, 1)}
	var workers sync.WaitGroup
	for range e.options.Workers {
		workers.Go(func() { e.work(ctx, waiting) })
	}
	defer workers.Wait()
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for from := 0; ; {
		select {
		case <-ctx.Done():
			return
		case w, open := <-e.store.Woken():
			if !open {
				return
			}
			waiting.add(w)
		case <-ticker.C:
			from = e.sweep(ctx, waiting, from)
		}
	}
}

// sweep puts the workspaces on the agenda in which something is due. Where each has to
// be asked, it puts some on it, from one on, and says where the next sweep begins.
func (e *Evaluator) sweep(ctx context.Context, waiting *agenda, from int) int {
	due, err := e.store.Directory().Due(ctx)
	switch {
	case err == nil:
		for _, one := range due {
			waiting.add(one.Workspace)
		}
		return 0
	case !errors.Is(err, store.ErrNoOverview):
		if ctx.Err() == nil {
			e.options.OnFailure("", "", err)
		}
		return from
	}
	all, err := e.store.Directory().Workspaces(ctx)
	if err != nil {
		if ctx.Err() == nil {
			e.options.OnFailure("", "", fmt.Errorf("list the workspaces to look for what is due: %w", err))
		}
		return from
	}
	for range min(sweepMost, len(all)) {
		from %= len(all)
		waiting.add(all[from].ID)
		from++
	}
	return from
}

// work takes workspaces from the agenda, one after the other.
func (e *Evaluator) work(ctx context.Context, waiting *agenda) {
	for {
		w, ok := waiting.next(ctx)
		if !ok {
			return
		}
		more, err := e.attend(ctx, w)
		waiting.done(w)
		if more {
			waiting.add(w)
		}
		if err != nil && ctx.Err() == nil {
			e.options.OnFailure(w, "", err)
			waiting.add(w)
			rest(ctx, pause)
		}
	}
}

// attend runs a unit in a workspace if something is due. It says whether there may
// be more, so that workspaces take turns.
func (e *Evaluator) attend(ctx context.Context, w access.WorkspaceID) (more bool, err error) {
	due := false
	err = e.store.View(ctx, w, func(tx store.Tx) error {
		at, err := tx.NextDue()
		due = at != 0 && at <= tx.Now()
		return err
	})
	if err != nil || !due {
		return false, err
	}
	done, err := e.step(ctx, w)
	return done.Wakes > 0, err
}

func rest(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// agenda are the workspaces in which something may be due, each once. A workspace is
// attended by one worker at a time: what two of them evaluate at once they cannot see
// of each other, so that they wake it for one another again and wait for each other's
// locks, which costs more than it brings.
type agenda struct {
	mu    sync.Mutex
	waits map[access.WorkspaceID]bool
	busy  map[access.WorkspaceID]bool // attended; what waits too is queued afterwards
	queue []access.WorkspaceID
	more  chan struct{} // has something if the queue may have
}

func (a *agenda) add(w access.WorkspaceID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waits[w] {
		return
	}
	a.waits[w] = true
	if a.busy[w] {
		return
	}
	a.queue = append(a.queue, w)
	a.signal()
}

// done lets a workspace be attended again.
func (a *agenda) done(w access.WorkspaceID) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.busy, w)
	if a.waits[w] {
		a.queue = append(a.queue, w)
		a.signal()
	}
}

func (a *agenda) signal() {
	select {
	case a.more <- struct{}{}:
	default:
	}
}

// next waits for a workspace. ok is false when the context has ended.
func (a *agenda) next(ctx context.Context) (w access.WorkspaceID, ok bool) {
	for {
		select {
		case <-ctx.Done():
			return "", false
		case <-a.more:
		}
		if w, ok = a.take(); ok {
			return w, true
		}
	}
}

func (a *agenda) take() (w access.WorkspaceID, ok bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.queue) == 0 {
		return "", false
	}
	w, a.queue = a.queue[0], a.queue[1:]
	delete(a.waits, w)
	a.busy[w] = true
	if len(a.queue) > 0 {
		a.signal() // for the next worker
	}
	return w, true
}
