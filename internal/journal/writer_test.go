package journal

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

func TestACommitThatFailsIsTriedAgainAndNothingIsLostOrDoubled(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk says no")
	for _, test := range []struct {
		name   string
		commit func(commit func() error) error
	}{
		{"failed, and not kept", func(func() error) error { return broken }},
		{"failed, but kept", func(commit func() error) error { return errors.Join(commit(), broken) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			var failures atomic.Int64
			var told atomic.Int64
			j, err := open(home, Options{OnTrouble: func(err error) {
				if !errors.Is(err, broken) {
					t.Errorf("told of %v", err)
				}
				told.Add(1)
			}}, &faults{commit: func(commit func() error) error {
				if failures.Add(1)%4 != 0 { // three in four fail
					return test.commit(commit)
				}
				return commit()
			}})
			if err != nil {
				t.Fatal(err)
			}
			r := record(t, j, newSession())
			for range 20 {
				r.answer(r.request("x", 10), entry.OutcomeOK, 20, 5)
				if err := j.Sync(testContext(t)); err != nil {
					t.Fatal(err)
				}
			}
			r.end(0)
			closeJournal(t, j)
			if j.Failing() != nil {
				t.Errorf("still failing after all was written: %v", j.Failing())
			}
			if told.Load() == 0 || told.Load() > failures.Load() {
				t.Errorf("told %d times of %d tries", told.Load(), failures.Load())
			}
			report := verify(t, home, VerifyOptions{})
			if !report.Intact() || report.Entries != 42 {
				t.Errorf("%d entries, want 42: %+v", report.Entries, report.Findings)
			}
		})
	}
}

func TestCloseGivesUpInTimeAndSaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk says no")
	var mended atomic.Bool
	failed := make(chan struct{}, 1)
	home := t.TempDir()
	j, err := open(home, Options{OnTrouble: func(error) { failed <- struct{}{} }},
		&faults{commit: func(commit func() error) error {
			if mended.Load() {
				return commit()
			}
			return broken
		}})
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, j, newSession())
	r.request("x", 1)
	<-failed
	if !errors.Is(j.Failing(), broken) {
		t.Errorf("failing says %v", j.Failing())
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := j.Sync(ctx); !errors.Is(err, context.Canceled) || !errors.Is(err, broken) {
		t.Errorf("sync says %v", err)
	}
	err = j.Close(ctx)
	var unwritten *UnwrittenError
	if !errors.As(err, &unwritten) || unwritten.Entries != 2 || !errors.Is(err, broken) {
		t.Errorf("close says %v", err)
	}
	if err := j.Append(testContext(t), &entry.Entry{Kind: entry.KindSession, Session: newSession(), Capture: "shape"}, nil); !errors.Is(err, ErrClosed) {
		t.Errorf("append after close says %v", err)
	}
	mended.Store(true) // a second close is as good as the first
	closeJournal(t, j)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Entries != 2 {
		t.Errorf("report is %+v", report)
	}
}

func TestAppendWaitsOnlyWhileTheQueueIsFull(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	stuck := make(chan struct{}, 1)
	home := t.TempDir()
	j, err := open(home, Options{QueueEntries: 3}, &faults{commit: func(commit func() error) error {
		select {
		case stuck <- struct{}{}:
		default:
		}
		<-release
		return commit()
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, j, newSession())
	<-stuck // the first entry is being written, and still counts
	r.request("x", 1)
	r.request("x", 1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	late := &entry.Entry{Kind: entry.KindRequest, From: "client", Session: r.session, Seq: r.seq, At: 1}
	if err := j.Append(ctx, late, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("append to a full queue says %v", err)
	}
	waited := make(chan error)
	go func() { waited <- j.Append(testContext(t), late, nil) }()
	close(release)
	if err := <-waited; err != nil {
		t.Errorf("append did not go on when there was room: %v", err)
	}
	closeJournal(t, j)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Entries != 4 {
		t.Errorf("report is %+v", report)
	}
}

func TestAnEntryBiggerThanTheQueueIsStillWritten(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{QueueBytes: 2_000})
	r := record(t, j, newSession())
	for range 3 {
		r.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 1}, &entry.Detail{Note: strings.Repeat("n", 100_000)})
	}
	r.end(0)
	closeJournal(t, j)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Entries != 5 {
		t.Errorf("report is %+v", report)
	}
}

func TestHolesAndDoublesInASessionAreRefused(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir(), Options{})
	r := record(t, j, newSession())
	for name, e := range map[string]*entry.Entry{
		"a double":                      {Kind: entry.KindNoise, Session: r.session, Seq: 0},
		"a hole":                        {Kind: entry.KindNoise, Session: r.session, Seq: 2},
		"a session that has not begun":  {Kind: entry.KindNoise, Session: newSession(), Seq: 0},
		"a session that begins again":   {Kind: entry.KindSession, Session: r.session, Seq: 1},
		"a session that begins too far": {Kind: entry.KindSession, Session: newSession(), Seq: 1},
	} {
		if e.Kind == entry.KindSession {
			e.Capture = "shape"
		} else {
			e.From = "client"
		}
		if err := j.Append(testContext(t), e, nil); !errors.As(err, new(*entry.Error)) {
			t.Errorf("%s is answered by %v", name, err)
		}
	}
	r.end(0)
	closeJournal(t, j)
}

func TestTwoJournalsOfOneProcessShareAHome(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			j := openJournal(t, home, Options{})
			for range 3 {
				r := record(t, j, newSession())
				for range 100 {
					r.answer(r.request("x", 3), entry.OutcomeOK, 4, 5)
				}
				r.end(0)
			}
			closeJournal(t, j)
		})
	}
	wait.Wait()
	if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Entries != 4*3*202 {
		t.Errorf("report is %+v", report)
	}
}

func TestEntriesOfManyGoroutinesKeepTheOrderOfEachSession(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{QueueEntries: 50})
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			r := record(t, j, newSession())
			for range 200 {
				r.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 1}, nil)
			}
			r.end(0)
		})
	}
	wait.Wait()
	closeJournal(t, j)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Entries != 8*202 {
		t.Errorf("report is %+v", report)
	}
}

func TestAJournalThatIsRemovedWhileInUseIsToldAndNotWrittenIntoTheVoid(t *testing.T) {
	t.Parallel()
	home := filepath.Join(t.TempDir(), "home")
	trouble := make(chan error, 10)
	j := openJournal(t, home, Options{OnTrouble: func(err error) { trouble <- err }})
	r := record(t, j, newSession())
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(home, home+"-away"); err != nil {
		t.Fatal(err)
	}
	r.request("x", 1)
	select {
	case err := <-trouble:
		if !errors.As(err, new(*HomeError)) || !strings.Contains(err.Error(), "removed") {
			t.Errorf("told of %v", err)
		}
	case <-testContext(t).Done():
		t.Fatal("nobody was told")
	}
	if err := os.Rename(home+"-away", home); err != nil {
		t.Fatal(err)
	}
	r.end(1)
	closeJournal(t, j)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Entries != 3 {
		t.Errorf("report is %+v", report)
	}
}

func TestADiskThatIsFullLosesNothing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	full := make(chan error, 1)
	var pages atomic.Int64 // SQLite itself says that there is no room
	pages.Store(40)
	j, err := open(home, Options{OnTrouble: func(err error) { full <- err }}, &faults{pages: pages.Load})
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, j, newSession())
	for range 500 {
		r.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 1}, &entry.Detail{Note: strings.Repeat("n", 1_000)})
	}
	if err := <-full; !strings.Contains(err.Error(), "make room") {
		t.Errorf("told of %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if err := j.Sync(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("sync with a full disk says %v", err)
	}
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("a full disk leaves findings: %+v", report.Findings)
	}
	pages.Store(1 << 30)
	r.end(0)
	closeJournal(t, j)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Entries != 502 {
		t.Errorf("report is %+v", report)
	}
}

func TestACheckpointIsKeptAtEachEnd(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	for range 3 {
		record(t, j, newSession()).end(0)
		if err := j.Sync(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	closeJournal(t, j)
	tamper(t, home, func(db *sql.DB) error {
		var kept int
		if err := db.QueryRow("SELECT count(*) FROM checkpoints WHERE size IN (2, 4, 6)").Scan(&kept); err != nil {
			return err
		}
		if kept != 3 {
			t.Errorf("%d of 3 ends have a checkpoint", kept)
		}
		return nil
	})
}

func TestAJournalIsReadAndVerifiedWhileItIsWritten(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{QueueEntries: 500})
	stop := make(chan struct{})
	var writing sync.WaitGroup
	for range 2 {
		writing.Go(func() {
			for {
				r := record(t, j, newSession())
				for range 300 {
					r.answer(r.request("x", 3), entry.OutcomeOK, 4, 5)
				}
				r.end(0)
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	reader := openReader(t, home)
	var asking sync.WaitGroup
	for range 8 { // more than the reader has connections
		asking.Go(func() {
			for range 5 {
				if _, err := reader.Calls(testContext(t), CallFilter{Order: Newest, Limit: 50}); err != nil {
					t.Errorf("calls: %v", err)
				}
				if _, err := reader.Totals(testContext(t), "", 0); err != nil {
					t.Errorf("totals: %v", err)
				}
			}
		})
	}
	for range 5 {
		if report := verify(t, home, VerifyOptions{}); !report.Intact() {
			t.Errorf("findings in a journal that is being written: %+v", report.Findings)
		}
	}
	asking.Wait()
	close(stop)
	writing.Wait()
	closeJournal(t, j)
}
