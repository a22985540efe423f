package stdio

import (
	"bytes"
	"io"
	"os"
	"sync"
	"time"
)

// stderrLimit is how much of the server's stderr waits for a client that does
// not read it. Beyond that it is let go and counted: a server must never be
// stopped by a full pipe that nobody reads.
const stderrLimit = 16 << 20

// flushTime is how long the last of stderr may take to be delivered.
const flushTime = 2 * time.Second

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
}

type stderrCount struct{ bytes, lines, lost int64 }

func newRelay(out io.Writer) *relay {
	r := &relay{out: out, ended: make(chan struct{}), wrote: make(chan struct{})}
	r.ready.L = &r.mu
	return r
}

// read takes everything that the server writes until it ends.
func (r *relay) read(src *os.File) {
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
		if _, err := r.out.Write(out); err != nil {
			r.discard()
			return
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

// expire waits for the end of the server's stderr, and gives it up when
// nothing came for a while.
func (r *relay) expire(src *os.File, idle time.Duration) {
	last := r.count().bytes
	for {
		select {
		case <-r.ended:
			return
		case <-time.After(idle):
		}
		now := r.count().bytes
		if now == last {
			src.Close()
			return
		}
		last = now
	}
}

// end delivers what is left, for a bounded time.
func (r *relay) end() {
	r.mu.Lock()
	if r.midLine && len(r.own) > 0 {
		r.pending = append(r.pending, '\n')
	}
	r.flushOwn()
	r.closed = true
	r.ready.Signal()
	r.mu.Unlock()
	select {
	case <-r.wrote:
	case <-time.After(flushTime):
	}
}
