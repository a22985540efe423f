package journal

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// testContext ends before the test does, so that what hangs is told as such.
func testContext(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func newSession() string {
	var id [16]byte
	rand.Read(id[:])
	return hex.EncodeToString(id[:])
}

// recording writes the entries of one session and gives them their places.
type recording struct {
	t       testing.TB
	ctx     context.Context
	journal *Journal
	session string
	seq     int64
	at      int64
	client  int64
	server  int64
}

func record(t testing.TB, j *Journal, session string) *recording {
	t.Helper()
	r := &recording{t: t, ctx: testContext(t), journal: j, session: session, at: 1_700_000_000_000_000}
	r.append(&entry.Entry{Kind: entry.KindSession, Capture: "shape"},
		&entry.Detail{Label: "shop", Program: "shop", Transport: "stdio", Version: "test"})
	return r
}

// append fills in session, place and time and returns the place.
func (r *recording) append(e *entry.Entry, d *entry.Detail) int64 {
	r.t.Helper()
	e.Session, e.Seq, e.At = r.session, r.seq, r.at
	if err := r.journal.Append(r.ctx, e, d); err != nil {
		r.t.Fatalf("append %s: %v", e.Kind, err)
	}
	switch {
	case e.Kind == entry.KindStderr:
	case e.From == "client":
		r.client += e.Bytes + e.Framing
	case e.From == "server":
		r.server += e.Bytes + e.Framing
	}
	r.seq++
	r.at += 1_000
	return e.Seq
}

func (r *recording) request(tool string, bytes int64) int64 {
	r.t.Helper()
	return r.append(&entry.Entry{Kind: entry.KindRequest, From: "client", Bytes: bytes, Wire: entry.Hash{1}},
		&entry.Detail{
			ID: text("7"), Method: text("tools/call"), Tool: text(tool),
			Shape: []entry.Field{{Name: "order", Type: "string", Bytes: 9}},
		})
}

func (r *recording) answer(call int64, outcome entry.Outcome, bytes, took int64) int64 {
	r.t.Helper()
	d := &entry.Detail{ID: text("7"), Method: text("tools/call"), Tool: text("refund")}
	if outcome == entry.OutcomeError {
		d.Error = text("-32000")
	}
	return r.append(&entry.Entry{Kind: entry.KindResponse, From: "server", Bytes: bytes, Wire: entry.Hash{2}, Call: call, Took: took, Outcome: outcome}, d)
}

func (r *recording) end(open int64) {
	r.t.Helper()
	r.append(&entry.Entry{Kind: entry.KindEnd, Reason: "server_exit", ExitCode: 0, Open: open, ClientBytes: r.client, ServerBytes: r.server}, nil)
}

func text(s string) *entry.Text { return entry.NewText([]byte(s)) }

func openJournal(t testing.TB, home string, o Options) *Journal {
	t.Helper()
	j, err := Open(home, o)
	if err != nil {
		t.Fatalf("open: %v", err)
	}
	return j
}

func closeJournal(t testing.TB, j *Journal) {
	t.Helper()
	if err := j.Close(testContext(t)); err != nil {
		t.Fatalf("close: %v", err)
	}
}

func openReader(t testing.TB, home string) *Reader {
	t.Helper()
	r, err := OpenReader(home)
	if err != nil {
		t.Fatalf("open reader: %v", err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestWhatWasAppendedIsReadBack(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	first := record(t, j, newSession())
	good := first.request("refund", 120)
	first.answer(good, entry.OutcomeOK, 4_000, 250)
	bad := first.request("refund", 80)
	first.answer(bad, entry.OutcomeError, 90, 3_000)
	hung := first.request("hang", 60)
	first.end(1)
	second := record(t, j, newSession())
	open := second.request("list", 50)
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatalf("sync: %v", err)
	}

	r := openReader(t, home)
	runs, err := r.Runs(testContext(t), RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	if len(runs) != 2 || runs[0].ID != second.session || runs[1].ID != first.session {
		t.Fatalf("runs are %+v, not the second and the first session", runs)
	}
	if runs[0].End != nil || runs[1].End == nil || runs[1].End.Open != 1 {
		t.Errorf("ends are %v and %v", runs[0].End, runs[1].End)
	}

	failed, err := r.Calls(testContext(t), CallFilter{Failed: true, ToolsOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []Call{
		{
			Session: first.session, Label: "shop", Seq: bad, From: "client", At: 1_700_000_000_003_000, Method: "tools/call", Tool: "refund",
			Sent: 80, Answered: true, AnswerAt: 1_700_000_000_004_000, Took: 3_000, Returned: 90, Outcome: entry.OutcomeError, Error: "-32000", Ended: true,
		},
		{
			Session: first.session, Label: "shop", Seq: hung, From: "client", At: 1_700_000_000_005_000, Method: "tools/call", Tool: "hang",
			Sent: 60, Took: -1, Ended: true,
		},
	}
	if diff := cmp.Diff(want, failed); diff != "" {
		t.Errorf("failed calls (-want +got):\n%s", diff)
	}

	totals, err := r.Totals(testContext(t), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	wantTotals := Totals{Calls: 4, Failed: 1, Unanswered: 1, Open: 1, Returned: 4_090, Took: 3_250}
	if diff := cmp.Diff(wantTotals, totals); diff != "" {
		t.Errorf("totals (-want +got):\n%s", diff)
	}

	records, err := r.Call(testContext(t), first.session, good)
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 2 || records[0].Entry.Kind != entry.KindRequest || records[1].Entry.Outcome != entry.OutcomeOK {
		t.Errorf("records of the call are %+v", records)
	}
	if _, err := r.Call(testContext(t), second.session, open+1); err == nil {
		t.Error("a call that is not there was found")
	}
	closeJournal(t, j)
}

func TestACallIsCancelledWhereWhoeverAskedTookItBack(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	r := record(t, j, newSession())
	notice := func(call int64, from, method string) {
		r.append(&entry.Entry{Kind: entry.KindNotification, From: from, Bytes: 60, Call: call}, &entry.Detail{Method: text(method)})
	}
	var calls []int64
	for range 5 {
		calls = append(calls, r.request("export", 90))
	}
	notice(calls[0], "client", "notifications/cancelled")
	notice(calls[1], "server", "notifications/cancelled")
	notice(calls[2], "server", "notifications/progress")
	notice(calls[3], "client", "notifications/cancelled")
	r.answer(calls[3], entry.OutcomeOK, 20, 5) // late, and an answer all the same
	r.end(4)
	closeJournal(t, j)
	found, err := openReader(t, home).Calls(testContext(t), CallFilter{Session: r.session})
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []bool{true, false, false, false, false} {
		if found[i].Cancelled != want {
			t.Errorf("call %d: cancelled is %v", i, found[i].Cancelled)
		}
	}
}

func TestARunKnowsHowMuchOfItsIDAnotherHasToo(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	const rest = "00000000000000000000000"
	want := map[string]int{
		"6d4e47f7a" + rest: 8, "6d4e47f7b" + rest: 8, "6d4e47000" + rest: 6, "f00000000" + rest: 0,
	}
	for id := range want {
		record(t, j, id).end(0)
	}
	closeJournal(t, j)
	r := openReader(t, home)
	for _, filter := range []RunFilter{{}, {Prefix: "6d4e47f7a"}, {Limit: 2}} {
		runs, err := r.Runs(testContext(t), filter)
		if err != nil || len(runs) == 0 {
			t.Fatal(runs, err)
		}
		for _, run := range runs {
			if run.Shared != want[run.ID] {
				t.Errorf("%s shares %d digits, not %d", run.ID, run.Shared, want[run.ID])
			}
		}
	}
}
