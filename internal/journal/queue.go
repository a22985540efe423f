package journal

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
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
	entry      entry.Entry
	leaf       []byte
	salt, data []byte // nil without a detail
	derived    entry.Columns
	extra      derived   // what else the derived tables need
	body       *keptBody // nil without a body
	erased     []byte    // of an erasure: the list of what it took
	defined    []definition
}

// bytes is roughly what the item takes in memory.
func (i *item) bytes() int64 {
	return int64(len(i.leaf)+len(i.data)+len(i.salt)) + 512 + i.body.memory() + i.extra.bytes() + definitionBytes(i.defined)
}

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
	// each stage, and up to where somebody waits for them, in order.
	appended, committed, durable int64
	targets                      []int64

	writing int // items in front that are being committed
	doubt   int // items in front whose commit failed and may be in all the same

	closing      bool
	over         bool    // the writer has ended
	abandons     int     // how often entries were given up
	dropped      []*item // given up, and not yet let go by the writer
	trouble      error   // of committing
	flushTrouble error   // of making durable

	changed chan struct{} // closed, and replaced, when there is news for waiters
	wake    chan struct{} // tells the writer to look again; holds one
	hurry   chan struct{} // ends the writer's pause after a failure; holds one
	flushes chan struct{} // tells the flusher to look again; holds one
}

func newQueue(maxItems int, maxBytes int64) *queue {
	return &queue{
		maxItems: maxItems,
		maxBytes: maxBytes,
		nextSeq:  make(map[string]int64),
		changed:  make(chan struct{}),
		wake:     make(chan struct{}, 1),
		hurry:    make(chan struct{}, 1),
		flushes:  make(chan struct{}, 1),
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
	if it.entry.Kind == entry.KindEnd {
		delete(q.nextSeq, it.entry.Session)
		q.ends++
	}
	if len(q.items) == 1 || len(q.items) == groupEntries || it.entry.Kind == entry.KindEnd {
		q.wakeWriter()
	}
	return nil, nil
}

// checkPlace keeps holes and doubles out of a session: they would look like
// tampering for ever.
func (q *queue) checkPlace(e *entry.Entry) error {
	next, open := q.nextSeq[e.Session]
	if open == (e.Kind == entry.KindSession) {
		if open {
			return &entry.Error{Reason: fmt.Sprintf("session %s has begun before", e.Session)}
		}
		return &entry.Error{Reason: fmt.Sprintf("session %s has not begun, or has ended", e.Session)}
	}
	if e.Seq != next {
		return &entry.Error{Reason: fmt.Sprintf("it is entry %d of its session, and %d comes next", e.Seq, next)}
	}
	return nil
}

// next waits until a group should be written and returns its entries, which
// stay in the queue. It returns false when the writer's work is over.
func (q *queue) next() ([]*item, bool) {
	var window *time.Timer
	var expired <-chan time.Time
	inTime := true
	for {
		q.mu.Lock()
		waiting := len(q.items)
		urgent := q.closing || q.ends > 0 || q.doubt > 0 || q.wanted() > q.committed || waiting >= groupEntries
		switch {
		case waiting == 0 && q.closing:
			q.over = true
			q.mu.Unlock()
			q.wakeFlusher()
			return nil, false
		case waiting > 0 && (urgent || !inTime):
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

// front returns the oldest items, as many as a group may have. Those whose
// commit is in doubt come again as they were.
func (q *queue) front() []*item {
	if q.doubt > 0 {
		return q.items[:q.doubt:q.doubt]
	}
	var bytes int64
	for i, it := range q.items {
		bytes += it.bytes()
		if i == groupEntries || (i > 0 && (bytes > groupBytes || it.body.needsStaging())) {
			return q.items[:i:i]
		}
	}
	return q.items[:len(q.items):len(q.items)]
}

// take returns the group that is committed now. It may be a longer one than
// next returned, because others held the lock meanwhile, or none, because its
// entries were given up. With inDoubt set they may be in the database already.
func (q *queue) take() (group []*item, inDoubt bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	group = q.front()
	q.writing = len(group)
	return group, q.doubt > 0
}

// done takes the n oldest entries away, which are in the database now. With
// flush set they are made durable without anybody waiting for it.
func (q *queue) done(n int, flush bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i, it := range q.items[:n] {
		q.bytes -= it.bytes()
		it.body.discard()
		if it.entry.Kind == entry.KindEnd {
			q.ends--
		}
		q.items[i] = nil
	}
	q.items = q.items[n:]
	q.committed += int64(n)
	q.writing, q.doubt = 0, 0
	if flush {
		q.want(q.committed)
	}
	if len(q.targets) > 0 && q.targets[0] <= q.committed {
		q.wakeFlusher()
	}
	q.trouble = nil
	q.tellWaiters()
}

// failed keeps the error for those who ask, and says whether it is the first
// since something was written. With inDoubt set the group may be in the
// database all the same.
func (q *queue) failed(err error, inDoubt bool) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if inDoubt {
		q.doubt = q.writing
	}
	q.writing = 0
	first = q.trouble == nil
	q.trouble = err
	return first
}

func (q *queue) failing() error {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.trouble != nil {
		return q.trouble
	}
	return q.flushTrouble
}

// errGivenUp says that a Sync waited for entries that were given up.
var errGivenUp = errors.New("entries that it waited for were given up")

// sync waits until everything that is in the queue now is durable.
func (q *queue) sync(ctx context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	target, abandons := q.appended, q.abandons
	if target > q.durable {
		q.want(target)
		q.wakeWriter()
		q.wakeFlusher()
	}
	for q.durable < target {
		if q.abandons != abandons {
			return fmt.Errorf("sync journal: %w", errGivenUp)
		}
		news := q.changed
		q.mu.Unlock()
		select {
		case <-news:
		case <-ctx.Done():
			err := fmt.Errorf("sync journal: %w", errors.Join(ctx.Err(), q.failing()))
			q.mu.Lock()
			return err
		}
		q.mu.Lock()
	}
	return nil
}

// want notes that somebody waits for the first target entries to be durable.
func (q *queue) want(target int64) {
	if target > q.wanted() {
		q.targets = append(q.targets, target)
	}
}

// wanted is the last entry that somebody waits for.
func (q *queue) wanted() int64 {
	if len(q.targets) == 0 {
		return q.durable
	}
	return q.targets[len(q.targets)-1]
}

// nextFlush waits until committed entries should be made durable, and says how
// many there are. It returns false when the flusher's work is over.
func (q *queue) nextFlush() (committed int64, more bool) {
	for {
		q.mu.Lock()
		committed = q.committed
		due := len(q.targets) > 0 && q.targets[0] <= committed
		rest := q.over && committed > q.durable
		over := q.over
		q.mu.Unlock()
		switch {
		case due, rest:
			return committed, true
		case over:
			return 0, false
		}
		<-q.flushes
	}
}

// flushed notes that the first n entries are durable.
func (q *queue) flushed(n int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.durable = max(q.durable, n)
	for len(q.targets) > 0 && q.targets[0] <= q.durable {
		q.targets = q.targets[1:]
	}
	q.flushTrouble = nil
	q.tellWaiters()
}

// flushFailed is failed of the flusher.
func (q *queue) flushFailed(err error) (first bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	first = q.flushTrouble == nil
	q.flushTrouble = err
	return first
}

// close lets no more entries in. The writer ends when the queue is empty.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closing = true
	q.wakeWriter()
	wakeUp(q.hurry)
	q.tellWaiters()
}

// discard lets go of the spill files of what is not written any more.
func (q *queue) discard() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, it := range q.items {
		it.body.discard()
	}
}

func (q *queue) wakeWriter() { wakeUp(q.wake) }

func (q *queue) wakeFlusher() { wakeUp(q.flushes) }

// wakeUp leaves one signal for whoever reads the channel next.
func wakeUp(signal chan<- struct{}) {
	select {
	case signal <- struct{}{}:
	default:
	}
}

func (q *queue) tellWaiters() {
	close(q.changed)
	q.changed = make(chan struct{})
}
