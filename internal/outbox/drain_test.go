package outbox

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
)

// office is a journal with letters in its outbox, and a server that they are for.
type office struct {
	testing.TB
	home string
	mu   sync.Mutex
	sent []string // bodies, in the order in which the server got them
	// answer is what the server says of the n-th letter that it gets, from 0.
	answer func(n int, body string) Result
}

func newOffice(t testing.TB) *office {
	return &office{TB: t, home: t.TempDir()}
}

func (o *office) API() string         { return "https://deed.example.com" }
func (o *office) Fingerprint() string { return "f" }

func (o *office) Declare(_ context.Context, body []byte) Result {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.sent = append(o.sent, string(body))
	if o.answer == nil {
		return Result{Declared: true, Status: 201, Recorded: "new"}
	}
	return o.answer(len(o.sent)-1, string(body))
}

func (o *office) got() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.sent)
}

type letter struct {
	action   string
	at       time.Time
	api, key string
	failed   bool // its recorder has said so; else it may still be at it
}

// write records a session with these letters.
func (o *office) write(letters ...letter) {
	o.Helper()
	j, err := journal.Open(o.home, journal.Options{Retention: journal.Policy{MaxAge: -1}})
	if err != nil {
		o.Fatal(err)
	}
	ctx := context.Background()
	must := func(err error) {
		o.Helper()
		if err != nil {
			o.Fatal(err)
		}
	}
	var id [16]byte
	for i := range id {
		id[i] = byte(rand.UintN(256))
	}
	session, seq := hex.EncodeToString(id[:]), int64(0)
	next := func(e entry.Entry) *entry.Entry {
		e.Session, e.Seq, e.Call, e.Took, e.ExitCode = session, seq, -1, -1, -1
		seq++
		return &e
	}
	must(j.Append(ctx, next(entry.Entry{Kind: entry.KindSession, At: 1, Capture: "shape"}), &entry.Detail{}))
	for _, l := range letters {
		if l.at.IsZero() {
			l.at = time.Now()
		}
		if l.api == "" {
			l.api = o.API()
		}
		if l.key == "" {
			l.key = o.Fingerprint()
		}
		intent := seq
		must(j.AppendBody(ctx, next(entry.Entry{Kind: entry.KindIntent, At: l.at.UnixMicro(), Reason: entry.IntentDeclaring}),
			&entry.Detail{Declaration: &entry.Declaration{Action: l.action, API: l.api, Key: l.key}},
			&journal.Body{Bytes: []byte(bodyOf(l.action))}))
		if l.failed {
			must(j.Append(ctx, next(entry.Entry{Kind: entry.KindIntent, At: l.at.UnixMicro(), Reason: entry.IntentFailed, Intent: intent}),
				&entry.Detail{Declaration: &entry.Declaration{Again: l.at.UnixMicro(), Why: "unreachable"}}))
		}
	}
	must(j.Append(ctx, next(entry.Entry{Kind: entry.KindEnd, At: 2, Reason: "server_exit"}), nil))
	must(j.Close(ctx))
}

func bodyOf(action string) string { return `{"action_id":"` + action + `","params":{"amount":180.0}}` }

func (o *office) drain(change func(*Drain)) Drained {
	o.Helper()
	box, err := journal.OpenOutbox(o.home)
	if err != nil {
		o.Fatal(err)
	}
	defer box.Close()
	d := Drain{To: o, Timeout: time.Minute}
	if change != nil {
		change(&d)
	}
	done, err := d.Run(context.Background(), box)
	if err != nil {
		o.Fatal(err)
	}
	return done
}

// left is what is in the outbox, as action, state and tries.
func (o *office) left() []string {
	o.Helper()
	r, err := journal.OpenReader(o.home)
	if err != nil {
		o.Fatal(err)
	}
	defer r.Close()
	letters, err := r.Letters(context.Background())
	if err != nil {
		o.Fatal(err)
	}
	list := []string{}
	for _, l := range letters {
		list = append(list, fmt.Sprintf("%s %s %d", l.Action, l.State, l.Tries))
	}
	return list
}

func (o *office) mustBeIntact() {
	o.Helper()
	report, err := journal.Verify(context.Background(), o.home, journal.VerifyOptions{})
	if err != nil || !report.Intact() {
		o.Errorf("the journal: %v, findings %+v", err, report.Findings)
	}
}

func equal(t testing.TB, what string, got, want []string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func early(d *Drain) { d.Early = true }

func TestLettersAreSentInTheirOrderByteForByteAndOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var want []string
	var letters []letter
	for i := range 3 * page / 2 { // more than one page
		action := fmt.Sprintf("a:%d", i)
		letters, want = append(letters, letter{action: action, failed: true}), append(want, bodyOf(action))
	}
	o.write(letters...)
	if done := o.drain(early); done.Declared != len(want) || done.Stopped {
		t.Errorf("done %+v", done)
	}
	equal(t, "sent", o.got(), want)
	equal(t, "left", o.left(), []string{})
	if done := o.drain(early); done.Declared != 0 || len(o.got()) != len(want) {
		t.Errorf("sent again: %+v", done)
	}
	o.mustBeIntact()
}

func TestOnlyWhatIsDueIsSent(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.write(letter{action: "being declared"}, letter{action: "failed", failed: true}, letter{action: "of a recorder that died", at: time.Now().Add(-time.Hour)})
	o.drain(nil)
	equal(t, "sent", o.got(), []string{bodyOf("failed"), bodyOf("of a recorder that died")})
}

func TestWhatTheServerWillNeverTakeIsKeptAndTheRestGoesOn(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.answer = func(_ int, body string) Result {
		if strings.Contains(body, "bad") {
			return Result{Status: 400, Final: true, Class: "HTTP 400 invalid_request", Why: "HTTP 400 invalid_request: of bad"}
		}
		return Result{Declared: true, Status: 201}
	}
	o.write(letter{action: "a", failed: true}, letter{action: "bad", failed: true}, letter{action: "b", failed: true})
	var told []string
	done := o.drain(func(d *Drain) {
		d.Early, d.Tell = true, func(l journal.Letter, r Result) { told = append(told, fmt.Sprint(l.Action, " ", r.Declared)) }
	})
	if done.Declared != 2 || done.Undeliverable != 1 {
		t.Errorf("done %+v", done)
	}
	equal(t, "told", told, []string{"a true", "bad false", "b true"})
	equal(t, "left", o.left(), []string{"bad undeliverable 2"})
	o.drain(early)
	equal(t, "sent", o.got(), []string{bodyOf("a"), bodyOf("bad"), bodyOf("b")})

	// By the time somebody asks for it, the server takes it.
	o.answer = nil
	if done := o.drain(func(d *Drain) { d.Early, d.Undeliverable = true, true }); done.Declared != 1 {
		t.Errorf("done %+v", done)
	}
	equal(t, "left", o.left(), []string{})
	o.mustBeIntact()
}

func TestAServerThatIsDownIsNotAskedForEachLetter(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		answer Result
		asked  int
	}{
		"unreachable":  {Result{Class: "unreachable"}, 1},
		"too many":     {Result{Status: 429, Class: "HTTP 429", After: time.Minute}, 1},
		"out of order": {Result{Status: 503, Class: "HTTP 503"}, failuresMost},
	} {
		o := newOffice(t)
		o.answer = func(int, string) Result { return test.answer }
		o.write(slices.Repeat([]letter{{action: "a", failed: true}}, 9)...)
		done := o.drain(early)
		if !done.Stopped || done.After != test.answer.After || len(o.got()) != test.asked || done.Postponed != test.asked {
			t.Errorf("%s: %d asked, %+v", name, len(o.got()), done)
		}
		if left := o.left(); len(left) != 9 || left[0] != "a waiting 2" || left[8] != "a waiting 1" {
			t.Errorf("%s: left %q", name, left)
		}
		o.mustBeIntact()
	}
}

// One that makes the server fail each time must not keep the others from it.
func TestALetterThatMakesTheServerFailDoesNotStopTheOthers(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.answer = func(_ int, body string) Result {
		return Result{Declared: !strings.Contains(body, "poison"), Status: 500, Class: "HTTP 500"}
	}
	o.write(letter{action: "poison", failed: true}, letter{action: "a", failed: true}, letter{action: "poison", failed: true}, letter{action: "b", failed: true})
	if done := o.drain(early); done.Declared != 2 || done.Stopped {
		t.Errorf("done %+v", done)
	}
	equal(t, "left", o.left(), []string{"poison waiting 2", "poison waiting 2"})
}

func TestALetterIsGivenUpAfterSevenDays(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.answer = func(int, string) Result { return Result{Status: 503, Class: "HTTP 503"} }
	now := time.Now()
	o.write(letter{action: "old", at: now.Add(-GiveUpAfter - time.Minute), failed: true}, letter{action: "new", at: now.Add(time.Minute - GiveUpAfter), failed: true})
	o.drain(early)
	equal(t, "left", o.left(), []string{"old undeliverable 2", "new waiting 2"})
	o.answer = nil // and one that comes through after that time counts
	o.write(letter{action: "older", at: now.Add(-30 * 24 * time.Hour), failed: true})
	o.drain(early)
	equal(t, "left", o.left(), []string{"old undeliverable 2"})
	o.mustBeIntact()
}

func TestALetterGoesOnlyToTheServerAndUnderTheKeyThatItIsFor(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.write(letter{action: "elsewhere", api: "https://other.example.com", failed: true},
		letter{action: "other key", key: "g", failed: true}, letter{action: "ours", failed: true})
	if done := o.drain(early); done.Declared != 1 || done.Others != 2 {
		t.Errorf("done %+v", done)
	}
	equal(t, "sent", o.got(), []string{bodyOf("ours")})
	if done := o.drain(func(d *Drain) { d.Early, d.AnyKey = true, true }); done.Declared != 1 || done.Others != 1 {
		t.Errorf("with any key: %+v", done)
	}
	equal(t, "sent", o.got(), []string{bodyOf("ours"), bodyOf("other key")})
}

func TestTwoDoNotSendAtOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	o.write(letter{action: "a", failed: true})
	box, err := journal.OpenOutbox(o.home)
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	if held, err := box.Lease(t.Context(), 1, time.Minute); err != nil || !held {
		t.Fatalf("lease %t, %v", held, err)
	}
	other, err := journal.OpenOutbox(o.home)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	d := Drain{To: o, Timeout: time.Minute, Early: true}
	if _, err := d.Run(t.Context(), other); !errors.Is(err, ErrBusy) {
		t.Errorf("error %v, want that somebody is at it", err)
	}
	if err := box.Release(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	if done, err := d.Run(t.Context(), other); err != nil || done.Declared != 1 {
		t.Errorf("done %+v, error %v", done, err)
	}
}

// Many recorders of a home drain it, and each letter is declared once.
func TestManyWhoDrainDeclareEachLetterOnce(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	var letters []letter
	for i := range 40 {
		letters = append(letters, letter{action: fmt.Sprintf("a:%d", i), failed: true})
	}
	o.write(letters...)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			box, err := journal.OpenOutbox(o.home)
			if err != nil {
				t.Error(err)
				return
			}
			defer box.Close()
			for {
				d := Drain{To: o, Timeout: time.Minute, Early: true}
				if _, err := d.Run(context.Background(), box); err == nil {
					return
				} else if !errors.Is(err, ErrBusy) {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	sent := o.got()
	slices.Sort(sent)
	if got := len(slices.Compact(sent)); got != len(letters) || len(o.got()) != len(letters) {
		t.Errorf("%d letters were sent, %d of them different, want %d", len(o.got()), got, len(letters))
	}
	equal(t, "left", o.left(), []string{})
	o.mustBeIntact()
}

func TestThePauseGrowsUpToTenMinutesAndHonoursTheServer(t *testing.T) {
	t.Parallel()
	for tries, want := range map[int64]time.Duration{1: 5 * time.Second, 2: 10 * time.Second, 4: 40 * time.Second, 8: 10 * time.Minute, 1 << 40: 10 * time.Minute} {
		if got := Backoff(tries, 0); got < want*9/10 || got > want*11/10 {
			t.Errorf("after %d tries %v, want about %v", tries, got, want)
		}
	}
	if got := Backoff(1, time.Hour); got != time.Hour {
		t.Errorf("%v, want what the server asked for", got)
	}
}

func TestAKeeperSendsWhatWasPutIntoTheOutbox(t *testing.T) {
	t.Parallel()
	o := newOffice(t)
	got := make(chan struct{}, 10)
	o.answer = func(int, string) Result { got <- struct{}{}; return Result{Declared: true, Status: 201} }
	told := make(chan string, 10)
	k := NewKeeper(o.home, o, time.Second, func(line string) { told <- line })
	defer k.Close()
	o.write(letter{action: "a", at: time.Now().Add(-time.Hour), failed: true})
	k.Kick()
	select {
	case <-got:
	case <-time.After(2 * time.Minute):
		t.Fatal("nothing was sent")
	}
	if line := <-told; !strings.Contains(line, "declared a late, 1h0m") {
		t.Errorf("told %q", line)
	}
	k.Close()
	equal(t, "left", o.left(), []string{})
}
