package journal

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/journal/entry"
)

func eraseNow(t testing.TB, home string, request EraseRequest) Erasure {
	t.Helper()
	erasure, err := Erase(testContext(t), home, request)
	if err != nil {
		t.Fatalf("erase %+v: %v", request, err)
	}
	return erasure
}

// filesWith names the files of a home that contain any of the texts.
func filesWith(t testing.TB, home string, texts ...string) []string {
	t.Helper()
	var found []string
	files, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(home, file.Name()))
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			if bytes.Contains(content, []byte(text)) {
				found = append(found, file.Name()+" contains "+text)
			}
		}
	}
	return found
}

// secret is a text that zstd cannot hide and no other entry has.
func secret(i int) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "secret %d", i))
	return fmt.Sprintf("%x", sum[:20])
}

// secretCall records a call whose detail and bodies, whose tool and error
// columns hold secrets. One body is small, the other goes by stages.
func (r *recording) secretCall(i, size int) int64 {
	r.t.Helper()
	s := secret(i)
	ask := "tool " + s
	call := r.keep(&entry.Entry{Kind: entry.KindRequest, From: "client", Bytes: int64(len(ask))},
		&entry.Detail{Method: text("tools/call"), Tool: text("tool-" + s), Shape: []entry.Field{{Name: "argument-" + s, Type: "string", Bytes: 9}}},
		&Body{Bytes: []byte(ask)})
	answer := append(noise(size), "answer "+s...)
	r.keep(&entry.Entry{Kind: entry.KindResponse, From: "server", Bytes: int64(len(answer)), Call: call, Took: 5, Outcome: entry.OutcomeError},
		&entry.Detail{Method: text("tools/call"), Tool: text("tool-" + s), Error: text("-32000 " + s)}, &Body{Bytes: answer})
	return call
}

func keepAll() Options { return Options{Retention: Policy{MaxAge: -1}} }

func TestAnErasedCallIsGoneForGoodAndTheRestIsThere(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := recordAt(t, j, "raw")
	var calls []int64
	for i := range 24 {
		calls = append(calls, r.secretCall(i, []int{0, 3_000, 70_000, 200_000, 2 * pieceBytes}[i%5]))
	}
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	// The session is still running, and its recorder has the database open.
	var gone, there []string
	for i, call := range calls {
		if i%3 != 0 {
			there = append(there, secret(i))
			continue
		}
		gone = append(gone, secret(i))
		erasure := eraseNow(t, home, EraseRequest{Session: r.session, Seq: call})
		if erasure.Entries != 2 || erasure.Details != 2 || erasure.Bodies != 2 || erasure.First != call || erasure.Last != call+1 ||
			len(erasure.Records) != 1 || erasure.Scope != entry.ScopeCall || erasure.What != entry.ErasedAll || erasure.Lingering {
			t.Fatalf("erasing one call says %+v", erasure)
		}
	}
	if found := filesWith(t, home, gone...); found != nil {
		t.Errorf("erased secrets are still on disk: %v", found)
	}
	for _, s := range there {
		if filesWith(t, home, "answer "+s) == nil {
			t.Errorf("secret %s was not erased and is gone", s)
		}
	}
	r.secretCall(1_000, 5)
	r.end(0)
	closeJournal(t, j)
	report := intact(t, home)
	if report.Erased != 16 || report.ErasedBodies != 16 || report.ErasureEntries != 8 || len(report.Erasures) != 8 {
		t.Errorf("report is %+v", report)
	}
	first := report.Erasures[0]
	if first.N != 49 || first.Count != 2 || first.First != calls[0] || first.Last != calls[0]+1 || first.Scope != entry.ScopeCall {
		t.Errorf("the first erasure is %+v", first)
	}
	if runs, err := openReader(t, home).Runs(testContext(t), RunFilter{}); err != nil || len(runs) != 1 {
		t.Errorf("%d sessions are listed, %v; what the journal writes of itself is none", len(runs), err)
	}
}

func TestErasingTwiceChangesNothingAndSaysSo(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := recordAt(t, j, "raw")
	call := r.secretCall(1, 10)
	r.end(0)
	closeJournal(t, j)
	for _, request := range []EraseRequest{
		{Session: r.session, Seq: call, BodiesOnly: true},
		{Session: r.session, Seq: call},
		{Session: r.session},
		{Before: 1_800_000_000_000_000},
		{All: true},
	} {
		before := eraseNow(t, home, request)
		size := intact(t, home).Entries
		again := eraseNow(t, home, request)
		if again.Entries != 0 || again.Records != nil || again.First != -1 || again.Last != -1 || again.Bytes != 0 {
			t.Errorf("after %+v, erasing again says %+v", before, again)
		}
		if now := intact(t, home).Entries; now != size {
			t.Errorf("erasing again has made %d entries %d", size, now)
		}
	}
}

func TestADryRunCountsWhatErasingErasesAndChangesNothing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := recordAt(t, j, "raw")
	for i := range 30 {
		r.secretCall(i, i*1_000)
	}
	r.end(0)
	other := record(t, j, newSession())
	other.at += 1_000_000
	other.request("x", 1)
	other.end(1)
	closeJournal(t, j)
	for _, request := range []EraseRequest{
		{Session: r.session, Seq: 1, BodiesOnly: true},
		{Session: r.session, Seq: 3},
		{Before: 1_700_000_000_010_000, BodiesOnly: true},
		{Before: 1_700_000_000_010_000},
		{Session: r.session, BodiesOnly: true},
		{Session: r.session},
		{All: true},
	} {
		dry := request
		dry.DryRun = true
		size := intact(t, home).Entries
		would := eraseNow(t, home, dry)
		if now := intact(t, home).Entries; now != size {
			t.Fatalf("a dry run has made %d entries %d", size, now)
		}
		did := eraseNow(t, home, request)
		if len(did.Records) == 0 || would.Records != nil {
			t.Errorf("records are %v and %v", would.Records, did.Records)
		}
		did.Records = nil
		if would.Entries == 0 || fmt.Sprint(would) != fmt.Sprint(did) {
			t.Errorf("%+v would erase %+v and erased %+v", request, would, did)
		}
	}
}

func TestAWholeCallIsErasedFromAnyOfItsRequests(t *testing.T) {
	t.Parallel()
	for _, from := range []int{0, 1, 2} {
		t.Run(fmt.Sprintf("from request %d of it", from), func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			j := openJournal(t, home, keepAll())
			r := recordAt(t, j, "raw")
			detail := &entry.Detail{Method: text("tools/call")}
			first := r.append(&entry.Entry{Kind: entry.KindRequest, From: "client", Bytes: 1}, detail)
			stranger := r.append(&entry.Entry{Kind: entry.KindRequest, From: "client", Bytes: 1}, detail)
			r.append(&entry.Entry{Kind: entry.KindNotification, From: "server", Bytes: 1, Call: first}, detail) // progress
			r.append(&entry.Entry{Kind: entry.KindResponse, From: "server", Bytes: 1, Call: first, Took: 1, Outcome: entry.OutcomeOK}, detail)
			second := r.append(&entry.Entry{Kind: entry.KindRequest, From: "client", Bytes: 1, Call: first}, detail) // goes on with it
			r.append(&entry.Entry{Kind: entry.KindResponse, From: "server", Bytes: 1, Call: second, Took: 1, Outcome: entry.OutcomeOK}, detail)
			third := r.append(&entry.Entry{Kind: entry.KindRequest, From: "client", Bytes: 1, Call: first}, detail)
			r.append(&entry.Entry{Kind: entry.KindResponse, From: "server", Bytes: 1, Call: first, Took: 1, Outcome: entry.OutcomeOK}, detail)
			r.append(&entry.Entry{Kind: entry.KindResponse, From: "server", Bytes: 1, Call: stranger, Took: 1, Outcome: entry.OutcomeOK}, detail)
			r.end(0)
			closeJournal(t, j)
			erasure := eraseNow(t, home, EraseRequest{Session: r.session, Seq: []int64{first, second, third}[from]})
			if erasure.Entries != 7 {
				t.Errorf("erased %+v, not the 7 entries of the call", erasure)
			}
			var left []int64
			if err := openReader(t, home).Records(testContext(t), 0, func(record Record) error {
				if record.Detail != nil {
					left = append(left, record.N)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(left, []int64{0, stranger, 9}) {
				t.Errorf("details of %v are left", left)
			}
			intact(t, home)
		})
	}
}

func TestOnlyWhatIsOlderThanTheTimeIsErased(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := recordAt(t, j, "raw")
	for i := range 10 {
		r.secretCall(i, 10)
	}
	closeJournal(t, j)
	erasure := eraseNow(t, home, EraseRequest{Before: 1_700_000_000_005_000})
	if erasure.Entries != 5 || erasure.Last != 4 || erasure.Scope != entry.ScopeBefore {
		t.Errorf("erased %+v, not entries 0 to 4", erasure)
	}
	if report := intact(t, home); report.Erased != 5 || report.ErasedBodies != 4 {
		t.Errorf("report is %+v", report)
	}
}

func TestBodiesAloneAreErasedAndDetailsStay(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := recordAt(t, j, "raw")
	r.secretCall(1, 10)
	r.end(0)
	closeJournal(t, j)
	erasure := eraseNow(t, home, EraseRequest{Session: r.session, BodiesOnly: true})
	if erasure.Bodies != 2 || erasure.Details != 0 || erasure.What != entry.ErasedBodies {
		t.Errorf("erased %+v", erasure)
	}
	if filesWith(t, home, "answer "+secret(1), "tool "+secret(1)) != nil {
		t.Error("a body is still on disk")
	}
	calls, err := openReader(t, home).Calls(testContext(t), CallFilter{})
	if err != nil || len(calls) != 1 || calls[0].Tool != "tool-"+secret(1) || calls[0].Erased {
		t.Errorf("calls are %+v, %v", calls, err)
	}
	if report := intact(t, home); report.Erased != 0 || report.ErasedBodies != 2 || report.ExactBytes != 0 {
		t.Errorf("report is %+v", report)
	}
}

func TestRequestsThatAreNotClearEraseNothing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := recordAt(t, j, "raw")
	r.secretCall(1, 10)
	closeJournal(t, j)
	for _, request := range []EraseRequest{
		{},
		{BodiesOnly: true},
		{Seq: 1},
		{Session: r.session, Seq: -1},
		{Session: r.session, Before: 5},
		{Before: 5, All: true},
	} {
		if _, err := Erase(testContext(t), home, request); !errors.As(err, new(*EraseRequestError)) {
			t.Errorf("%+v is answered by %v", request, err)
		}
	}
	for _, request := range []EraseRequest{{Session: newSession()}, {Session: entry.OwnSession}, {Session: r.session, Seq: 2}, {Session: r.session, Seq: 99}} {
		if _, err := Erase(testContext(t), home, request); !errors.Is(err, ErrNotFound) {
			t.Errorf("%+v is answered by %v", request, err)
		}
	}
	if _, err := Erase(testContext(t), t.TempDir(), EraseRequest{All: true}); !errors.Is(err, ErrNoJournal) {
		t.Errorf("without a journal the answer is %v", err)
	}
	if report := intact(t, home); report.ErasureEntries != 0 || report.Erased != 0 {
		t.Errorf("report is %+v", report)
	}
}

func TestABigErasureLetsRecordersGoOn(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	const entries = 8_000
	fill(t, j, entries)
	if err := j.Sync(testContext(t)); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var waits []time.Duration
	var recording sync.WaitGroup
	recording.Go(func() {
		r := record(t, j, newSession())
		for {
			began := time.Now()
			r.answer(r.request("x", 1), entry.OutcomeOK, 1, 1)
			waitCommitted(j)
			waits = append(waits, time.Since(began))
			select {
			case <-stop:
				r.end(0)
				return
			default:
			}
		}
	})
	erasure := eraseNow(t, home, EraseRequest{Before: 1_800_000_000_000_000})
	close(stop)
	recording.Wait()
	closeJournal(t, j)
	if erasure.Entries < entries-10 || len(erasure.Records) < entries/stepEntries {
		t.Errorf("erased %d entries in %d steps", erasure.Entries, len(erasure.Records))
	}
	slices.Sort(waits)
	t.Logf("%d entries erased in %d steps; an entry then waited %v at most, %v at the median of %d",
		erasure.Entries, len(erasure.Records), waits[len(waits)-1], waits[len(waits)/2], len(waits))
	if len(waits) < len(erasure.Records)/4 {
		t.Errorf("a recorder committed %d times during %d steps", len(waits), len(erasure.Records))
	}
	intact(t, home)
}

func TestErasingGivesSpaceBack(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	r := recordAt(t, j, "raw")
	for range 20 {
		r.keepBytes(noise(pieceBytes))
		r.keepBytes(noise(10_000))
	}
	closeJournal(t, j)
	size := func() int64 {
		info, err := os.Stat(filepath.Join(home, databaseName))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	before := size()
	eraseNow(t, home, EraseRequest{All: true})
	if after := size(); before < 20<<20 || after > 1<<20 {
		t.Errorf("the database had %d bytes and has %d", before, after)
	}
}

func TestAVerificationThatRunsWhileErasingFindsNothing(t *testing.T) {
	t.Parallel()
	home := t.TempDir()
	j := openJournal(t, home, keepAll())
	for range 2 {
		r := recordAt(t, j, "raw")
		for i := range 500 {
			r.secretCall(i, 20)
		}
		r.end(0)
	}
	closeJournal(t, j)
	runs, err := openReader(t, home).Runs(testContext(t), RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, one := range runs {
			if _, err := Erase(testContext(t), home, EraseRequest{Session: one.ID, BodiesOnly: true}); err != nil {
				t.Errorf("erase: %v", err)
			}
			if _, err := Erase(testContext(t), home, EraseRequest{Session: one.ID}); err != nil {
				t.Errorf("erase: %v", err)
			}
		}
	}()
	for running := true; running; {
		intact(t, home)
		select {
		case <-done:
			running = false
		default:
		}
	}
	if report := intact(t, home); report.Erased != 2*1_001 {
		t.Errorf("%d details are erased", report.Erased)
	}
}

func TestAnErasureWhoseCommitFailsIsWholeOrNotAtAll(t *testing.T) {
	t.Parallel()
	broken := errors.New("the disk says no")
	for name, commit := range map[string]func(func() error) error{
		"failed, and not kept": func(func() error) error { return broken },
		"failed, but kept":     func(commit func() error) error { return errors.Join(commit(), broken) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			home := t.TempDir()
			j := openJournal(t, home, keepAll())
			r := recordAt(t, j, "raw")
			for i := range 5 {
				r.secretCall(i, 200_000)
			}
			r.end(0)
			closeJournal(t, j)
			for fail := 1; ; fail++ {
				tries := 0
				erasure, err := erase(testContext(t), home, EraseRequest{All: true}, &faults{commit: func(c func() error) error {
					if tries++; tries == fail {
						return commit(c)
					}
					return c()
				}})
				intact(t, home)
				if err == nil {
					t.Logf("whole after %d failures, at last %d entries", fail-1, erasure.Entries)
					break
				}
				if !errors.Is(err, broken) {
					t.Fatal(err)
				}
			}
			if found := filesWith(t, home, secret(0), secret(1), secret(4)); found != nil {
				t.Errorf("still on disk: %v", found)
			}
			if report := intact(t, home); report.Erased != 11 || report.ErasedBodies != 10 {
				t.Errorf("report is %+v", report)
			}
		})
	}
}

// TestWhateverIsAppendedAndErasedVerifies lets a recorder, erasures and
// retention come in any order.
func TestWhateverIsAppendedAndErasedVerifies(t *testing.T) {
	t.Parallel()
	left := 12 // each run takes a second; set DEED_KILL_POINTS for a long dose
	if os.Getenv("DEED_KILL_POINTS") != "" {
		left = killPoints()
	}
	rapid.Check(t, func(rt *rapid.T) {
		if left--; left < 0 {
			return
		}
		home, err := os.MkdirTemp(t.TempDir(), "home")
		if err != nil {
			rt.Fatal(err)
		}
		j := openJournal(t, home, keepAll())
		r := recordAt(t, j, "raw")
		sessions := []string{r.session}
		secrets := make(map[string]map[int64]int) // by session and place of the call
		next := 0
		forget := func(session string, seq int64) { delete(secrets[session], seq) }
		var gone []string
		drop := func(session string, seq int64) {
			if i, ok := secrets[session][seq]; ok {
				gone = append(gone, secret(i))
				forget(session, seq)
			}
		}
		secrets[r.session] = map[int64]int{}
		rt.Repeat(map[string]func(*rapid.T){
			"call": func(rt *rapid.T) {
				size := rapid.SampledFrom([]int{0, 50, 500, 3_000, 5_000, 200_000}).Draw(rt, "size")
				secrets[r.session][r.secretCall(next, size)] = next
				next++
			},
			"entries": func(rt *rapid.T) {
				for range rapid.IntRange(1, 50).Draw(rt, "count") {
					r.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 1}, &entry.Detail{Note: "a note that says little"})
				}
			},
			"session": func(*rapid.T) {
				r.end(0)
				r = recordAt(t, j, "raw")
				sessions = append(sessions, r.session)
				secrets[r.session] = map[int64]int{}
			},
			"erase a call": func(rt *rapid.T) {
				session := rapid.SampledFrom(sessions).Draw(rt, "session")
				var calls []int64
				for seq := range secrets[session] {
					calls = append(calls, seq)
				}
				if len(calls) == 0 {
					rt.Skip("no call is left")
				}
				slices.Sort(calls)
				seq := rapid.SampledFrom(calls).Draw(rt, "call")
				if err := j.Sync(testContext(t)); err != nil {
					rt.Fatal(err)
				}
				eraseNow(t, home, EraseRequest{Session: session, Seq: seq})
				drop(session, seq)
			},
			"erase a session": func(rt *rapid.T) {
				session := rapid.SampledFrom(sessions).Draw(rt, "session")
				bodiesOnly := rapid.Bool().Draw(rt, "bodies only")
				if err := j.Sync(testContext(t)); err != nil {
					rt.Fatal(err)
				}
				eraseNow(t, home, EraseRequest{Session: session, BodiesOnly: bodiesOnly})
				if !bodiesOnly {
					for seq := range secrets[session] {
						drop(session, seq)
					}
				}
			},
			"prune": func(rt *rapid.T) {
				policy := Policy{MaxAge: -1, MaxBytes: rapid.Int64Range(0, 500_000).Draw(rt, "bytes")}
				if policy.MaxBytes == 0 {
					policy = Policy{}
				}
				if _, err := Prune(testContext(t), home, policy); err != nil {
					rt.Fatal(err)
				}
			},
			"": func(rt *rapid.T) {
				report, err := Verify(testContext(t), home, VerifyOptions{})
				if err != nil || !report.Intact() {
					rt.Fatalf("verify: %v, %+v", err, report.Findings)
				}
			},
		})
		closeJournal(t, j)
		eraseNow(t, home, EraseRequest{Before: 1})
		if found := filesWith(t, home, gone...); found != nil {
			rt.Fatalf("erased secrets are on disk: %v", found)
		}
		if report, err := Verify(testContext(t), home, VerifyOptions{}); err != nil || !report.Intact() {
			rt.Fatalf("verify: %v, %+v", err, report.Findings)
		}
	})
}
