package journal

import (
	"context"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// benchEntries is how many entries the big benchmarks use. Set
// DEED_BENCH_ENTRIES=1000000 for the full size.
func benchEntries() int {
	if n, err := strconv.Atoi(os.Getenv("DEED_BENCH_ENTRIES")); err == nil && n > 0 {
		return n
	}
	return 50_000
}

// fill records calls until there are about n entries.
func fill(tb testing.TB, j *Journal, n int) {
	ctx := context.Background()
	const perSession = 10_000
	for done := 0; done < n; {
		r := record(tb, j, newSession())
		r.ctx = ctx
		for range min(perSession, n-done) / 2 {
			r.answer(r.request("refund", 200), entry.OutcomeOK, 1_500, 300)
		}
		r.end(0)
		done += int(r.seq)
	}
}

func BenchmarkDurableEntries(b *testing.B) {
	for b.Loop() {
		j := openJournal(b, b.TempDir(), Options{})
		began := time.Now()
		n := benchEntries()
		fill(b, j, n)
		if err := j.Sync(context.Background()); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(float64(n)/time.Since(began).Seconds(), "entries/s")
		closeJournal(b, j)
	}
}

func BenchmarkVerify(b *testing.B) {
	home := b.TempDir()
	j := openJournal(b, home, Options{})
	n := benchEntries()
	fill(b, j, n)
	closeJournal(b, j)
	runtime.GC()
	debug.FreeOSMemory()
	var most atomic.Uint64
	for b.Loop() {
		began := time.Now()
		report, err := Verify(context.Background(), home, VerifyOptions{Progress: func(done, _ int64) {
			if done%(16*chunkEntries) == 0 { // reading it stops the world
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				most.Store(max(most.Load(), m.HeapInuse))
			}
		}})
		if err != nil || !report.Intact() {
			b.Fatalf("verify: %v %+v", err, report.Findings)
		}
		b.ReportMetric(float64(report.Entries)/time.Since(began).Seconds(), "entries/s")
	}
	b.ReportMetric(float64(most.Load())/(1<<20), "MiB-heap")
}

// BenchmarkQuestions asks what last, tail and cost ask.
func BenchmarkQuestions(b *testing.B) {
	home := b.TempDir()
	j := openJournal(b, home, Options{})
	fill(b, j, benchEntries())
	closeJournal(b, j)
	r := openReader(b, home)
	ctx := context.Background()
	runs, err := r.Runs(ctx, RunFilter{Limit: 1})
	if err != nil {
		b.Fatal(err)
	}
	newest := runs[0].ID
	for name, ask := range map[string]func() error{
		"runs":                 func() error { _, err := r.Runs(ctx, RunFilter{}); return err },
		"totals of a session":  func() error { _, err := r.Totals(ctx, newest, 0); return err },
		"totals of everything": func() error { _, err := r.Totals(ctx, "", 0); return err },
		"newest calls":         func() error { _, err := r.Calls(ctx, CallFilter{Order: Newest, Limit: 20}); return err },
		"newest failed calls":  func() error { _, err := r.Calls(ctx, CallFilter{Failed: true, Order: Newest, Limit: 20}); return err },
		"biggest of a session": func() error {
			_, err := r.Calls(ctx, CallFilter{Session: newest, Order: Biggest, Limit: 5})
			return err
		},
		"biggest of everything": func() error { _, err := r.Calls(ctx, CallFilter{Order: Biggest, Limit: 5}); return err },
		"one call":              func() error { _, err := r.Call(ctx, newest, 1); return err },
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if err := ask(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
