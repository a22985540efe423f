package action

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-dev/deed/internal/access"
)

const crowded access.WorkspaceID = "ws_one"

// gathers says how long a leader waits after a unit that served some and took 8 ms,
// where others come after a time each.
func gathers(t *testing.T, served int, come ...time.Duration) (waited time.Duration, queued int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		l := &lines{open: map[access.WorkspaceID]*line{}}
		if !l.join(crowded, &ticket{}) {
			t.Fatal("the first one does not lead")
		}
		l.served(crowded, served, 8*time.Millisecond)
		for _, after := range come {
			time.AfterFunc(after, func() { l.join(crowded, &ticket{}) })
		}
		began := time.Now()
		l.gather(crowded)
		waited, queued = time.Since(began), len(l.take(crowded, maxCrowd))
	})
	return waited, queued
}

func TestALeaderWaitsForAsManyAsCameTheLastTime(t *testing.T) {
	t.Parallel()
	waited, queued := gathers(t, 3, 200*time.Microsecond, 400*time.Microsecond, 600*time.Microsecond)
	if waited != 400*time.Microsecond || queued != 2 {
		t.Errorf("it waits %s for %d, want 400µs for two beside itself", waited, queued)
	}
}

func TestALeaderWaitsNoLongerThanAPartOfAUnit(t *testing.T) {
	t.Parallel()
	waited, queued := gathers(t, 3, 200*time.Microsecond, time.Second)
	if waited != time.Millisecond || queued != 1 {
		t.Errorf("it waits %s for %d, want an eighth of 8ms for the one that comes", waited, queued)
	}
}

func TestWhoeverDeclaresAloneWaitsForNobody(t *testing.T) {
	t.Parallel()
	if waited, _ := gathers(t, 1); waited != 0 {
		t.Errorf("it waits %s", waited)
	}
}

// Where nobody crowds there is nothing to remember.
func TestALineThatServedOneIsForgotten(t *testing.T) {
	t.Parallel()
	for served, kept := range map[int]int{1: 0, 2: 1} {
		l := &lines{open: map[access.WorkspaceID]*line{}}
		l.join(crowded, &ticket{})
		l.served(crowded, served, time.Millisecond)
		l.handOver(crowded)
		if len(l.open) != kept {
			t.Errorf("after %d were served, %d lines are kept, want %d", served, len(l.open), kept)
		}
	}
}
