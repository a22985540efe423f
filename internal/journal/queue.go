package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// groupEntries, groupBytes and groupWindow bound what one commit holds: a
	// bigger one would keep other recorders of this machine waiting.
	groupEntries = 2_000
	groupBytes   = 4 << 20
	groupWindow  = 5 * time.Millisecond
)

// item is one entry on its way to the database, encoded already.
type item struct {
	entry      Entry
	leaf       []byte
	salt, data []byte // nil without a detail
	derived    columns
}

// bytes is roughly what the item takes in memory.
func (i *item) bytes() int64 { return int64(len(i.leaf)+len(i.data)+len(i.salt)) + 512 }

// queue holds entries in order from Append until they are committed. The
// writer looks at the front and takes entries away only when they are in the
// database, so that a failed commit can neither lose nor reorder any.
type queue struct {
	maxItems int
	maxBytes int64

	mu      sync.Mutex
	items   []*item
	bytes   int64
	ends    int              // end entries among the items
	nextSeq map[string]int64 // per open session, the only Seq that may come next

	// How many entries there have been since the journal was opened, up to
	// each stage, and up to where a Sync waits for them.
	appended, committed, durable, wanted int64

	closing   bool
	abandoned bool
	trouble   error

	changed chan struct{} // closed, and replaced, when there is news for waiters
	wake    chan struct{} // tells the writer to look again; holds one
	gone    chan struct{} // closed when the queue is abandoned
}

func newQueue(maxItems int, maxBytes int64) *queue {
	return &queue{
		maxItems: maxItems,
		maxBytes: maxBytes,
		nextSeq:  make(map[string]int64),
		changed:  make(chan struct{}),
		wake:     make(chan struct{}, 1),
		gone:     make(chan struct{}),
	}
}

// push waits for room and adds an item at the end.
func (q *queue) push(ctx context.Context, it *item) error {
	for {
		news, err := q.tryPush(it)
		if err != nil || news == nil {
			return err
		}
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("append to journal: the queue is full: %w", errors.Join(ctx.Err(), q.failing()))
		}
	}
}

// tryPush returns a channel to wait on when there is no room.
func (q *queue) tryPush(it *item) (<-chan struct{}, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closing {
		return nil, ErrClosed
	}
	if err := q.checkPlace(&it.entry); err != nil {
		return nil, err
	}
	full := len(q.items) >= q.maxItems || q.bytes+it.bytes() > q.maxBytes
	if full && len(q.items) > 0 { // what is bigger than the queue goes alone
		return q.changed, nil
	}
	q.items = append(q.items, it)
	q.bytes += it.bytes()
	q.appended++
	q.nextSeq[it.entry.Session] = it.entry.Seq + 1
	if it.entry.Kind == KindEnd {
		delete(q.nextSeq, it.entry.Session)
		q.ends++
	}
	if len(q.items) == 1 || len(q.items) == groupEntries || it.entry.Kind == KindEnd {
		q.wakeWriter()
	}
	return nil, nil
}

// checkPlace keeps holes and doubles out of a session: they would look like
// tampering for ever.
func (q *queue) checkPlace(e *Entry) error {
	next, open := q.nextSeq[e.Session]
	if open == (e.Kind == KindSession) {
		if open {
			return &EntryError{Reason: fmt.Sprintf("session %s has begun before", e.Session)}
		}
		return &EntryError{Reason: fmt.Sprintf("session %s has not begun, or has ended", e.Session)}
	}
	if e.Seq != next {
		return &EntryError{Reason: fmt.Sprintf("it is entry %d of its session, and %d comes next", e.Seq, next)}
	}
	return nil
}

// next waits until a group should be written and returns its entries, which
// stay in the queue. No entries and true means that a Sync waits for what is
// committed already. It returns false when the writer's work is over.
func (q *queue) next() ([]*item, bool) {
	var window *time.Timer
	var expired <-chan time.Time
	inTime := true
	for {
		q.mu.Lock()
		waiting := len(q.items)
		urgent := q.closing || q.ends > 0 || q.wanted > q.durable || waiting >= groupEntries
		switch {
		case q.abandoned, q.closing && waiting == 0 && q.wanted <= q.durable:
			q.mu.Unlock()
			return nil, false
		case urgent, waiting > 0 && !inTime:
			group := q.front()
			q.mu.Unlock()
			return group, true
		}
		q.mu.Unlock()
		if waiting > 0 && window == nil {
			window = time.NewTimer(groupWindow)
			defer window.Stop()
			expired = window.C
		}
		select {
		case <-q.wake:
		case <-expired:
			inTime = false
		}
	}
}

// front returns the oldest items, as many as a group may have.
func (q *queue) front() []*item {
	var bytes int64
	for i, it := range q.items {
		bytes += it.bytes()
		if i == groupEntries || (i > 0 && bytes > groupBytes) {
			return q.items[:i:i]
		}
	}
	return q.items[:len(q.items):len(q.items)]
}

// mustBeDurable says whether the commit of the next n entries is the one that
// a Sync waits for. Earlier ones become durable with it.
func (q *queue) mustBeDurable(n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.wanted > q.durable && q.committed+int64(n) >= q.wanted
}

// done takes the n oldest entries away, which are in the database now.
func (q *queue) done(n int, durable bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, it := range q.items[:n] {
		q.bytes -= it.bytes()
		if it.entry.Kind == KindEnd {
			q.ends--
		}
		q.items[i] = nil
	}
	q.items = q.items[n:]
	q.committed += int64(n)
	if durable {
		q.durable = q.committed
	}
	q.trouble = nil
	q.tellWaiters()
}

// failed keeps the error for those who ask, and says whether it is the first
// since something was written.
func (q *queue) failed(err error) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first = q.trouble == nil
	q.trouble = err
	return first
}

func (q *queue) failing() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.trouble
}

// sync waits until everything that is in the queue now is durable.
func (q *queue) sync(ctx context.Context) error {
	q.mu.Lock()
	target := q.appended
	q.wanted = max(q.wanted, target)
	q.wakeWriter()
	for q.durable < target {
		if q.abandoned {
			q.mu.Unlock()
			return ErrClosed
		}
		news := q.changed
		q.mu.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			return fmt.Errorf("sync journal: %w", errors.Join(ctx.Err(), q.failing()))
		}
		q.mu.Lock()
	}
	q.mu.Unlock()
	return nil
}

// close lets no more entries in. The writer ends when the queue is empty.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closing = true
	q.wakeWriter()
	q.tellWaiters()
}

// abandon gives up what is still queued and says how much that is.
func (q *queue) abandon() (int, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.abandoned {
		q.abandoned = true
		close(q.gone)
		q.wakeWriter()
		q.tellWaiters()
	}
	return len(q.items), q.trouble
}

func (q *queue) wakeWriter() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) tellWaiters() {
	close(q.changed)
	q.changed = make(chan struct{})
}
