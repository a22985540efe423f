package stdio

import (
	"bytes"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// stderrLimit is how much of the server's stderr waits for a client that does
// not read it. Beyond that it is let go and counted: a server must never be
// stopped by a full pipe that nobody reads.
const stderrLimit = 16 << 20

// flushTime is after how long a client that takes nothing of the last of stderr is not
// waited for any more.
const flushTime = 2 * time.Second

// pieceSize is how much of it is passed on at once, so that it shows what a client
// takes.
const pieceSize = 32 << 10

// looks is at how many looks in a row nothing must have come, or gone, until a pipe is
// given up. Looks are counted and not time, as [wire.Relay.Expire] does: a machine that
// lets this process stand still must not cost what waits in the pipe.
const looks = 8

// relay carries the server's stderr to the client as it is, with our own
// lines between the server's lines. Reading never waits for writing.
type relay struct {
	out io.Writer

	mu      sync.Mutex
	ready   sync.Cond
	pending []byte
	own     [][]byte // our lines that wait for the server's line to end
	midLine bool
	total   stderrCount
	closed  bool
	ended   chan struct{} // closed when reading has ended
	wrote   chan struct{} // closed when writing has ended
	passed  atomic.Int64  // how many pieces the client has taken
}

type stderrCount struct{ bytes, lines, lost int64 }

func newRelay(out io.Writer) *relay {
	r := &relay{out: out, ended: make(chan struct{}), wrote: make(chan struct{})}
	r.ready.L = &r.mu
	return r
}

// read takes everything that the server writes until it ends.
func (r *relay) read(src io.Reader) {
	defer close(r.ended)
	buf := make([]byte, 32<<10)
	for {
		n, err := src.Read(buf)
		r.add(buf[:n])
		if err != nil {
			return
		}
	}
}

func (r *relay) add(data []byte) {
	if len(data) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total.bytes += int64(len(data))
	r.total.lines += int64(bytes.Count(data, []byte{'\n'}))
	if len(r.pending)+len(data) > stderrLimit {
		r.total.lost += int64(len(data))
		return
	}
	for len(r.own) > 0 {
		end := bytes.IndexByte(data, '\n')
		if end < 0 {
			break
		}
		r.pending = append(r.pending, data[:end+1]...)
		data = data[end+1:]
		r.flushOwn()
	}
	r.pending = append(r.pending, data...)
	if len(data) > 0 {
		r.midLine = data[len(data)-1] != '\n'
	}
	r.ready.Signal()
}

// say puts one line of ours behind the line that the server is writing.
func (r *relay) say(line string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.own) >= 1000 || len(r.pending) > stderrLimit {
		return // nobody reads them
	}
	r.own = append(r.own, append([]byte(line), '\n'))
	if !r.midLine {
		r.flushOwn()
		r.ready.Signal()
	}
}

func (r *relay) flushOwn() {
	for _, line := range r.own {
		r.pending = append(r.pending, line...)
	}
	r.own = nil
	r.midLine = false
}

// write passes on what was read, as fast as the client takes it.
func (r *relay) write() {
	defer close(r.wrote)
	var spare []byte
	for {
		r.mu.Lock()
		for len(r.pending) == 0 && !r.closed {
			r.ready.Wait()
		}
		out := r.pending
		r.pending = spare[:0]
		r.mu.Unlock()
		if len(out) == 0 {
			return
		}
		for piece := range slices.Chunk(out, pieceSize) {
			if _, err := r.out.Write(piece); err != nil {
				r.discard()
				return
			}
			r.passed.Add(1)
		}
		spare = out
		if cap(spare) > 1<<20 {
			spare = nil
		}
	}
}

// discard is what is left to do when the client has closed stderr: the
// server's writes must go on without an end.
func (r *relay) discard() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for !r.closed {
		r.total.lost += int64(len(r.pending))
		r.pending = nil
		r.ready.Wait()
	}
}

// count is what the server wrote so far.
func (r *relay) count() stderrCount {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total
}

// expire waits for the end of the server's stderr, and gives it up when nothing came
// for a while.
func (r *relay) expire(src io.Closer, idle time.Duration) {
	look := time.NewTicker(idle / looks)
	defer look.Stop()
	r.expireAfter(src, look.C)
}

func (r *relay) expireAfter(src io.Closer, look <-chan time.Time) {
	if !awaitWhile(r.ended, look, func() int64 { return r.count().bytes }) {
		_ = src.Close()
	}
}

// awaitWhile waits for an end as long as a count grows, and says whether it came.
func awaitWhile(end <-chan struct{}, look <-chan time.Time, count func() int64) bool {
	last := count()
	for still := 0; still < looks; still++ {
		select {
		case <-end:
			return true
		case <-look:
		}
		if now := count(); now != last {
			last, still = now, -1
		}
	}
	return false
}

// end delivers what is left, for as long as the client takes it.
func (r *relay) end() {
	r.mu.Lock()
	if r.midLine && len(r.own) > 0 {
		r.pending = append(r.pending, '\n')
	}
	r.flushOwn()
	r.closed = true
	r.ready.Signal()
	r.mu.Unlock()
	look := time.NewTicker(flushTime / looks)
	defer look.Stop()
	awaitWhile(r.wrote, look.C, r.passed.Load)
}
