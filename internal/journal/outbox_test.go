package journal

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// declaration is what would be sent for an action.
func declaration(action string) string {
	return `{"action_id":"` + action + `","contract_id":"c","params":{"amount":180.0}}`
}

// declare begins an intent about a call of its own.
func (r *recording) declare(action, reason string) int64 {
	r.t.Helper()
	call := r.request("refund", 100)
	r.answer(call, entry.OutcomeOK, 20, 10)
	return r.keep(&entry.Entry{Kind: entry.KindIntent, Reason: reason, Call: call}, &entry.Detail{
		Tool: text("refund"), Declaration: &entry.Declaration{Action: action, Contract: "c", API: "http://127.0.0.1:1", Key: "k"},
	}, &Body{Bytes: []byte(declaration(action))})
}

// settle says how an intent went.
func (r *recording) settle(intent int64, reason string) {
	r.t.Helper()
	r.append(&entry.Entry{Kind: entry.KindIntent, Reason: reason, Intent: intent}, &entry.Detail{Declaration: &entry.Declaration{Status: 503, Again: r.at + 5_000_000, Why: "HTTP 503"}})
}

func openOutbox(t testing.TB, home string) *Outbox {
	t.Helper()
	o, err := OpenOutbox(home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { o.Close() })
	return o
}

// sendOne settles the oldest letter as declared, and takes and gives back the
// lease, so that a journal has traces of all that.
func sendOne(t testing.TB, home string) {
	t.Helper()
	o := openOutbox(t, home)
	ctx := testContext(t)
	letters, err := o.Letters(ctx)
	if err != nil || len(letters) == 0 {
		t.Fatalf("letters %v, error %v", letters, err)
	}
	if held, err := o.Lease(ctx, 7, time.Second); err != nil || !held {
		t.Fatalf("lease %v, error %v", held, err)
	}
	if err := o.Settle(ctx, letters[0].N, entry.IntentDeclared, entry.Declaration{Status: 201, Recorded: "new"}); err != nil {
		t.Fatal(err)
	}
}

// actionsOf names the actions in the outbox with their states, oldest first.
func actionsOf(t testing.TB, home string) []string {
	t.Helper()
	letters, err := openReader(t, home).Letters(testContext(t))
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, l := range letters {
		list = append(list, l.Action+" "+l.State)
	}
	return list
}

func TestAnIntentIsInTheOutboxUntilItIsSettled(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := record(t, j, newSession())
	r.declare("waits", entry.IntentDeclaring)
	r.settle(r.declare("failed", entry.IntentDeclaring), entry.IntentFailed)
	r.settle(r.declare("declared", entry.IntentDeclaring), entry.IntentDeclared)
	r.settle(r.declare("refused", entry.IntentRequired), entry.IntentRefused)
	r.declare("required", entry.IntentRequired)
	bad := r.declare("bad", entry.IntentDeclaring)
	r.settle(bad, entry.IntentUndeliverable)
	r.settle(bad, entry.IntentUndeliverable) // once more, by somebody who came late
	r.end(0)
	closeJournal(t, j)
	want := []string{"waits waiting", "failed waiting", "bad undeliverable"}
	if got := actionsOf(t, home); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("in the outbox: %v, want %v", got, want)
	}
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("findings: %+v", report.Findings)
	}
	totals, err := openReader(t, home).Totals(testContext(t), r.session, 0)
	if err != nil {
		t.Fatal(err)
	}
	if want := (IntentTotals{Begun: 6, Declared: 1, Failed: 3, Refused: 1, Waiting: 2, Undeliverable: 1}); totals.Intents != want {
		t.Errorf("totals %+v, want %+v", totals.Intents, want)
	}
}

func TestALetterIsReadByteForByteAndSettledOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, Options{})
	r := record(t, j, newSession())
	intent := r.declare("a:1", entry.IntentDeclaring)
	r.declare("a:2", entry.IntentDeclaring)
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	o, ctx := openOutbox(t, home), testContext(t)
	if early, err := o.Waiting(ctx, -1, r.at, 10); err != nil || len(early) != 0 {
		t.Errorf("due at once: %v, error %v; its recorder may still be declaring it", early, err)
	}
	letters, err := o.Waiting(ctx, -1, r.at+firstDue.Microseconds(), 10)
	if err != nil || len(letters) != 2 || letters[0].Action != "a:1" || letters[0].Seq != intent || letters[0].Session != r.session {
		t.Fatalf("letters %+v, error %v", letters, err)
	}
	if body, err := o.Body(ctx, letters[0].N); err != nil || string(body) != declaration("a:1") {
		t.Errorf("body %q, error %v", body, err)
	}
	if err := o.Settle(ctx, letters[0].N, entry.IntentDeclared, entry.Declaration{Status: 201, Recorded: "new"}); err != nil {
		t.Fatal(err)
	}
	if err := o.Settle(ctx, letters[0].N, entry.IntentDeclared, entry.Declaration{}); !errors.Is(err, ErrNoLetter) {
		t.Errorf("settled twice: %v", err)
	}
	r.settle(intent, entry.IntentDeclared) // its recorder was not dead after all
	if err := o.Postpone(ctx, letters[1].N, 12345, "HTTP 503"); err != nil {
		t.Fatal(err)
	}
	if due, err := openReader(t, home).NextDue(ctx); err != nil || due != 12345 {
		t.Errorf("next due %d, error %v", due, err)
	}
	if err := o.Settle(ctx, letters[1].N, entry.IntentUndeliverable, entry.Declaration{Status: 400}); err != nil {
		t.Fatal(err)
	}
	if err := o.Settle(ctx, letters[1].N, entry.IntentUndeliverable, entry.Declaration{Status: 400}); !errors.Is(err, ErrNoLetter) {
		t.Errorf("marked twice: %v", err)
	}
	if err := o.Settle(ctx, letters[1].N, entry.IntentDeclared, entry.Declaration{Status: 201}); err != nil {
		t.Errorf("one that was undeliverable cannot be declared after all: %v", err)
	}
	r.end(0)
	closeJournal(t, j)
	if got := actionsOf(t, home); len(got) != 0 {
		t.Errorf("left in the outbox: %v", got)
	}
	for seq, want := range map[int64]string{
		intent - 2: "request response declaring declared", // settled in its session, too
		intent + 1: "request response declaring undeliverable declared",
	} {
		records, err := openReader(t, home).Call(ctx, r.session, seq)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, record := range records {
			got = append(got, cmp.Or(record.Entry.Reason, string(record.Entry.Kind)))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("the call has %v, want %s", got, want)
		}
	}
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("findings: %+v", report.Findings)
	}
}

func TestOnlyOneHoldsTheLeaseOfAnOutbox(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	closeJournal(t, openJournal(t, home, Options{}))
	one, other, ctx := openOutbox(t, home), openOutbox(t, home), testContext(t)
	mustLease := func(o *Outbox, holder int64, want bool) {
		t.Helper()
		held, err := o.Lease(ctx, holder, time.Minute)
		if err != nil || held != want {
			t.Errorf("the lease of %d: %v, error %v, want %v", holder, held, err, want)
		}
	}
	mustLease(one, 1, true)
	mustLease(other, 2, false)
	mustLease(one, 1, true) // for longer
	if err := other.Release(ctx, 2); err != nil {
		t.Fatal(err)
	}
	mustLease(other, 2, false)
	if err := one.Release(ctx, 1); err != nil {
		t.Fatal(err)
	}
	mustLease(other, 2, true)
	// A holder that died, and one whose clock was years ahead.
	for _, until := range []time.Duration{-time.Second, 100_000 * time.Hour} {
		tamper(t, home, func(db *sql.DB) error {
			_, err := db.Exec("UPDATE meta SET value = ? WHERE key = 'outbox_until'", fmt.Sprint(time.Now().Add(until).UnixMicro()))
			return err
		})
		mustLease(one, 1, true)
		if err := one.Release(ctx, 1); err != nil {
			t.Fatal(err)
		}
		mustLease(other, 2, true)
	}
}

func TestWhatIsErasedIsNotSentAnyMore(t *testing.T) {
	t.Parallel()
	for _, bodiesOnly := range []bool{false, true} {
		home := t.TempDir()
		j := openJournal(t, home, Options{})
		r := record(t, j, newSession())
		r.declare("gone", entry.IntentDeclaring)
		call := r.seq - 3 // of the request of that intent
		r.declare("stays", entry.IntentDeclaring)
		r.end(0)
		closeJournal(t, j)
		o := openOutbox(t, home)
		letters, err := o.Letters(testContext(t))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Erase(testContext(t), home, EraseRequest{Session: r.session, Seq: call, BodiesOnly: bodiesOnly}); err != nil {
			t.Fatal(err)
		}
		if got := actionsOf(t, home); fmt.Sprint(got) != "[stays waiting]" {
			t.Errorf("in the outbox: %v", got)
		}
		if _, err := o.Body(testContext(t), letters[0].N); !errors.Is(err, ErrNoLetter) {
			t.Errorf("the body of what was erased: %v", err)
		}
		if err := o.Settle(testContext(t), letters[0].N, entry.IntentDeclared, entry.Declaration{}); !errors.Is(err, ErrNoLetter) {
			t.Errorf("what was erased was settled: %v", err)
		}
		if report := verify(t, home, VerifyOptions{}); !report.Intact() {
			t.Errorf("findings: %+v", report.Findings)
		}
	}
}

// Retention takes the oldest content first; what is still to be sent is not
// content that nobody needs any more.
func TestRetentionLeavesWhatIsStillToBeSent(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := record(t, j, newSession())
	r.declare("waits", entry.IntentDeclaring)
	r.settle(r.declare("bad", entry.IntentDeclaring), entry.IntentUndeliverable)
	r.end(0)
	closeJournal(t, j)
	if _, err := Prune(context.Background(), home, Policy{MaxAge: time.Nanosecond, MaxBytes: -1}); err != nil {
		t.Fatal(err)
	}
	if got := actionsOf(t, home); fmt.Sprint(got) != "[waits waiting]" {
		t.Errorf("in the outbox: %v", got)
	}
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("findings: %+v", report.Findings)
	}
}

// Between its entry and its row there is no moment in which a kill loses one.
func TestAnIntentAndItsPlaceInTheOutboxAreWrittenAtOnce(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	failures := 0
	j, err := open(home, Options{}, &faults{commit: func(commit func() error) error {
		if failures++; failures%3 != 0 {
			err := errors.New("the disk says no")
			if failures%3 == 2 { // and yet it is kept
				err = errors.Join(commit(), err)
			}
			return err
		}
		return commit()
	}})
	if err != nil {
		t.Fatal(err)
	}
	r := record(t, j, newSession())
	for i := range 5 {
		r.settle(r.declare(fmt.Sprint("a:", i), entry.IntentDeclaring), entry.IntentFailed)
		if err := j.Sync(testContext(t)); err != nil {
			t.Fatal(err)
		}
	}
	r.end(0)
	closeJournal(t, j)
	if got := actionsOf(t, home); len(got) != 5 {
		t.Errorf("in the outbox: %v, want five", got)
	}
	if report := verify(t, home, VerifyOptions{}); !report.Intact() {
		t.Errorf("findings: %+v", report.Findings)
	}
}

func TestAnIntentThatMakesNoSenseIsNotWritten(t *testing.T) {
	t.Parallel()
	base := entry.Entry{Kind: entry.KindIntent, Session: newSession(), Seq: 5, At: 1, Call: 1, Took: -1, ExitCode: -1}
	for name, change := range map[string]func(*entry.Entry){
		"a beginning without a declaration": func(e *entry.Entry) { e.Reason = entry.IntentDeclaring },
		"an outcome with a declaration":     func(e *entry.Entry) { e.Reason, e.Intent, e.Body, e.Kept = entry.IntentDeclared, 2, entry.Hash{1}, 3 },
		"an outcome of nothing":             func(e *entry.Entry) { e.Reason = entry.IntentDeclared },
		"an outcome of what comes later":    func(e *entry.Entry) { e.Reason, e.Intent = entry.IntentDeclared, 5 },
		"a beginning that is about another": func(e *entry.Entry) { e.Reason, e.Intent, e.Body, e.Kept = entry.IntentDeclaring, 2, entry.Hash{1}, 3 },
		"a beginning of the journal's own": func(e *entry.Entry) {
			e.Session, e.Reason, e.Body, e.Kept = entry.OwnSession, entry.IntentDeclaring, entry.Hash{1}, 3
		},
		"a failure that the journal tells of": func(e *entry.Entry) { e.Session, e.Reason, e.Intent = entry.OwnSession, entry.IntentFailed, 2 },
		"a word that is none":                 func(e *entry.Entry) { e.Reason = "hoped" },
	} {
		e := base
		change(&e)
		var wrong *entry.Error
		if _, err := entry.EncodeLeaf(&e, entry.Hash{}); !errors.As(err, &wrong) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
