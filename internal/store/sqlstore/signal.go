package sqlstore

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/access"
)

const (
	// maxSignalled is how many workspaces may be waiting to be told of. The sweep of
	// whoever listens finds what is left out.
	maxSignalled = 4096
	// tellEvery is how often other processes are told at most: telling takes a lock
	// that all who tell wait for, so it is no part of a unit's commit.
	tellEvery = 20 * time.Millisecond
	// tellFor is how long telling may take.
	tellFor = 5 * time.Second
)

// signaller passes on which workspaces have wakes that are due: to this process at
// once, to others soon. Each workspace waits once, however often it is named.
type signaller struct {
	driver Driver
	woken  chan access.WorkspaceID
	stop   chan struct{}
	done   sync.WaitGroup

	mu    sync.Mutex
	here  waiting
	there waiting
}

// waiting is a set of workspaces in the order in which they came.
type waiting struct {
	list  []access.WorkspaceID
	added chan struct{} // holds one if the list is not empty
}

func newSignaller(d Driver) *signaller {
	s := &signaller{
		driver: d, woken: make(chan access.WorkspaceID), stop: make(chan struct{}),
		here:  waiting{added: make(chan struct{}, 1)},
		there: waiting{added: make(chan struct{}, 1)},
	}
	s.done.Go(s.pass)
	if d.Told() != nil {
		s.done.Go(s.tell)
	}
	return s
}

// wake tells everybody that wakes of a workspace are due.
func (s *signaller) wake(w access.WorkspaceID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.here.add(w)
	if s.driver.Told() != nil {
		s.there.add(w)
	}
}

func (l *waiting) add(w access.WorkspaceID) {
	if len(l.list) < maxSignalled && !slices.Contains(l.list, w) {
		l.list = append(l.list, w)
	}
	select {
	case l.added <- struct{}{}:
	default:
	}
}

// pass hands workspaces to whoever listens, and takes in what others tell.
func (s *signaller) pass() {
	defer close(s.woken)
	for {
		s.mu.Lock()
		var out chan access.WorkspaceID
		var next access.WorkspaceID
		if len(s.here.list) > 0 {
			out, next = s.woken, s.here.list[0]
		}
		s.mu.Unlock()
		select {
		case out <- next:
			s.mu.Lock()
			s.here.list = s.here.list[1:]
			s.mu.Unlock()
		case <-s.here.added:
		case w, open := <-s.driver.Told():
			if open {
				s.mu.Lock()
				s.here.add(w)
				s.mu.Unlock()
			}
		case <-s.stop:
			return
		}
	}
}

// tell tells other processes.
func (s *signaller) tell() {
	pause := time.NewTicker(tellEvery)
	defer pause.Stop()
	for {
		select {
		case <-s.there.added:
		case <-s.stop:
			return
		}
		s.mu.Lock()
		workspaces := s.there.list
		s.there.list = nil
		s.mu.Unlock()
		ctx, cancel := context.WithTimeout(context.Background(), tellFor)
		_ = s.driver.Tell(ctx, workspaces) // they find it by themselves a little later
		cancel()
		select {
		case <-pause.C:
		case <-s.stop:
			return
		}
	}
}

func (s *signaller) close() {
	close(s.stop)
	s.done.Wait()
}
