package action

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/access"
)

// maxCrowd is how many declarations that arrive one by one share a unit.
const maxCrowd = 128

// ticket is one declaration that waits to be recorded.
type ticket struct {
	principal   access.Principal
	declaration *Declaration
	lead        chan struct{} // told to record what has queued up, itself included
	done        chan struct{} // closed when result and err are there
	result      Result
	err         error
}

// lines are the tickets of each workspace that has any.
type lines struct {
	mu   sync.Mutex
	open map[access.WorkspaceID]*line
}

type line struct {
	queue  []*ticket
	led    bool          // somebody records for the others
	came   chan struct{} // holds one if the queue has grown
	served int           // by the last unit
	took   time.Duration // that unit
}

// A leader waits for as many as the last unit has served: most of them are about to ask
// for the next action, and a unit for each half of them would cost twice. It waits no
// longer than a small part of what a unit takes, and not at all where they come one by
// one.
const (
	lingerPart = 8
	maxLinger  = 2 * time.Millisecond
)

// share records a declaration together with others of the workspace that arrive
// meanwhile. Whoever comes while nobody leads does: it records what has queued up, for
// itself and the others, and then has the next one that waits lead. More than one would be
// of no use, since units that declare run one after the other ([store.Alone]). A request
// that is given up does not take others with it.
func (s *Service) share(ctx context.Context, p access.Principal, d *Declaration) (Result, error) {
	t := &ticket{principal: p, declaration: d, lead: make(chan struct{}, 1), done: make(chan struct{})}
	if s.lines.join(p.Workspace(), t) {
		s.leadWith(ctx, p.Workspace(), t)
		return t.result, t.err
	}
	select {
	case <-t.done:
		return t.result, t.err
	case <-t.lead:
		s.leadWith(ctx, p.Workspace(), t)
		return t.result, t.err
	case <-ctx.Done():
		if s.lines.leave(p.Workspace(), t) {
			s.lines.handOver(p.Workspace())
		}
		return Result{}, ctx.Err()
	}
}

// join queues a ticket, or says that it leads.
func (l *lines) join(w access.WorkspaceID, t *ticket) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.open[w]
	if of == nil {
		of = &line{came: make(chan struct{}, 1)}
		l.open[w] = of
	}
	if !of.led {
		of.led = true
		return true
	}
	of.queue = append(of.queue, t)
	select {
	case of.came <- struct{}{}:
	default:
	}
	return false
}

// gather waits for those who will probably come, see [lingerPart].
func (l *lines) gather(w access.WorkspaceID) {
	l.mu.Lock()
	of := l.open[w]
	expected, linger := min(of.served, maxCrowd)-1, min(of.took/lingerPart, maxLinger)
	missing := len(of.queue) < expected
	l.mu.Unlock()
	if !missing || linger <= 0 {
		return
	}
	timer := time.NewTimer(linger)
	defer timer.Stop()
	for missing {
		select {
		case <-of.came:
		case <-timer.C:
			return
		}
		l.mu.Lock()
		missing = len(of.queue) < expected
		l.mu.Unlock()
	}
}

// leave takes a ticket out of the line. It says whether the ticket had been told to
// lead, which somebody else has to do then.
func (l *lines) leave(w access.WorkspaceID, t *ticket) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if of := l.open[w]; of != nil {
		of.queue = slices.DeleteFunc(of.queue, func(other *ticket) bool { return other == t })
	}
	return len(t.lead) > 0
}

// take removes what has queued up, at most so many.
func (l *lines) take(w access.WorkspaceID, most int) []*ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.open[w]
	n := min(most, len(of.queue))
	taken := slices.Clone(of.queue[:n])
	of.queue = slices.Delete(of.queue, 0, n)
	return taken
}

// served notes how many a unit has served, and how long it took.
func (l *lines) served(w access.WorkspaceID, n int, took time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.open[w]
	of.served, of.took = n, took
}

// handOver has the ticket lead that waits longest; if none does, nobody leads.
func (l *lines) handOver(w access.WorkspaceID) {
	l.mu.Lock()
	defer l.mu.Unlock()
	of := l.open[w]
	if len(of.queue) > 0 {
		next := of.queue[0]
		of.queue = slices.Delete(of.queue, 0, 1)
		next.lead <- struct{}{}
		return
	}
	if of.led = false; of.served <= 1 {
		delete(l.open, w) // there is nothing to remember
	}
}

// leadWith records the leader's declaration with what has queued up.
func (s *Service) leadWith(ctx context.Context, w access.WorkspaceID, t *ticket) {
	s.lines.gather(w)
	began := time.Now()
	crowd := append([]*ticket{t}, s.lines.take(w, maxCrowd-1)...)
	for _, one := range crowd {
		one.err = errUnfinished
	}
	defer s.lines.handOver(w)
	defer func() {
		s.lines.served(w, len(crowd), time.Since(began))
		for _, one := range crowd {
			close(one.done)
		}
	}()
	// The leader may be given up; the others were not.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Patience)
	defer cancel()
	s.recordCrowd(ctx, w, crowd)
}

// errUnfinished is told where a unit that served several ended without an answer.
var errUnfinished = errors.New("the unit that was to record the action did not end")

// recordCrowd records declarations in one unit. Where one of them cannot be
// evaluated, which is a fault, each has a unit of its own, so that the others are
// recorded.
func (s *Service) recordCrowd(ctx context.Context, w access.WorkspaceID, crowd []*ticket) {
	orders := make([]order, len(crowd))
	for i, t := range crowd {
		orders[i] = order{principal: t.principal, declaration: t.declaration}
	}
	results, err := s.record(ctx, w, orders)
	if err != nil && len(crowd) > 1 && isFault(err) {
		for _, t := range crowd {
			s.recordCrowd(ctx, w, []*ticket{t})
		}
		return
	}
	for i, t := range crowd {
		switch {
		case err != nil:
			t.err = err
		case results[i].err != nil:
			t.err = results[i].err
		default:
			t.result, t.err = results[i].result, nil
		}
	}
}
