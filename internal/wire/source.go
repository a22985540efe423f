package wire

import (
	"errors"
	"io"
	"sync/atomic"
	"time"
)

var (
	errLost     = errors.New("the source was given up during a read")
	errStopping = errors.New("the relay was stopped between two reads")
)

// source is a reader that can be given up while a read is under way, whether
// the read can be interrupted or not. One swap decides who owns what the read
// returns, so that the fast path has no lock and needs no deadlines: those
// cost a poller's wake-up for each read.
type source struct {
	src      io.Reader
	state    atomic.Int32
	stopping atomic.Bool  // no further read may start
	reads    atomic.Int64 // how many reads have returned
	lost     chan End     // gets the reason when a waiting read is given up
}

const (
	stateBusy    int32 = iota // the reader handles what it got
	stateWaits                // the reader is in Read
	stateGivenUp              // whatever Read returns is thrown away
)

// read reads once. After errLost the caller must touch nothing it shares.
func (s *source) read(buf []byte) (int, error) {
	s.state.Store(stateWaits)
	// Checked after the store: giveUp sets the flag before it looks at the
	// state, so one of the two sees the other.
	if s.stopping.Load() {
		if !s.state.CompareAndSwap(stateWaits, stateBusy) {
			return 0, errLost
		}
		return 0, errStopping
	}
	n, err := s.src.Read(buf)
	if !s.state.CompareAndSwap(stateWaits, stateBusy) {
		return 0, errLost
	}
	s.reads.Add(1)
	return n, err
}

func (s *source) waiting() bool { return s.state.Load() == stateWaits }

// giveUp lets no further read start, and gives up one that waits. It reports
// whether there was one; otherwise the reader finds out before its next read.
func (s *source) giveUp(why End) bool {
	s.stopping.Store(true)
	return s.giveUpWaiting(why)
}

// giveUpWaiting gives up a read that waits, and does nothing to a busy reader.
func (s *source) giveUpWaiting(why End) bool {
	if !s.state.CompareAndSwap(stateWaits, stateGivenUp) {
		return false
	}
	s.lost <- why
	if file, ok := s.src.(interface{ SetReadDeadline(time.Time) error }); ok {
		_ = file.SetReadDeadline(time.Unix(1, 0)) // frees the goroutine where it can be freed
	}
	return true
}
