package journal

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// slowDisk holds each commit until it is let through.
type slowDisk struct {
	waiting chan struct{} // a commit stands at the door
	open    chan struct{} // closed: everything passes
	once    sync.Once
	awake   atomic.Bool // a commit passes at once
}

func newSlowDisk() *slowDisk {
	return &slowDisk{waiting: make(chan struct{}), open: make(chan struct{})}
}

func (d *slowDisk) commit(commit func() error) error {
	if d.awake.Load() {
		return commit()
	}
	select {
	case d.waiting <- struct{}{}:
	case <-d.open:
	}
	<-d.open
	return commit()
}

func (d *slowDisk) release() { d.once.Do(func() { close(d.open) }) }

func doneContext() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// gaps and end complete a session in place of what was given up.
func (r *recording) completeAfter(d Dropped) {
	r.t.Helper()
	r.seq = d.First
	r.client -= d.Client.Bytes
	r.server -= d.Server.Bytes
	for _, side := range []struct {
		from string
		DroppedSide
	}{{"client", d.Client}, {"server", d.Server}} {
		if side.Bytes > 0 {
			r.append(&entry.Entry{Kind: entry.KindGap, From: side.from, Bytes: side.Bytes, Messages: side.Messages, Reason: "journal_failed"}, nil)
		}
	}
	r.end(0)
}

func TestEntriesThatAreGivenUpBecomeGapsAndTheRecordStaysWhole(t *testing.T) {
	t.Parallel()
	disk := newSlowDisk()
	home := t.TempDir()
	j, err := open(home, Options{}, &faults{commit: disk.commit})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.release()
	disk.awake.Store(true)
	r := record(t, j, newSession())
	call := r.request("refund", 100)
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	disk.awake.Store(false)
	r.answer(call, entry.OutcomeOK, 200, 5)
	<-disk.waiting // it is being committed, alone: nothing else has come yet
	for range 50 {
		r.answer(r.request("refund", 10), entry.OutcomeOK, 20, 5)
	}
	r.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 7, Framing: 2}, nil)
	r.append(&entry.Entry{Kind: entry.KindGap, From: "client", Bytes: 33, Messages: 4, Reason: "observer_behind"}, nil)
	r.append(&entry.Entry{Kind: entry.KindStderr, From: "server", Bytes: 90, Messages: 3}, nil)
	r.end(0)

	var unwritten *UnwrittenError
	if err := j.Close(doneContext()); !errors.As(err, &unwritten) || unwritten.Entries != 105 {
		t.Errorf("close says %v, not that 105 entries are left", err)
	}
	d, err := j.Abandon()
	if err != nil {
		t.Fatal(err)
	}
	want := Dropped{
		Session: r.session, First: 3, Entries: 104,
		Client: DroppedSide{Entries: 51, Bytes: 50*10 + 33, Messages: 50 + 4},
		Server: DroppedSide{Entries: 51, Bytes: 50*20 + 9, Messages: 51},
	}
	if d != want {
		t.Errorf("dropped %+v, want %+v", d, want)
	}
	r.completeAfter(d)
	disk.release()
	closeJournal(t, j)
	if j.Progress().Written != 6 {
		t.Errorf("progress is %d, not the 6 entries that were committed", j.Progress().Written)
	}

	report := verify(t, home, VerifyOptions{})
	if !report.Intact() || report.Entries != 6 || report.OpenSessions != 0 {
		t.Errorf("report is %+v", report)
	}
	if report.Gaps != 2 || report.UnseenBytes != want.Client.Bytes+want.Server.Bytes || report.SeenBytes != 300 {
		t.Errorf("%d gaps, %d bytes unseen, %d seen", report.Gaps, report.UnseenBytes, report.SeenBytes)
	}
}

func TestTheBeginningOfASessionIsNeverGivenUp(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	blocker, err := openLock(j.writer.folder.lock())
	if err != nil {
		t.Fatal(err)
	}
	defer blocker.close()
	if err := blocker.acquire(); err != nil {
		t.Fatal(err)
	}
	r := record(t, j, newSession())
	r.request("refund", 10)
	r.end(1)
	d, err := j.Abandon()
	if err != nil || d.First != 1 || d.Entries != 2 {
		t.Fatalf("dropped %+v, %v", d, err)
	}
	r.completeAfter(d)
	if err := blocker.release(); err != nil {
		t.Fatal(err)
	}
	closeJournal(t, j)
	report := verify(t, home, VerifyOptions{})
	if !report.Intact() || report.Entries != 3 || report.UnseenBytes != 10 {
		t.Errorf("report is %+v", report)
	}
}

func TestWhatIsInDoubtIsNotGivenUp(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	broken := errors.New("the disk says no")
	failed := make(chan struct{}, 1)
	mended := make(chan struct{})
	j, err := open(home, Options{OnTrouble: func(error) { failed <- struct{}{} }}, &faults{commit: func(commit func() error) error {
		select {
		case <-mended:
			return commit()
		default:
			return errors.Join(commit(), broken) // failed, but kept
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, j, newSession())
	<-failed
	r.request("refund", 10)
	d, err := j.Abandon()
	if err != nil || d.Entries != 1 || d.First != 1 {
		t.Fatalf("dropped %+v, %v", d, err)
	}
	r.completeAfter(d)
	close(mended)
	closeJournal(t, j)
	report := verify(t, home, VerifyOptions{})
	if !report.Intact() || report.Entries != 3 {
		t.Errorf("report is %+v", report)
	}
}

func TestAbandonSaysWhenThereIsNothingToGiveUp(t *testing.T) {
	t.Parallel()
	j := openJournal(t, t.TempDir(), Options{})
	r := record(t, j, newSession())
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	if d, err := j.Abandon(); err != nil || d != (Dropped{}) {
		t.Errorf("dropped %+v, %v", d, err)
	}
	r.end(0) // the session goes on as before
	closeJournal(t, j)
	if _, err := j.Abandon(); !errors.Is(err, ErrClosed) {
		t.Errorf("abandon after close says %v", err)
	}
}

func TestEntriesOfSeveralSessionsAreNotGivenUpTogether(t *testing.T) {
	t.Parallel()
	disk := newSlowDisk()
	home := t.TempDir()
	j, err := open(home, Options{}, &faults{commit: disk.commit})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.release()
	one := record(t, j, newSession())
	<-disk.waiting
	two := record(t, j, newSession())
	one.request("x", 1)
	two.request("x", 1)
	if _, err := j.Abandon(); !errors.As(err, new(*entry.Error)) {
		t.Errorf("abandon says %v", err)
	}
	one.end(1)
	two.end(1)
	disk.release()
	closeJournal(t, j)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Entries != 6 {
		t.Errorf("report is %+v", report)
	}
}

func TestASyncIsToldThatItsEntriesWereGivenUp(t *testing.T) {
	t.Parallel()
	disk := newSlowDisk()
	j, err := open(t.TempDir(), Options{}, &faults{commit: disk.commit})
	if err != nil {
		t.Fatal(err)
	}
	defer disk.release()
	r := record(t, j, newSession())
	<-disk.waiting
	r.request("x", 1)
	synced := make(chan error)
	go func() { synced <- j.Sync(testContext(t)) }()
	for wanted := int64(0); wanted < 2; { // until it waits
		j.queue.mu.Lock()
		wanted = j.queue.wanted()
		j.queue.mu.Unlock()
	}
	d, err := j.Abandon()
	if err != nil {
		t.Fatal(err)
	}
	if err := <-synced; !errors.Is(err, errGivenUp) {
		t.Errorf("sync says %v", err)
	}
	r.completeAfter(d)
	disk.release()
	closeJournal(t, j)
}

func TestCloseSaysWhoKeepsItFromWriting(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	blocker, err := openLock(j.writer.folder.lock())
	if err != nil {
		t.Fatal(err)
	}
	defer blocker.close()
	if err := blocker.acquire(); err != nil {
		t.Fatal(err)
	}
	r := record(t, j, newSession())
	r.end(0)
	for j.writer.lock.waited() == 0 {
		if err := testContext(t).Err(); err != nil {
			t.Fatal("the writer does not come to the lock")
		}
	}
	err = j.Close(doneContext())
	var locked *LockedError
	if !errors.As(err, &locked) || locked.Waited <= 0 {
		t.Fatalf("close says %v", err)
	}
	text := err.Error()
	for _, part := range []string{"2 entries were not written", "another program has held", "journal.lock", "end that program"} {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not say %q", text, part)
		}
	}
	if strings.Contains(text, "context") {
		t.Errorf("%q speaks of a context", text)
	}
	if err := blocker.release(); err != nil {
		t.Fatal(err)
	}
	closeJournal(t, j)
	if report := verify(t, home, VerifyOptions{}); !report.Intact() || report.Entries != 2 {
		t.Errorf("report is %+v", report)
	}
}
