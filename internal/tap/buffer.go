// Package tap holds the copy of the wire bytes that the recorder reads.
//
// A [Buffer] stands between the wire, which must never wait, and the observer,
// which may be slow. It keeps one order over both directions and a bounded
// number of bytes; what no longer fits is counted and becomes a gap, because
// silence is never a record. It does not look at the bytes, other than
// counting the line ends of those it has to let go.
//
// # Life of a chunk
//
// The wire offers a chunk before it writes it: the chunk gets its place and
// the time, and stays in the wire's memory. When the write is done the wire
// settles it, and only now it is copied here. The observer takes chunks in the
// order of their places. When the chunk whose turn it is has not settled yet,
// because the other side is slow to read it, the observer copies it from the
// wire's memory and goes on: nothing behind it has to wait, and no answer
// comes ahead of its question.
package tap

import (
	"bytes"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/deed-dev/deed/internal/wire"
)

// DefaultLimit is how many bytes a buffer holds before it lets bytes go.
const DefaultLimit = 64 << 20

// slotCost is what a chunk takes besides its bytes, so that a flood of
// one-byte chunks is bounded too.
const slotCost = 64

// urgent is how many waiting bytes wake the observer at once; fewer wait for
// its next look, so that a small call does not pay for waking it.
const urgent = 1 << 20

// ErrShut is what Next answers when everything was read and nothing will come.
var ErrShut = errors.New("the tap is shut")

// Event is the next thing that happened on the wire: bytes, bytes that were
// not seen, or the end of one direction.
type Event struct {
	Place wire.Place
	From  wire.Direction
	At    int64  // µs since 1970
	Data  []byte // valid until the next call of Next

	Gap      bool  // bytes crossed that could not be kept
	GapBytes int64 // how many
	GapLines int64 // how many line ends were among them

	Closed bool // no more bytes will come from this side
}

type slot struct {
	place   wire.Place
	from    wire.Direction
	at      int64
	data    []byte // where it was copied to, once settled
	block   *block
	settled bool
	gap     bool
	bytes   int64
	lines   int64
	closed  bool
	void    bool // its bytes were added to an earlier gap
}

// offer is a chunk that is being written: its bytes are still the wire's.
type offer struct {
	place wire.Place
	index int // of its slot
	data  []byte
	taken bool // the observer did not wait for it
}

// Buffer is the tap's copy. Its methods for the wire never block for longer
// than a copy takes; Next is for one observer.
type Buffer struct {
	limit int
	now   func() int64

	mu          sync.Mutex
	slots       ring
	last        wire.Place // that was given
	read        wire.Place // that was read last
	open        [2]offer
	lossy       [2]bool // this direction lets bytes go until there is room again
	gap         [2]int  // index of the gap that takes them in
	held        int
	undelivered [2]int64
	shut        bool
	pool        blocks
	using       *block // holds the data of the event that was handed out last
	wake        chan struct{}
	idle        bool    // the observer waits for wake
	kicked      [2]bool // the observer was called while a chunk of this direction was being written

	seen atomic.Uint64 // last place that the observer is done with
}

// New returns a buffer that holds at most limit bytes.
func New(limit int) *Buffer {
	return &Buffer{
		limit: limit,
		now:   func() int64 { return time.Now().UnixMicro() },
		wake:  make(chan struct{}, 1),
	}
}

// Offer implements [wire.Tap].
func (b *Buffer) Offer(from wire.Direction, data []byte) wire.Place {
	at := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		return 0
	}
	b.last++
	index := b.slots.push(slot{place: b.last, from: from, at: at})
	b.open[from] = offer{place: b.last, index: index, data: data}
	return b.last
}

// Settle implements [wire.Tap].
func (b *Buffer) Settle(place wire.Place, n int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	from := wire.FromClient
	if b.open[from].place != place {
		from = wire.FromServer
	}
	o := &b.open[from]
	if place == 0 || o.place != place {
		return // it was offered after the end, or the end came in between
	}
	if o.taken {
		b.undelivered[from] += int64(len(o.data) - n)
	} else {
		b.keep(o.index, o.data[:n])
	}
	*o = offer{}
	b.rouse(b.kicked[from] || b.held >= urgent)
	b.kicked[from] = false
}

// Close implements [wire.Tap].
func (b *Buffer) Close(from wire.Direction, undelivered int64) {
	at := b.now()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		return
	}
	b.undelivered[from] += undelivered
	b.last++
	b.slots.push(slot{place: b.last, from: from, at: at, closed: true, settled: true})
	b.rouse(true)
}

// Shut ends the recording: what is here can still be read, nothing is added.
// A chunk that is being written at this moment counts as undelivered.
func (b *Buffer) Shut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.shut {
		return
	}
	for d := range b.open {
		if o := &b.open[d]; o.place != 0 {
			b.take(o)
			b.undelivered[d] += int64(len(o.data))
			*o = offer{}
		}
	}
	b.shut = true
	b.rouse(true)
}

// Kick makes the observer look at once, and again when a chunk settles that is
// being written now: whoever kicks waits for it.
func (b *Buffer) Kick() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for from := range b.open {
		b.kicked[from] = b.open[from].place != 0
	}
	b.rouse(true)
}

// Undelivered is how many bytes of a side were seen and never reached the
// other side. It is final once the side is closed.
func (b *Buffer) Undelivered(from wire.Direction) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.undelivered[from]
}

// Seen is the last place that the observer is done with.
func (b *Buffer) Seen() wire.Place { return wire.Place(b.seen.Load()) }

// keep copies data into the slot, or counts it as a gap when there is no room.
func (b *Buffer) keep(index int, data []byte) {
	s := b.slots.at(index)
	s.settled = true
	if len(data) == 0 {
		s.void = true
		b.slots.trim()
		return
	}
	if b.lossy[s.from] && b.held <= b.limit/2 {
		b.lossy[s.from] = false
	}
	if !b.lossy[s.from] && b.held+len(data)+slotCost <= b.limit {
		s.block, s.data = b.pool.put(data)
		b.held += len(data) + slotCost
		return
	}
	// While bytes are let go they gather in one slot, or a stalled observer
	// would cost memory for every chunk that it does not see.
	gap := s
	if b.lossy[s.from] && b.slots.holds(b.gap[s.from]) {
		gap = b.slots.at(b.gap[s.from])
		s.void = true
	} else {
		b.gap[s.from] = index
	}
	b.lossy[s.from] = true
	gap.gap = true
	gap.bytes += int64(len(data))
	gap.lines += int64(bytes.Count(data, newline))
	b.slots.trim()
}

var newline = []byte{'\n'}

// take copies a chunk that is still being written, and leaves it open so that
// its Settle finds it.
func (b *Buffer) take(o *offer) {
	b.keep(o.index, o.data)
	o.taken = true
}

// rouse wakes the observer where it waits. Where it is between two looks it
// comes by itself, unless it is needed now.
func (b *Buffer) rouse(now bool) {
	if !b.idle && !now {
		return
	}
	b.idle = false
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// Next returns the next event in order, or ErrShut at the end. It waits for
// one, and for ctx.
func (b *Buffer) Next(ctx context.Context) (Event, error) {
	for {
		ev, err, ok := b.pop()
		if ok {
			return ev, err
		}
		if err := b.wait(ctx); err != nil {
			return Event{}, err
		}
	}
}

// Behind says that the observer has much to catch up on: a quarter of what the
// buffer can hold waits for it.
func (b *Buffer) Behind() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held > b.limit/4
}

// Empty says that nothing is waiting to be read.
func (b *Buffer) Empty() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.slots.len() == 0
}

func (b *Buffer) pop() (Event, error, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.using != nil {
		b.pool.drop(b.using)
		b.using = nil
	}
	b.seen.Store(uint64(b.read))
	for b.slots.len() > 0 {
		s := b.slots.first()
		if !s.settled {
			if b.slots.len() == 1 {
				// Nothing waits behind it, so its write may as well end first.
				return Event{}, nil, false
			}
			b.take(&b.open[s.from])
			continue
		}
		ev := Event{
			Place: s.place, From: s.from, At: s.at, Data: s.data, Closed: s.closed,
			Gap: s.gap, GapBytes: s.bytes, GapLines: s.lines,
		}
		if s.block != nil {
			b.held -= len(s.data) + slotCost
			b.using = s.block
		}
		void := s.void
		b.read = s.place
		b.slots.pop()
		if !void {
			return ev, nil, true
		}
	}
	b.read = b.last
	b.seen.Store(uint64(b.read))
	if b.shut {
		return Event{}, ErrShut, true
	}
	return Event{}, nil, false
}

// look is how long the observer rests between two looks while traffic flows,
// and idleLooks is after how many empty ones it waits to be woken.
const (
	look      = 2 * time.Millisecond
	idleLooks = 5
)

// wait rests until there may be something to read.
func (b *Buffer) wait(ctx context.Context) error {
	timer := time.NewTimer(look)
	defer timer.Stop()
	for range idleLooks {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-b.wake:
			return nil
		case <-timer.C:
		}
		if b.ready() {
			return nil
		}
		timer.Reset(look)
	}
	b.mu.Lock()
	b.idle = !b.shut && (b.slots.len() == 0 || b.slots.len() == 1 && !b.slots.first().settled)
	idle := b.idle
	b.mu.Unlock()
	if !idle {
		return nil
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-b.wake:
		return nil
	}
}

func (b *Buffer) ready() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.shut || b.slots.len() > 1 || b.slots.len() == 1 && b.slots.first().settled
}
