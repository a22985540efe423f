package journal

import (
	"database/sql"
	"errors"
	"os"
	"sync/atomic"
	"testing"

	"github.com/deed-dev/deed/internal/journal/entry"
)

func TestACommitDoesNotWaitForTheDiskAndASyncDoes(t *testing.T) {
	t.Parallel()
	flushing, stuck := make(chan struct{}, 100), make(chan struct{})
	j, err := open(t.TempDir(), Options{}, &faults{flush: func(flush func() error) error {
		flushing <- struct{}{}
		<-stuck
		return flush()
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, j, newSession())
	synced := make(chan error, 1)
	go func() { synced <- j.Sync(testContext(t)) }()
	<-flushing
	for range 5 { // ends too, which become durable by themselves
		r.end(0)
		r = record(t, j, newSession())
		waitCommitted(j)
	}
	select {
	case err := <-synced:
		t.Errorf("sync returned before the disk had anything: %v", err)
	default:
	}
	var unwritten *UnwrittenError
	if err := j.Close(doneContext()); !errors.As(err, &unwritten) || unwritten.Entries != 0 || unwritten.Unflushed != 11 {
		t.Errorf("close says %v, not that 11 entries are not durable", err)
	}
	close(stuck)
	if err := <-synced; err != nil {
		t.Errorf("sync says %v", err)
	}
	closeJournal(t, j)
}

func TestAnEndIsMadeDurableWithoutAnybodyWaitingForIt(t *testing.T) {
	t.Parallel()
	var flushes atomic.Int64
	j, err := open(t.TempDir(), Options{}, &faults{flush: func(flush func() error) error {
		flushes.Add(1)
		return flush()
	}})
	if err != nil {
		t.Fatal(err)
	}
	record(t, j, newSession()).end(0)
	waitDurable(t, j, 2)
	if flushes.Load() == 0 {
		t.Error("called durable without a flush")
	}
	before := flushes.Load()
	r := record(t, j, newSession())
	r.request("x", 1)
	waitCommitted(j)
	if flushes.Load() != before {
		t.Error("a plain entry was flushed")
	}
	closeJournal(t, j)
	if flushes.Load() == before {
		t.Error("closed without a flush of what was committed last")
	}
}

func waitDurable(t *testing.T, j *Journal, entries int64) {
	t.Helper()
	q := j.queue
	q.mu.Lock()
	defer q.mu.Unlock()
	for q.durable < entries {
		news := q.changed
		q.mu.Unlock()
		select {
		case <-news:
		case <-testContext(t).Done():
			t.Error("the entries did not become durable")
		}
		q.mu.Lock()
	}
}

func TestAfterAFailedFlushTheWALIsCopiedBeforeAnythingIsCalledDurable(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	broken := errors.New("the disk says no")
	told := make(chan error, 10)
	var tries atomic.Int64
	j, err := open(home, Options{OnTrouble: func(err error) { told <- err }}, &faults{flush: func(flush func() error) error {
		if tries.Add(1) == 1 {
			return errors.Join(flush(), broken) // as if pages were lost and taken for clean
		}
		return flush()
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, j, newSession())
	for range 20 {
		r.answer(r.request("x", 3), entry.OutcomeOK, 4, 5)
	}
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if err := <-told; !errors.Is(err, broken) {
		t.Errorf("told of %v", err)
	}
	if j.Failing() != nil {
		t.Errorf("still failing: %v", j.Failing())
	}
	// What is durable must be in the database file alone.
	data, err := os.ReadFile(j.writer.folder.database())
	if err != nil {
		t.Fatal(err)
	}
	copied := t.TempDir()
	if err := os.WriteFile(copied+"/"+databaseName, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if report := verify(t, copied, VerifyOptions{}); !report.Intact() || report.Entries != 41 {
		t.Errorf("without the WAL: %+v", report)
	}
	r.end(0)
	closeJournal(t, j)
	if tries.Load() < 3 {
		t.Errorf("%d tries: the WAL was not trusted again", tries.Load())
	}
}

func TestASyncWithoutAWALFindsEverythingInTheDatabase(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	record(t, j, newSession()).end(0)
	closeJournal(t, j)
	f := &flusher{folder: j.writer.folder, flush: func(flush func() error) error { return flush() }}
	if err := f.makeDurable(); err != nil || f.wal != nil {
		t.Errorf("without a WAL: %v", err)
	}
	if err := os.Remove(j.writer.folder.database()); err != nil {
		t.Fatal(err)
	}
	if err := f.makeDurable(); !errors.As(err, new(*HomeError)) {
		t.Errorf("without a database: %v", err)
	}
}

func TestAWALThatWasReplacedIsFlushedByItsName(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	r := record(t, j, newSession())
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	f := &flusher{folder: j.writer.folder, flush: func(flush func() error) error { return flush() }}
	if err := f.makeDurable(); err != nil {
		t.Fatal(err)
	}
	first := f.info
	r.end(0)
	closeJournal(t, j) // the last connection deletes the WAL
	j = openJournal(t, home, Options{})
	record(t, j, newSession())
	waitCommitted(j)
	if err := f.makeDurable(); err != nil {
		t.Fatal(err)
	}
	now, err := os.Stat(j.writer.folder.database() + "-wal")
	if err != nil {
		t.Fatal(err)
	}
	if !os.SameFile(now, f.info) || f.info == first {
		t.Error("the WAL that is gone was flushed")
	}
	f.letGo()
	closeJournal(t, j)
}

func walFrames(t *testing.T, home string) (frames, copied int64) {
	t.Helper()
	tamper(t, home, func(db *sql.DB) error {
		var busy bool
		return db.QueryRow("PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &frames, &copied)
	})
	return frames, copied
}

func TestTheWALIsMovedBesideTheTraffic(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name       string
		soft, hard int64
	}{
		{"in a pause", 50, 1 << 30},
		{"and made to end where there is no pause", 50, 60},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			j, err := open(home, Options{}, &faults{softFrames: test.soft, hardFrames: test.hard})
			if err != nil {
				t.Fatal(err)
			}
			// Three hundred commits of about ten pages each.
			r := record(t, j, newSession())
			for range 300 {
				r.answer(r.request("x", 3), entry.OutcomeOK, 4, 5)
				if err := j.Sync(testContext(t)); err != nil {
					t.Fatal(err)
				}
			}
			waited := testContext(t)
			for {
				frames, _ := walFrames(t, home)
				if frames < 500 {
					break
				}
				if err := waited.Err(); err != nil {
					t.Fatalf("the WAL still has %d pages", frames)
				}
				r.request("x", 3)
				waitCommitted(j)
			}
			r.end(0)
			closeJournal(t, j)
			if report := verify(t, home, VerifyOptions{}); !report.Intact() {
				t.Errorf("findings: %+v", report.Findings)
			}
		})
	}
}
