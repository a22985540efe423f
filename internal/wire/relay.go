package wire

import (
	"fmt"
	"io"
	"sync"
	"time"
)

const (
	firstBuffer = 64 << 10  // what a pipe holds on most systems
	largeBuffer = 256 << 10 // for a source that fills the first one
)

// End says why a relay stopped.
type End uint8

// The ways a relay ends.
const (
	SourceEnded  End = iota // end of file; with a gate, all that was held was decided first
	SourceFailed            // reading failed; Err says how
	SinkGone                // the other side takes no more (EPIPE and its like); Err says how
	Stopped                 // Stop was called
	Silent                  // nothing came for as long as Expire allows
)

// String names the end in words.
func (e End) String() string {
	switch e {
	case SourceEnded:
		return "source ended"
	case SourceFailed:
		return "source failed"
	case SinkGone:
		return "sink gone"
	case Stopped:
		return "stopped"
	case Silent:
		return "silent"
	}
	return fmt.Sprintf("end %d", uint8(e))
}

// Result is what a relay did.
type Result struct {
	End         End
	Err         error // for SourceFailed and SinkGone
	Read        int64 // bytes taken from the source
	Written     int64 // bytes the sink accepted
	Refused     int64 // bytes a gate kept back
	Undelivered int64 // bytes held for a gate that never reached the sink
	TapErr      error // a *PanicError; the tap was not called again after it
	GateErr     error // a *PanicError; the line it was about went on
}

// Relay copies one direction of a wire. Set Src, Dst and From, and of the
// rest what is wanted; then call Run once. Stop and Expire may be called from
// any goroutine, before, during and after Run.
//
// A relay closes neither Src nor Dst. A program whose Dst is its own standard
// output must be notified of SIGPIPE (os/signal), or the runtime ends it when
// the client goes away.
type Relay struct {
	Src  io.Reader
	Dst  io.Writer // an *Injector where answers may join the stream
	From Direction

	Tap      Tap         // optional; a *Contained is shared between both relays
	Panicked func(error) // optional; told at once when the tap or the gate panics

	Gate    Gate      // optional; asked about each whole line
	Answers *Injector // where the gate's answers go; without it they are dropped

	spillFolder string // for tests; empty is the system's own
	limits      limits // for tests; zero is the usual ones

	once     sync.Once
	source   source
	stopped  chan struct{} // closed by Stop
	stopOnce sync.Once
	finished chan struct{} // closed when Run returns
}

func (r *Relay) init() {
	r.once.Do(func() {
		r.source.src = r.Src
		r.source.lost = make(chan End, 1)
		r.stopped = make(chan struct{})
		r.finished = make(chan struct{})
	})
}

// Run copies until a side ends, tells the tap so, and returns. When the relay
// is stopped or expires during a read that nothing can interrupt, Run returns
// all the same. The goroutine in that read then ends with the source, and
// throws away what it gets.
func (r *Relay) Run() Result {
	r.init()
	defer close(r.finished)
	tap := contain(r.Tap, r.Panicked)

	var result Result
	if r.Gate == nil {
		result = r.copyChunks(tap)
	} else {
		result = newGated(r, tap).run()
	}
	tap.Close(r.From, result.Undelivered)
	if injector, ok := r.Dst.(*Injector); ok {
		injector.end()
	}
	result.TapErr = tap.Err()
	return result
}

// copyChunks is the wire at its plainest: read, offer, write, settle.
func (r *Relay) copyChunks(tap *Contained) Result {
	var result Result
	done := make(chan struct{})
	go func() {
		defer close(done)
		buf := make([]byte, firstBuffer)
		for {
			n, err := r.source.read(buf)
			if err == errLost {
				return
			}
			if n > 0 {
				place := tap.Offer(r.From, buf[:n])
				written, writeErr := writeAll(r.Dst, buf[:n])
				tap.Settle(place, written)
				result.Read += int64(n)
				result.Written += int64(written)
				if writeErr != nil {
					result.End, result.Err = SinkGone, fmt.Errorf("write to the %s: %w", r.From.other(), writeErr)
					return
				}
			}
			if err != nil {
				result.End, result.Err = r.sourceEnd(err)
				return
			}
			if n == len(buf) && n < largeBuffer {
				buf = make([]byte, largeBuffer)
			}
		}
	}()
	select {
	case <-done:
		// A write that Stop cut short is a stop, not a client or server lost.
		if result.End == SinkGone && r.wasStopped() {
			result.End, result.Err = Stopped, nil
		}
	case end := <-r.source.lost:
		result.End = end
	}
	return result
}

// sourceEnd tells an ordinary end of file from a failure.
func (r *Relay) sourceEnd(err error) (End, error) {
	switch err {
	case io.EOF:
		return SourceEnded, nil
	case errStopping:
		return Stopped, nil
	}
	return SourceFailed, fmt.Errorf("read from the %s: %w", r.From, err)
}

// Stop ends the relay: at once when it waits for its source, else after the
// chunk in hand. Lines that wait for a gate are not forwarded any more. A
// write that is under way is cut short where Dst has write deadlines.
func (r *Relay) Stop() {
	r.init()
	r.stopOnce.Do(func() { close(r.stopped) })
	r.source.giveUp(Stopped)
	if dst, ok := r.Dst.(interface{ SetWriteDeadline(time.Time) error }); ok {
		_ = dst.SetWriteDeadline(time.Unix(1, 0)) // not every file has deadlines; then the write ends by itself
	}
}

func (r *Relay) wasStopped() bool {
	select {
	case <-r.stopped:
		return true
	default:
		return false
	}
}

// silentLooks is at how many looks in a row a source has to be silent.
const silentLooks = 8

// Expire ends the relay once its source has been silent for idle, which is noticed
// at most an eighth late. It is for the server's side after the server has died,
// where a process it left behind may hold the pipe open for ever. Time spent in a
// write to a slow reader is not silence, and every read starts the time again.
func (r *Relay) Expire(idle time.Duration) {
	r.init()
	go func() {
		ticker := time.NewTicker(max(idle/silentLooks, time.Millisecond))
		defer ticker.Stop()
		r.expire(ticker.C)
	}()
}

// expire counts looks and not time: where the machine lets this process stand still,
// time passes, and what came meanwhile waits in the pipe to be read.
func (r *Relay) expire(looks <-chan time.Time) {
	reads, silent := r.source.reads.Load(), 0
	for {
		select {
		case <-r.finished:
			return
		case <-looks:
		}
		if current := r.source.reads.Load(); current != reads || !r.source.waiting() {
			reads, silent = current, 0
			continue
		}
		if silent++; silent >= silentLooks && r.source.giveUpWaiting(Silent) {
			return
		}
	}
}

// other is the side that d's bytes go to.
func (d Direction) other() Direction {
	if d == FromClient {
		return FromServer
	}
	return FromClient
}

// writeAll writes data and holds the writer to its contract: fewer bytes than
// asked for come with an error, and never more.
func writeAll(dst io.Writer, data []byte) (int, error) {
	n, err := dst.Write(data)
	n = min(max(n, 0), len(data))
	if err == nil && n < len(data) {
		err = io.ErrShortWrite
	}
	return n, err
}
