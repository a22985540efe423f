package journal

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// childMode makes the test binary a recorder of its own when it is run again.
const childMode = "DEED_TEST_JOURNAL_CHILD"

func TestMain(m *testing.M) {
	switch os.Getenv(childMode) {
	case "":
		os.Exit(m.Run())
	case "until killed":
		childUntilKilled(os.Args[1])
	case "erases":
		childErases(os.Args[1])
	case "latency":
		childLatency(os.Args[1])
	case "busy disk":
		childBusyDisk(os.Args[1])
	}
}

func startChild(t testing.TB, mode, home string) (*exec.Cmd, *bufio.Scanner) {
	t.Helper()
	child := exec.Command(os.Args[0], home)
	child.Env = append(os.Environ(), childMode+"="+mode)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	return child, bufio.NewScanner(out)
}

// childSession opens the journal, or ends the child with what went wrong.
func childSession(home string) (*Journal, *entry.Entry) {
	j, err := Open(home, Options{})
	childMust(err)
	e := &entry.Entry{Kind: entry.KindSession, Session: newSession(), At: time.Now().UnixMicro(), Capture: "shape"}
	childMust(j.Append(context.Background(), e, &entry.Detail{Label: "child"}))
	return j, e
}

func childMust(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "child:", err)
		os.Exit(1)
	}
}

func childAppend(j *Journal, e *entry.Entry) {
	e.Kind, e.From, e.Capture, e.Bytes = entry.KindNoise, "server", "", 10
	e.Seq++
	e.At = time.Now().UnixMicro()
	childMust(j.Append(context.Background(), e, &entry.Detail{Note: "something of a usual size, so that pages fill up"}))
}

// childUntilKilled writes and says, after each commit, what is safe by now.
// It syncs now and then, so that both kinds of commit are hit.
func childUntilKilled(home string) {
	j, e := childSession(home)
	for i := 0; ; i++ {
		for range rand.IntN(40) {
			childAppend(j, e)
		}
		if i%5 == 0 {
			childMust(j.Sync(context.Background()))
		} else {
			waitCommitted(j)
		}
		fmt.Println(e.Session, e.Seq)
	}
}

// waitCommitted waits until what was appended is committed, without asking
// for more than that.
func waitCommitted(j *Journal) {
	q := j.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for target := q.appended; q.committed < target; {
		news := q.changed
		q.mu.Unlock()
		<-news
		q.mu.Lock()
	}
}

// killPoints is how often writers are killed. Set DEED_KILL_POINTS=300 for a
// long dose.
func killPoints() int {
	if n, err := strconv.Atoi(os.Getenv("DEED_KILL_POINTS")); err == nil && n > 0 {
		return n
	}
	return 30
}

func TestNothingCommittedIsLostWhenWritersAreKilled(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	safe := make(map[string]int64) // by session, the last entry said to be committed
	const writers = 2
	for round := range (killPoints() + writers - 1) / writers {
		var wait sync.WaitGroup
		var mu sync.Mutex
		for range writers {
			child, lines := startChild(t, "until killed", home)
			after := rand.IntN(12)
			spin := time.Duration(rand.IntN(3_000)) * time.Microsecond
			wait.Go(func() {
				said := 0
				for lines.Scan() {
					session, seq, _ := strings.Cut(lines.Text(), " ")
					n, err := strconv.ParseInt(seq, 10, 64)
					if err != nil {
						t.Errorf("child said %q", lines.Text())
					}
					mu.Lock()
					safe[session] = n
					mu.Unlock()
					if said == after {
						// Somewhere within the next commits, not at its end.
						time.AfterFunc(spin, func() { child.Process.Kill() })
					}
					said++
				}
				if err := child.Wait(); said <= after {
					t.Errorf("child ended by itself: %v", err)
				}
			})
		}
		wait.Wait()
		report := verify(t, home, VerifyOptions{})
		if !report.Intact() {
			t.Fatalf("after round %d: %+v", round, report.Findings)
		}
	}
	r := openReader(t, home)
	there := make(map[string]int64)
	if err := r.Records(testContext(t), 0, func(record Record) error {
		there[record.Entry.Session] = record.Entry.Seq
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for session, seq := range safe {
		if there[session] < seq {
			t.Errorf("session %s was committed up to %d and holds %d", session, seq, there[session])
		}
	}
	t.Logf("%d writers killed", len(safe))
}

// childLatency measures how long an entry waits until it is committed, while
// others write as well. It prints µs.
func childLatency(home string) {
	j, e := childSession(home)
	waitCommitted(j)
	fmt.Println("ready")
	bufio.NewScanner(os.Stdin).Scan()
	for range 200 {
		began := time.Now()
		childAppend(j, e)
		waitCommitted(j)
		fmt.Println(time.Since(began).Microseconds())
	}
	childMust(j.Close(context.Background()))
}

// BenchmarkTwentyProcesses tells how long an entry waits until it is
// committed while twenty recorders write to one home without a pause.
func BenchmarkTwentyProcesses(b *testing.B) {
	for b.Loop() {
		home := b.TempDir()
		var waits []int64
		var mu sync.Mutex
		var done sync.WaitGroup
		for range 20 {
			child, lines := startChild(b, "latency", home)
			lines.Scan() // ready
			done.Go(func() {
				for lines.Scan() {
					us, err := strconv.ParseInt(lines.Text(), 10, 64)
					if err != nil {
						b.Errorf("child said %q", lines.Text())
					}
					mu.Lock()
					waits = append(waits, us)
					mu.Unlock()
				}
				if err := child.Wait(); err != nil {
					b.Errorf("child: %v", err)
				}
			})
		}
		done.Wait()
		if len(waits) != 20*200 {
			b.Fatalf("%d entries, not %d", len(waits), 20*200)
		}
		slices.Sort(waits)
		b.ReportMetric(float64(waits[len(waits)/2])/1e3, "ms-median")
		b.ReportMetric(float64(waits[len(waits)*99/100])/1e3, "ms-p99")
		b.ReportMetric(float64(waits[len(waits)-1])/1e3, "ms-worst")
		if report := verify(b, home, VerifyOptions{}); !report.Intact() {
			b.Fatalf("findings: %+v", report.Findings)
		}
	}
}

// childBusyDisk writes and syncs big files until it is killed.
func childBusyDisk(path string) {
	block := make([]byte, 1<<20)
	for {
		file, err := os.Create(path)
		childMust(err)
		for range 64 {
			_, err := file.Write(block)
			childMust(err)
		}
		childMust(file.Sync())
		childMust(file.Close())
	}
}
