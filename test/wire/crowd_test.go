//go:build unix

package wiretest

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestTwentyRecordersAtOnceRecordEverythingInOneHome(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: twenty recorders at once, because of -short")
	}
	const recorders, each = 20, 200
	home := newHome(t)
	latencies := func(way func(n int) route) []time.Duration {
		var all []time.Duration
		var mu sync.Mutex
		var done sync.WaitGroup
		for n := range recorders {
			s := open(t, way(n), setup{})
			done.Go(func() {
				complaint := complaintOf(func(p tb) {
					s.t, s.client.t, s.server.t = p, p, p
					took := askInTurn(p, s, n*each, (n+1)*each)
					s.client.closeInput()
					s.client.mustExit(0, patience)
					mu.Lock()
					defer mu.Unlock()
					all = append(all, took...)
				})
				if complaint != "" {
					t.Errorf("recorder %d: %s", n, complaint)
				}
			})
		}
		done.Wait()
		slices.Sort(all)
		return all
	}
	without := latencies(func(int) route { return direct() })
	with := latencies(func(n int) route { return throughDeed(home, "--label", fmt.Sprint("crowd ", n)) })
	if len(with) != recorders*each || len(without) != recorders*each {
		t.Fatalf("%d and %d answers, want %d", len(without), len(with), recorders*each)
	}
	for _, point := range []struct {
		name string
		at   int
	}{{"median", len(with) / 2}, {"p99", len(with) * 99 / 100}, {"worst", len(with) - 1}} {
		t.Logf("%d recorders, %s round trip: %v direct, %v recorded, %v added", recorders, point.name,
			without[point.at].Round(time.Microsecond), with[point.at].Round(time.Microsecond), (with[point.at] - without[point.at]).Round(time.Microsecond))
	}
	mustVerify(t, home)
	calls := callsIn(t, home)
	named := byTool(t, calls)
	sessions := make(map[string]int)
	for n := range recorders * each {
		c, there := named[tool(n)]
		if !there || !c.answered() {
			t.Fatalf("the call to %s is not recorded with its answer", tool(n))
		}
		if want := fmt.Sprint("crowd ", n/each); c.Label != want {
			t.Errorf("the call to %s is recorded under %q, want %q", tool(n), c.Label, want)
		}
		sessions[c.Session]++
	}
	if len(calls) != recorders*each || len(sessions) != recorders {
		t.Errorf("%d calls in %d sessions are recorded, want %d in %d", len(calls), len(sessions), recorders*each, recorders)
	}
}
