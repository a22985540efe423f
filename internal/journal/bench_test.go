package journal

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"testing"
	"time"
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
			r.answer(r.request("refund", 200), OutcomeOK, 1_500, 300)
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
	for b.Loop() {
		began := time.Now()
		report, err := Verify(context.Background(), home, VerifyOptions{})
		if err != nil || !report.Intact() {
			b.Fatalf("verify: %v %+v", err, report.Findings)
		}
		b.ReportMetric(float64(report.Entries)/time.Since(began).Seconds(), "entries/s")
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
}
