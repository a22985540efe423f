package journal

import (
	"context"
	"database/sql"
	"strconv"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// Policy says how long bodies are kept. A zero field stands for the default,
// a negative one for no limit.
type Policy struct {
	MaxAge   time.Duration // 30 days
	MaxBytes int64         // as stored; 5 GiB
}

const (
	defaultMaxAge   = 30 * 24 * time.Hour
	defaultMaxBytes = 5 << 30

	// pruneEvery is how often recorders look, all of a home together.
	pruneEvery = time.Hour
	// pruneGrace is how long a recorder that ends goes on with pruning.
	pruneGrace = 200 * time.Millisecond

	prunedAtKey = "pruned_at"
)

func (p Policy) orDefault() Policy {
	if p.MaxAge == 0 {
		p.MaxAge = defaultMaxAge
	}
	if p.MaxBytes == 0 {
		p.MaxBytes = defaultMaxBytes
	}
	return p
}

// cutoff is the time from before which bodies go, µs since 1970.
func (p Policy) cutoff(now time.Time) int64 {
	if p.MaxAge < 0 {
		return -1
	}
	return now.Add(-p.MaxAge).UnixMicro()
}

// Prune erases the bodies that are older than the policy allows, and then the
// oldest ones until no more than it allows are left. Details stay. It goes in
// small steps, so that recorders can go on, and each step is an erasure entry.
// Recorders prune by themselves; see Options.Retention.
func Prune(ctx context.Context, home string, policy Policy) (Erasure, error) {
	e, err := openEraser(home, nil)
	if err != nil {
		return Erasure{}, err
	}
	defer e.close()
	return e.prune(ctx, policy)
}

func (e *eraser) prune(ctx context.Context, policy Policy) (Erasure, error) {
	e.begin(entry.ScopeRetention, entry.ErasedBodies)
	over, err := e.findOver(ctx, policy.orDefault())
	if err != nil {
		return e.result, err
	}
	if err := e.eraseAll(ctx, over, false); err != nil {
		return e.result, err
	}
	if err := e.finish(ctx, false); err != nil {
		return e.result, err
	}
	err = e.transact("NORMAL", func() error {
		_, err := e.db.Exec("INSERT INTO meta VALUES (?, ?) ON CONFLICT DO UPDATE SET value = excluded.value",
			prunedAtKey, strconv.FormatInt(time.Now().UnixMicro(), 10))
		return err
	})
	if err != nil {
		return e.result, databaseError(e.folder, "prune", err)
	}
	return e.result, nil
}

// limits decide, from the oldest body on, which ones must go.
type limits struct {
	cutoff int64 // µs since 1970; older ones go
	excess int64 // stored bytes that must go besides
}

func newLimits(p Policy, stored int64, now time.Time) limits {
	l := limits{cutoff: p.cutoff(now)}
	if p.MaxBytes >= 0 {
		l.excess = stored - p.MaxBytes
	}
	return l
}

// take says whether a body must go, and counts on that.
func (l *limits) take(b storedBody) bool {
	if b.at >= l.cutoff && l.excess <= 0 {
		return false
	}
	l.excess -= b.stored
	return true
}

// findOver walks from the oldest body on and stops at the first that may stay.
func (e *eraser) findOver(ctx context.Context, policy Policy) (page, error) {
	var stored int64
	if err := e.db.QueryRowContext(ctx, "SELECT coalesce(sum(stored), 0) FROM bodies").Scan(&stored); err != nil {
		return nil, databaseError(e.folder, "add up bodies", err)
	}
	over := newLimits(policy, stored, time.Now())
	last := int64(-1)
	return func(ctx context.Context) ([]int64, bool, error) {
		bodies, err := oldestBodies(ctx, e.db, last, stepEntries)
		if err != nil {
			return nil, false, databaseError(e.folder, "look for old bodies", err)
		}
		var list []int64
		for _, b := range bodies {
			if !over.take(b) {
				return list, false, nil
			}
			list = append(list, b.n)
			last = b.n
		}
		return list, len(bodies) == stepEntries, nil
	}, nil
}

// storedBody is what retention must know of a body.
type storedBody struct{ n, at, stored int64 }

func oldestBodies(ctx context.Context, db rowsQueryer, after int64, limit int) ([]storedBody, error) {
	rows, err := db.QueryContext(ctx, `
		SELECT b.n, e.at, b.stored FROM bodies b JOIN entries e ON e.n = b.n
		WHERE b.n > ? AND b.n NOT IN (SELECT n FROM outbox WHERE state = 'waiting') ORDER BY b.n LIMIT ?`, after, limit)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []storedBody
	for rows.Next() {
		var b storedBody
		if err := rows.Scan(&b.n, &b.at, &b.stored); err != nil {
			return nil, err
		}
		list = append(list, b)
	}
	return list, rows.Err()
}

// pruner prunes beside the writer, with a connection of its own, so that
// entries need not wait for it.
type pruner struct {
	policy Policy
	every  time.Duration // between two looks of all recorders together
	grace  time.Duration // how long a recorder that ends goes on

	// Used by the writer alone.
	lookedAt time.Time
	ended    bool // a session has ended since

	mu      sync.Mutex
	running chan struct{} // closed when the run is over; nil without one
	cancel  context.CancelFunc
}

// lookAfter begins to prune, after a session's end or when the last look was
// long ago, unless somebody has pruned not long ago.
func (w *writer) lookAfter() {
	now := time.Now()
	if !w.pruner.ended && now.Sub(w.pruner.lookedAt) < w.pruner.every {
		return
	}
	w.pruner.lookedAt, w.pruner.ended = now, false
	if due, err := w.pruneDue(now); err != nil || !due {
		return // an error here is one of the next commit too, and told then
	}
	w.pruner.start(w.folder)
}

func (w *writer) pruneDue(now time.Time) (bool, error) {
	if w.db == nil {
		return false, nil
	}
	var something bool
	var value sql.NullString
	err := w.db.QueryRow(`SELECT EXISTS (SELECT 1 FROM bodies) OR EXISTS (SELECT 1 FROM loose), (SELECT value FROM meta WHERE key = ?)`, prunedAtKey).
		Scan(&something, &value)
	if err != nil || !something {
		return false, err
	}
	at, err := strconv.ParseInt(value.String, 10, 64)
	// A time that is no number, or not yet, is not to keep us from it for ever.
	return err != nil || now.UnixMicro()-at >= w.pruner.every.Microseconds() || at > now.UnixMicro(), nil
}

func newPruner(policy Policy) *pruner {
	return &pruner{policy: policy, every: pruneEvery, grace: pruneGrace, lookedAt: time.Now()}
}

func (p *pruner) start(f folder) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != nil {
		select {
		case <-p.running:
		default:
			return
		}
	}
	var ctx context.Context
	ctx, p.cancel = context.WithCancel(context.Background())
	done := make(chan struct{})
	p.running = done
	go func() {
		defer close(done)
		// What stays undone, for whatever reason, is still over the limit at
		// the next look, and Usage shows it until then.
		_, _ = Prune(ctx, f.path, p.policy)
	}()
}

// finish waits for a run, but not long.
func (p *pruner) finish(ctx context.Context) {
	p.mu.Lock()
	running, cancel := p.running, p.cancel
	p.mu.Unlock()
	if running == nil {
		return
	}
	grace := time.NewTimer(p.grace)
	defer grace.Stop()
	select {
	case <-running:
	case <-grace.C:
	case <-ctx.Done():
	}
	cancel()
	<-running // a step is short
}
