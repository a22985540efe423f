package settlement

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/store"
)

// Options are what an [Evaluator] needs beside a store. The zero value works.
type Options struct {
	Batch   int // wakes that one unit claims; 0 is 200
	Workers int // units at the same time; 0 is 1
	// OnFailure is told of an action, or of a whole unit if ref is empty, that could
	// not be evaluated. It will be tried again, later each time.
	OnFailure func(w access.WorkspaceID, ref store.Ref, err error)
	// OnBegin is told that a unit begins. It returns the context that the unit runs
	// in, and what is told how it ended: committed, or with an error.
	OnBegin func(ctx context.Context, w access.WorkspaceID) (context.Context, func(done Done, err error))
	// OnUnit is told what a unit did, after it was committed.
	OnUnit func(w access.WorkspaceID, done Done)
}

// Done is what a unit did.
type Done struct {
	Wakes     int // claimed
	Evaluated int
	Kept      int // verdicts that said something else than before
	Settled   int // of these, those that settled or were revised
	Failed    int // actions that could not be evaluated
	// Lag is how long the longest due wake had been due.
	Lag time.Duration
}

// Evaluator evaluates what is woken in all workspaces of a store. Any number of them
// may run on one store.
type Evaluator struct {
	store    store.Store
	options  Options
	versions *Versions
	troubles troubles
	strides  strides
}

// NewEvaluator makes one that does nothing until it is run.
func NewEvaluator(s store.Store, o Options) *Evaluator {
	if o.Batch <= 0 {
		o.Batch = 200
	}
	if o.OnFailure == nil {
		o.OnFailure = func(access.WorkspaceID, store.Ref, error) {}
	}
	if o.OnBegin == nil {
		o.OnBegin = func(ctx context.Context, _ access.WorkspaceID) (context.Context, func(Done, error)) {
			return ctx, func(Done, error) {}
		}
	}
	if o.OnUnit == nil {
		o.OnUnit = func(access.WorkspaceID, Done) {}
	}
	o.Workers = max(o.Workers, 1)
	return &Evaluator{
		store: s, options: o, versions: NewVersions(), troubles: troubles{tries: map[store.Wake]int{}},
		strides: strides{most: o.Batch, kept: map[access.WorkspaceID]int{}},
	}
}

// Drain evaluates until nothing is due in a workspace. Errors: those of
// [store.Store].
func (e *Evaluator) Drain(ctx context.Context, w access.WorkspaceID) error {
	for {
		done, err := e.step(ctx, w)
		if err != nil || done.Wakes == 0 {
			return err
		}
	}
}

// step runs one unit. One that fails is tried with fewer wakes, so that what makes it
// fail is found, and put off alone.
func (e *Evaluator) step(ctx context.Context, w access.WorkspaceID) (Done, error) {
	for n := e.strides.of(w); ; n /= 4 {
		n = max(n, 1)
		began := time.Now()
		done, failures, err := e.unit(ctx, w, n)
		switch {
		case err == nil:
			e.strides.took(w, n, done, time.Since(began))
			for _, f := range failures {
				e.options.OnFailure(w, f.ref, f.err)
			}
			if done.Wakes > 0 {
				e.options.OnUnit(w, done)
			}
			return done, nil
		case ctx.Err() != nil || errors.As(err, new(*store.UnavailableError)):
			return Done{}, fmt.Errorf("evaluate what is due: %w", err)
		case n > 1:
			continue
		}
		return e.isolate(ctx, w, err)
	}
}

// unit claims up to n wakes and does what they say, in one unit of work.
func (e *Evaluator) unit(ctx context.Context, w access.WorkspaceID, n int) (done Done, failures []failure, err error) {
	ctx, ended := e.options.OnBegin(ctx, w)
	defer func() { ended(done, err) }()
	err = e.store.Do(ctx, w, func(tx store.Tx) error {
		tx.Turn(store.Evaluating)
		u := &unit{e: e, tx: tx, now: tx.Now(), most: max(n, leastStride), targets: map[store.Ref]*target{}}
		err := guarded(func() error { return u.run(n) })
		done, failures = u.done, u.failures
		return err
	})
	return done, failures, err
}

// guarded makes a failure of a panic. An action that makes the engine panic would
// otherwise end the server, and end it again after every start, since its wake is
// there again.
func guarded(do func() error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	return do()
}

// isolate takes the wake that is due longest and fails. One that is about many
// actions becomes a wake for each of them, so that those that do not fail are
// evaluated; any other is put off.
func (e *Evaluator) isolate(ctx context.Context, w access.WorkspaceID, cause error) (Done, error) {
	done, err := e.scatter(ctx, w)
	if err == nil && done.Wakes > 0 {
		return done, nil
	}
	if err != nil && (ctx.Err() != nil || errors.As(err, new(*store.UnavailableError))) {
		return Done{}, fmt.Errorf("evaluate what is due: %w", err)
	}
	e.options.OnFailure(w, "", cause)
	var off []store.Wake
	err = e.store.Do(ctx, w, func(tx store.Tx) error {
		wakes, err := tx.Claim(1)
		if err != nil {
			return err
		}
		for _, wake := range wakes {
			wake.Due = tx.Now().Add(e.troubles.wait(wake))
			tx.Wake(wake)
		}
		done, off = Done{Wakes: len(wakes)}, wakes
		return nil
	})
	if err != nil {
		return Done{}, fmt.Errorf("put off what cannot be evaluated: %w", err)
	}
	e.passOnAlone(ctx, w, off)
	return done, nil
}

// errWhole says that a wake is about one action already.
var errWhole = errors.New("the wake is about one action")

// scatter makes of a wake about facts or a source a wake for each action that it is
// about.
func (e *Evaluator) scatter(ctx context.Context, w access.WorkspaceID) (done Done, err error) {
	err = e.store.Do(ctx, w, func(tx store.Tx) error {
		wakes, err := tx.Claim(1)
		if err != nil {
			return err
		}
		if len(wakes) != 1 || wakes[0].Kind != store.WakeFact && wakes[0].Kind != store.WakeSource {
			return errWhole
		}
		u := &unit{e: e, tx: tx, now: tx.Now(), inquiry: docket.NewInquiry(tx.Ask), most: mostTargets, targets: map[store.Ref]*target{}}
		if err := guarded(func() error { return u.resolve(wakes) }); err != nil {
			return err
		}
		for _, ref := range slices.Sorted(maps.Keys(u.targets)) {
			kind := store.WakeAction
			if u.targets[ref].rivals {
				kind = store.WakeSpread
			}
			tx.Wake(store.Wake{Kind: kind, Ref: ref})
		}
		done = Done{Wakes: 1}
		return nil
	})
	return done, err
}

// troubles counts how often wakes failed, to wait longer each time. What it forgets
// is only tried sooner.
type troubles struct {
	mu    sync.Mutex
	tries map[store.Wake]int
}

const (
	firstWait   = time.Second
	longestWait = 5 * time.Minute
	mostTrouble = 10_000
)

// wait is how long to wait before the next try.
func (t *troubles) wait(wake store.Wake) time.Duration {
	wake.Due = 0
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.tries) >= mostTrouble {
		clear(t.tries)
	}
	t.tries[wake]++
	return min(longestWait, firstWait<<min(t.tries[wake]-1, 20))
}

// over forgets a wake that went well.
func (t *troubles) over(wake store.Wake) {
	wake.Due = 0
	t.mu.Lock()
	delete(t.tries, wake)
	t.mu.Unlock()
}
