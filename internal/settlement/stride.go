package settlement

import (
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/access"
)

// A unit that takes long holds up whoever declares and tells facts, on a database
// with one writer everybody. So what a unit takes on follows from how long the last
// one took.
//
// A part of that time is the same for units of any size: the way to the database and
// back, and waiting for a processor. So no unit does so little that a busy machine
// spends most of its time on that, and falls behind for it.
const (
	unhurried   = 100 * time.Millisecond // below that the next unit may do more
	tooLong     = 200 * time.Millisecond // above that it does less
	leastStride = 32
)

// strides are how many wakes the next unit of each workspace claims.
type strides struct {
	most int
	mu   sync.Mutex
	kept map[access.WorkspaceID]int // of those that do less than most
}

func (s *strides) of(w access.WorkspaceID) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n, less := s.kept[w]; less {
		return n
	}
	return s.most
}

// took learns from a unit that claimed up to n wakes.
func (s *strides) took(w access.WorkspaceID, n int, done Done, span time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case span > tooLong && done.Evaluated > leastStride:
		s.kept[w] = max(leastStride, min(n, done.Evaluated)/2)
	case span < unhurried && n < s.most && done.Wakes == n:
		s.kept[w] = 2 * n
	}
	if s.kept[w] >= s.most {
		delete(s.kept, w)
	}
}
