package journal

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// keepDiskBusy has other processes write to the disk until it is told to stop.
func keepDiskBusy(tb testing.TB, dir string, writers int) (stop func()) {
	var busy []*exec.Cmd
	for range writers {
		child, _ := startChild(tb, "busy disk", filepath.Join(dir, newSession()))
		busy = append(busy, child)
	}
	return func() {
		for _, child := range busy {
			child.Process.Kill()
			child.Wait() // killed, as it says
		}
	}
}

// BenchmarkCommitBesideABusyDisk tells how long a call's entries wait until
// they survive kill -9 while other programs sync big files without a pause.
// One call of two entries comes every 5 ms, a session ends every 200 calls.
func BenchmarkCommitBesideABusyDisk(b *testing.B) {
	for b.Loop() {
		dir := b.TempDir()
		stop := keepDiskBusy(b, dir, 2)
		j := openJournal(b, filepath.Join(dir, "home"), Options{})
		var waits []time.Duration
		until := time.Now().Add(15 * time.Second)
		for time.Now().Before(until) {
			r := record(b, j, newSession())
			r.ctx = context.Background()
			for range 200 {
				began := time.Now()
				r.answer(r.request("refund", 200), entry.OutcomeOK, 1_500, 300)
				waitCommitted(j)
				waits = append(waits, time.Since(began))
			}
			r.end(0)
		}
		closeJournal(b, j)
		stop()
		slices.Sort(waits)
		at := func(share float64) float64 {
			return float64(waits[int(share*float64(len(waits)-1))].Microseconds()) / 1e3
		}
		b.ReportMetric(float64(len(waits)), "calls")
		b.ReportMetric(at(0.5), "ms-median")
		b.ReportMetric(at(0.99), "ms-p99")
		b.ReportMetric(at(0.999), "ms-p99.9")
		b.ReportMetric(at(1), "ms-worst")
	}
}

// BenchmarkCommit is one group of a call: what a recorder spends per commit.
func BenchmarkCommit(b *testing.B) {
	j := openJournal(b, b.TempDir(), Options{})
	r := record(b, j, newSession())
	r.ctx = context.Background()
	for b.Loop() {
		r.answer(r.request("refund", 200), entry.OutcomeOK, 1_500, 300)
		waitCommitted(j)
	}
	b.StopTimer()
	closeJournal(b, j)
}
