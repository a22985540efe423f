package journal

import (
	"database/sql"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// keepAt keeps a body of a size that cannot be compressed, at a time.
func (r *recording) keepAt(at time.Time, size int) {
	r.t.Helper()
	r.at = at.UnixMicro()
	r.keepBytes(noise(size))
}

func bodiesLeft(t testing.TB, home string) []int64 {
	t.Helper()
	var left []int64
	tamper(t, home, func(db *sql.DB) error {
		rows, err := db.Query("SELECT n FROM bodies ORDER BY n")
		if err != nil {
			return err
		}
		defer rows.Close()
		for rows.Next() {
			var n int64
			if err := rows.Scan(&n); err != nil {
				return err
			}
			left = append(left, n)
		}
		return rows.Err()
	})
	return left
}

func TestRetentionTakesTheOldestBodiesAndNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for _, test := range []struct {
		name   string
		policy Policy
		gone   int64
	}{
		{"nothing is over the limits", Policy{MaxAge: 100 * day}, 0},
		{"what is older than 30 days goes by default", Policy{}, 2},
		{"what is older than a week", Policy{MaxAge: 7 * day}, 3},
		{"no limit of age", Policy{MaxAge: -1}, 0},
		{"more bytes than allowed", Policy{MaxAge: -1, MaxBytes: 25_000}, 3},
		{"just as many bytes as allowed", Policy{MaxAge: -1, MaxBytes: 50_000}, 0},
		{"both, whichever takes more", Policy{MaxAge: 7 * day, MaxBytes: 15_000}, 4},
		{"no body may stay", Policy{MaxBytes: 1}, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			j := openJournal(t, home, keepAll())
			r := recordAt(t, j, "raw")
			now := time.Now()
			for _, age := range []time.Duration{60 * day, 31 * day, 8 * day, 2 * day, time.Minute} {
				r.keepAt(now.Add(-age), 10_000)
			}
			r.end(0)
			closeJournal(t, j)
			usage, err := UsageOf(testContext(t), home, test.policy)
			if err != nil {
				t.Fatal(err)
			}
			erasure, err := Prune(testContext(t), home, test.policy)
			if err != nil {
				t.Fatal(err)
			}
			if usage.Over.Bodies != test.gone || erasure.Bodies != test.gone || erasure.Details != 0 || int64(len(bodiesLeft(t, home))) != 5-test.gone {
				t.Errorf("%d bodies were over the limits, erased %+v, bodies of %v are left", usage.Over.Bodies, erasure, bodiesLeft(t, home))
			}
			report := intact(t, home)
			if report.ErasedBodies != test.gone || report.Erased != 0 {
				t.Errorf("report is %+v", report)
			}
			if test.gone > 0 && (erasure.First != 1 || erasure.Last != test.gone || report.Erasures[0].Scope != entry.ScopeRetention) {
				t.Errorf("erased %+v", erasure)
			}
			again, err := Prune(testContext(t), home, test.policy)
			if err != nil || again.Entries != 0 {
				t.Errorf("pruning again erases %+v, %v", again, err)
			}
		})
	}
}

func TestRecordersPruneAtASessionsEndAndNotTwiceAnHour(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	old := time.Now().Add(-60 * 24 * time.Hour)
	session := func(end bool) {
		j := openJournal(t, home, Options{})
		j.writer.pruner.grace = time.Minute
		r := recordAt(t, j, "raw")
		r.keepAt(old, 1_000)
		r.at = time.Now().UnixMicro()
		if end {
			r.end(0)
		}
		closeJournal(t, j)
	}
	session(false)
	if left := bodiesLeft(t, home); len(left) != 1 {
		t.Fatalf("bodies of %v are left before any session has ended", left)
	}
	session(true)
	if left := bodiesLeft(t, home); len(left) != 0 {
		t.Fatalf("bodies of %v are left after a session's end", left)
	}
	session(true)
	if left := bodiesLeft(t, home); len(left) != 1 {
		t.Fatalf("bodies of %v are left, although somebody pruned just now", left)
	}
	hourAgo := time.Now().Add(-pruneEvery - time.Second).UnixMicro()
	tamper(t, home, func(db *sql.DB) error {
		_, err := db.Exec("UPDATE meta SET value = ? WHERE key = ?", hourAgo, prunedAtKey)
		return err
	})
	session(true)
	if left := bodiesLeft(t, home); len(left) != 0 {
		t.Fatalf("bodies of %v are left an hour later", left)
	}
	intact(t, home)
}

func TestALongSessionIsPrunedWhileItRuns(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	j.writer.pruner.every = 1 // before any entry, so that the writer has not looked
	r := recordAt(t, j, "raw")
	r.keepAt(time.Now().Add(-60*24*time.Hour), 1_000)
	deadline := testContext(t)
	for verify(t, home, VerifyOptions{}).ErasedBodies == 0 {
		r.keepAt(time.Now(), 0)
		if err := j.Sync(deadline); err != nil {
			t.Fatal("nothing was pruned while the session ran")
		}
	}
	r.end(0)
	closeJournal(t, j)
	if report := intact(t, home); report.ErasedBodies != 1 {
		t.Errorf("report is %+v", report)
	}
}
