package api

import (
	"context"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/access"
)

// Requests that read thousands of actions hold a connection to the database for
// seconds. Were there as many of them as there are connections, nobody could declare
// an action meanwhile. So one of a workspace runs at a time and two in all; the
// others wait a little and are then asked to come again.
const (
	heaviest    = 2
	heavyWait   = 3 * time.Second
	heavyComeAt = 5 * time.Second
)

type heavy struct {
	slots chan struct{}
	mu    sync.Mutex
	own   map[access.WorkspaceID]chan struct{} // of those who run or wait
	users map[access.WorkspaceID]int
}

func newHeavy() *heavy {
	return &heavy{slots: make(chan struct{}, heaviest), own: map[access.WorkspaceID]chan struct{}{}, users: map[access.WorkspaceID]int{}}
}

// enter waits for a place. Error: an [access.ThrottleError], or the context's.
func (h *heavy) enter(ctx context.Context, w access.WorkspaceID) (leave func(), err error) {
	own := h.ownOf(w)
	timer := time.NewTimer(heavyWait)
	defer timer.Stop()
	var held []chan struct{}
	leave = func() {
		for _, slot := range held {
			<-slot
		}
		h.leaveOwn(w)
	}
	for _, slot := range []chan struct{}{own, h.slots} {
		select {
		case slot <- struct{}{}:
			held = append(held, slot)
		case <-timer.C:
			leave()
			return nil, &access.ThrottleError{RetryAfter: heavyComeAt}
		case <-ctx.Done():
			leave()
			return nil, context.Cause(ctx)
		}
	}
	return leave, nil
}

func (h *heavy) ownOf(w access.WorkspaceID) chan struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.own[w] == nil {
		h.own[w] = make(chan struct{}, 1)
	}
	h.users[w]++
	return h.own[w]
}

func (h *heavy) leaveOwn(w access.WorkspaceID) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.users[w]--; h.users[w] == 0 {
		delete(h.users, w)
		delete(h.own, w)
	}
}
