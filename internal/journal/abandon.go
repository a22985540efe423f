package journal

import (
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// Dropped says what Abandon gave up of a session, so that the record can say
// it too.
type Dropped struct {
	Session string
	First   int64 // the Seq of the first entry that was given up, and of the next one to be appended
	Entries int64 // 0: nothing was given up, and the session goes on as before

	Client, Server DroppedSide
}

// DroppedSide is what was given up of one direction. What belongs to none,
// such as a session's end, or is not on the wire, such as stderr, is only
// counted in Dropped.Entries.
type DroppedSide struct {
	Entries  int64 // messages, noise and gaps
	Bytes    int64 // wire bytes that they accounted for: Bytes and Framing
	Messages int64 // lines among them: one a message, and those of gaps
}

func (d *Dropped) add(e *entry.Entry) {
	d.Entries++
	switch e.Kind {
	case entry.KindSession, entry.KindStderr, entry.KindEnd:
		return
	}
	side := &d.Client
	switch e.From {
	case "client":
	case "server":
		side = &d.Server
	default:
		return
	}
	side.Entries++
	side.Bytes += e.Bytes + e.Framing
	if e.Kind == entry.KindGap {
		side.Messages += e.Messages
		return
	}
	side.Messages++
	if e.Kind == entry.KindNoise && e.Messages > 1 {
		side.Messages += e.Messages - 1
	}
}

// Abandon gives up the entries that are queued, except those that are being
// committed at this moment and the one that begins the session, and lets
// Append go on in their place: a gap for each side, with the bytes that are
// told here and the reason journal_failed, and the end. Nothing else may
// refer to an entry that was given up. It undoes a Close that ran out of time.
//
// The error is ErrClosed when everything was written after all, and an
// *[entry.Error] when entries of several sessions are queued, which one result
// cannot tell; then nothing is given up.
func (j *Journal) Abandon() (Dropped, error) { return j.queue.abandon() }

func (q *queue) abandon() (Dropped, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.over {
		return Dropped{}, ErrClosed
	}
	keep := max(q.writing, q.doubt)
	var d Dropped
	var kept, dropped []*item
	for i, it := range q.items {
		if i < keep || it.entry.Kind == entry.KindSession {
			kept = append(kept, it)
			continue
		}
		if d.Entries == 0 {
			d.Session, d.First = it.entry.Session, it.entry.Seq
		}
		if it.entry.Session != d.Session {
			return Dropped{}, &entry.Error{Reason: fmt.Sprintf(
				"entries of session %s and of session %s are queued, so that they cannot be given up together", d.Session, it.entry.Session)}
		}
		d.add(&it.entry)
		dropped = append(dropped, it)
	}
	q.closing = false
	if d.Entries == 0 {
		return d, nil
	}
	q.items = kept // a new slice: the writer may be at work on the old one
	for _, it := range dropped {
		q.bytes -= it.bytes()
		if it.entry.Kind == entry.KindEnd {
			q.ends--
		}
	}
	q.dropped = append(q.dropped, dropped...)
	q.nextSeq[d.Session] = d.First
	q.appended -= d.Entries
	q.abandons++
	// A Sync that waits for what is gone is told; the others still wait.
	first := slices.IndexFunc(q.targets, func(target int64) bool { return target > q.appended })
	if first >= 0 {
		q.targets = append(q.targets[:first], q.appended)
	}
	wakeUp(q.hurry)
	q.wakeWriter()
	q.tellWaiters()
	return d, nil
}

// isDropped says whether an item was given up.
func (q *queue) isDropped(it *item) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Contains(q.dropped, it)
}

// discardDropped lets go of the spill files of what was given up. The writer
// does it, because it may just have been reading them.
func (q *queue) discardDropped() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, it := range q.dropped {
		it.body.discard()
	}
	q.dropped = nil
}

// progress is how many entries are committed.
func (q *queue) progress() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.committed
}

// left is what is not written, what is written and not durable, and why.
func (q *queue) left() (entries int, unflushed int64, trouble error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	trouble = q.trouble
	if trouble == nil {
		trouble = q.flushTrouble
	}
	return len(q.items), q.committed - q.durable, trouble
}
