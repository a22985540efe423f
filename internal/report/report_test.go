package report_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files anew")

const (
	firstID  = "6d4e47f7a0b1c2d3e4f5061728394a5b"
	secondID = "6d4e47f7ffb1c2d3e4f5061728394a5b" // shares ten digits with none and eight with the first
	thirdID  = "0b5c91d2a0b1c2d3e4f5061728394a5b"
)

var (
	zone = time.FixedZone("east", 2*60*60)
	now  = time.Date(2026, 11, 30, 14, 5, 9, 0, zone)
	view = report.View{Clock: terminal.Clock{Now: func() time.Time { return now }, Zone: zone}}
)

// ago is a moment so long before now, in the journal's µs.
func ago(span time.Duration) int64 { return now.Add(-span).UnixMicro() }

// answer is what all answers have in common.
type answer interface {
	Text(report.View) string
	Document() any
}

// golden compares text with a file under testdata, or writes it there.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (run the test with -update to write it)", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", name, diff)
	}
}

func goldenAnswer(t *testing.T, name string, a answer, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	golden(t, name+".txt", a.Text(view))
	golden(t, name+".json", asJSON(t, a.Document()))
}

func asJSON(t testing.TB, document any) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.WriteJSON(&b, document); err != nil {
		t.Fatal(err)
	}
	if !json.Valid(b.Bytes()) {
		t.Fatalf("no JSON: %s", b.String())
	}
	return b.String()
}

func ended(run journal.Run, after time.Duration, code int64, reason string) journal.Run {
	run.Last = run.Started + after.Microseconds()
	run.End = &entry.Entry{Kind: entry.KindEnd, Session: run.ID, At: run.Last, ExitCode: code, Reason: reason, Call: -1, Took: -1}
	return run
}

func newRun(id, label string, started int64) journal.Run {
	return journal.Run{
		ID: id, Label: label, Program: "npx", Transport: "stdio", Version: "0.1.0", Capture: "shape",
		Started: started, Last: started,
	}
}

func newCall(id string, seq int64, tool string, at int64) journal.Call {
	return journal.Call{
		Session: id, Label: "orders", Seq: seq, From: "client", At: at, Method: "tools/call", Tool: tool,
		Sent: 180 + seq, Took: -1,
	}
}

func answered(call journal.Call, outcome entry.Outcome, returned int64, took time.Duration) journal.Call {
	call.Answered, call.Outcome, call.Returned, call.Took = true, outcome, returned, took.Microseconds()
	call.AnswerAt = call.At + call.Took
	return call
}

func refused(call journal.Call, code string) journal.Call {
	call.Error = code
	return call
}

// busy is a session in which a bit of everything happened.
func busy() *shelf {
	start := ago(10 * time.Minute)
	at := func(seconds int) int64 { return start + int64(seconds)*1_000_000 }
	s := &shelf{
		runs: []journal.Run{
			ended(newRun(thirdID, "files", ago(50*time.Hour)), 3*time.Second, 0, "client_closed"),
			ended(newRun(firstID, "orders", start), 2*time.Minute, 7, "server_exit"),
		},
		others: []journal.MethodCount{
			{From: "client", Method: "tools/list", Count: 2},
			{From: "client", Method: "initialize", Count: 1},
			{From: "server", Method: "sampling/createMessage", Count: 3},
		},
		noise: 3, stderr: 12 << 10,
		gaps: []journal.Gap{
			{Session: firstID, At: at(61), From: "server", Reason: "observer_behind", Bytes: 70 << 20, Messages: 1200},
			{Session: firstID, At: at(62), From: "client", Reason: "journal_failed", Bytes: 400, Messages: 1},
		},
	}
	add := func(c journal.Call) { s.calls = append(s.calls, c) }
	add(answered(journal.Call{Session: thirdID, Label: "files", Seq: 3, From: "client", At: ago(50 * time.Hour), Method: "tools/call", Tool: "read", Sent: 90}, "ok", 700, 3*time.Millisecond))
	init := newCall(firstID, 1, "", at(0))
	init.Method = "initialize"
	add(answered(init, "ok", 900, 40*time.Millisecond))
	add(answered(newCall(firstID, 5, "get_order", at(10)), "ok", 412, 1300*time.Microsecond))
	add(answered(newCall(firstID, 7, "list_orders", at(11)), "ok", 3<<20, 340*time.Millisecond))
	add(refused(answered(newCall(firstID, 9, "refund", at(12)), "error", 120, 5*time.Millisecond), "-32602"))
	add(refused(answered(newCall(firstID, 11, "refund", at(13)), "error", 121, 5*time.Millisecond), "-32602"))
	add(answered(newCall(firstID, 13, "refund", at(14)), "tool_error", 300, 2*time.Second))
	add(answered(newCall(firstID, 15, "export", at(15)), "ok", 250, 61*time.Second))
	for i := range int64(4) {
		add(answered(newCall(firstID, 20+2*i, "get_order", at(20+int(i))), "ok", 500+i, time.Duration(i+1)*time.Millisecond))
	}
	lost := newCall(firstID, 40, "delete_all", at(110))
	lost.Ended = true
	add(lost)
	sampling := newCall(firstID, 42, "", at(112))
	sampling.From, sampling.Method = "server", "sampling/createMessage"
	add(answered(sampling, "ok", 800, 900*time.Millisecond))
	return s
}

func TestLastPutsFailuresFirstThenWhatWasEnormous(t *testing.T) {
	t.Parallel()
	last, err := report.LastRun(t.Context(), busy(), view.Clock, "")
	goldenAnswer(t, "last-busy", last, err)
}

func TestLastAndTailTellWhatErrorsSaidAndWhereDataWent(t *testing.T) {
	t.Parallel()
	s := full()
	s.records[13] = s.records[9]
	s.went = []journal.DestinationCount{{Kind: "host", Name: "api.orders.example", Calls: 9}, {Kind: "email", Name: "jo@acme.example", Calls: 1}}
	for i := range int64(5) {
		s.went = append(s.went, journal.DestinationCount{Kind: "ip", Name: fmt.Sprintf("192.0.2.%d", i), Calls: 1})
	}
	last, err := report.LastRun(t.Context(), s, view.Clock, "")
	goldenAnswer(t, "last-why", last, err)
	tail, err := report.TailCalls(t.Context(), s, view.Clock, report.TailQuery{Limit: 20, Errors: true})
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "tail-why.txt", tail.Text(view))
}

func TestLastOfASessionInWhichNothingFailedSaysSoInOneLine(t *testing.T) {
	t.Parallel()
	s := busy()
	s.gaps, s.others, s.noise, s.stderr = nil, nil, 0, 0
	last, err := report.LastRun(t.Context(), s, view.Clock, "0b5c")
	goldenAnswer(t, "last-clean", last, err)
}

func TestLastOfASessionThatGoesOnListsWhatWaits(t *testing.T) {
	t.Parallel()
	run := newRun(firstID, "orders", ago(2*time.Minute))
	run.Last = ago(20 * time.Second)
	s := &shelf{runs: []journal.Run{run}, calls: []journal.Call{
		answered(newCall(firstID, 3, "get_order", ago(time.Minute)), "ok", 400, time.Millisecond),
		newCall(firstID, 5, "slow_report", ago(20*time.Second)),
	}}
	last, err := report.LastRun(t.Context(), s, view.Clock, "")
	goldenAnswer(t, "last-running", last, err)
}

func TestLastOfASessionWhereNoToolWasCalled(t *testing.T) {
	t.Parallel()
	s := &shelf{runs: []journal.Run{ended(newRun(firstID, "orders", ago(time.Hour)), time.Second, 127, "start_failed")}}
	last, err := report.LastRun(t.Context(), s, view.Clock, "")
	goldenAnswer(t, "last-no-calls", last, err)
}

func TestLastTakesTheNewestSessionThatCalledATool(t *testing.T) {
	t.Parallel()
	s := busy()
	s.runs = append(s.runs, newRun(secondID, "idle", ago(time.Second)))
	last, err := report.LastRun(t.Context(), s, view.Clock, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := last.Document().(report.LastDocument).Session; got != firstID {
		t.Errorf("it told of session %s", got)
	}
}

func TestASessionWithoutAnEndIsNeverCalledEnded(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name   string
		silent time.Duration
		want   string
	}{
		{"a moment ago", time.Second, "still running"},
		{"just below an hour", time.Hour - time.Second, "still running"},
		{"an hour", time.Hour, "open, idle 1h"},
		{"three days", 75 * time.Hour, "open, idle 3d"},
		{"a clock that was set back", -time.Hour, "still running"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			run := newRun(firstID, "orders", ago(100*time.Hour))
			run.Last = ago(test.silent)
			last, err := report.LastRun(t.Context(), &shelf{runs: []journal.Run{run}}, view.Clock, "")
			if err != nil {
				t.Fatal(err)
			}
			if head, _, _ := strings.Cut(last.Text(view), "\n"); !strings.HasSuffix(head, test.want) {
				t.Errorf("%q does not end in %q", head, test.want)
			}
		})
	}
}

func TestHowASessionEndedIsToldByWhoEndedIt(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		code   int64
		reason string
		want   string
	}{
		{0, "client_closed", "clean"},
		{0, "server_exit", "clean"},
		{7, "server_exit", "exited 7"},
		{143, "client_closed", "client closed, then exited 143"},
		{130, "signal", "stopped by a signal, exited 130"},
		{127, "start_failed", "could not start"},
		{-1, "server_exit", "ended, exit code unknown"},
	} {
		run := ended(newRun(firstID, "orders", ago(time.Hour)), time.Second, test.code, test.reason)
		last, err := report.LastRun(t.Context(), &shelf{runs: []journal.Run{run}}, view.Clock, "")
		if err != nil {
			t.Fatal(err)
		}
		if head, _, _ := strings.Cut(last.Text(view), "\n"); !strings.HasSuffix(head, "  "+test.want) {
			t.Errorf("%d %s: %q does not end in %q", test.code, test.reason, head, test.want)
		}
	}
}

func TestManyFailuresAreCountedInFull(t *testing.T) {
	t.Parallel()
	s := &shelf{runs: []journal.Run{ended(newRun(firstID, "orders", ago(time.Hour)), time.Minute, 0, "client_closed")}}
	for i := range int64(400) {
		call := newCall(firstID, 10+2*i, fmt.Sprintf("tool%d", i%20), ago(time.Hour)+i)
		s.calls = append(s.calls, answered(call, "tool_error", 10, time.Millisecond))
	}
	last, err := report.LastRun(t.Context(), s, view.Clock, "")
	if err != nil {
		t.Fatal(err)
	}
	text := last.Text(view)
	for _, want := range []string{"400 calls, 400 failed", "  20x  tool", "and 10 more kinds: deed tail --errors --session 6d4e47f7"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
}

func TestRunsAreListedNewestFirst(t *testing.T) {
	t.Parallel()
	s := busy()
	open := newRun(secondID, "", ago(76*time.Hour))
	open.Last = ago(75 * time.Hour)
	erased := newRun("ffffffffffffffffffffffffffffffff", "", ago(time.Minute))
	erased.Program, erased.Erased = "", true
	s.runs = slices.Concat([]journal.Run{open}, s.runs, []journal.Run{erased})
	runs, err := report.ListRuns(t.Context(), s, view.Clock, 0, 10)
	goldenAnswer(t, "runs", runs, err)

	runs, err = report.ListRuns(t.Context(), s, view.Clock, 0, 2)
	if err != nil {
		t.Fatal(err)
	}
	if text := runs.Text(view); strings.Count(text, "\n") != 6 || !strings.Contains(text, "older ones: deed last --runs -n 100\n") {
		t.Errorf("two of four runs read:\n%s", text)
	}
	runs, err = report.ListRuns(t.Context(), s, view.Clock, ago(0), 2)
	if err != nil || runs.Text(view) != "no session did anything since then\n" {
		t.Errorf("runs since now: %v", err)
	}
}

func TestTailListsCallsOldestFirst(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		query report.TailQuery
	}{
		{"tail", report.TailQuery{Limit: 20}},
		{"tail-session", report.TailQuery{Limit: 3, Session: firstID[:9]}},
		{"tail-errors", report.TailQuery{Limit: 20, Errors: true}},
		{"tail-all-since", report.TailQuery{Limit: 20, All: true, Since: ago(10 * time.Minute)}},
		{"tail-none", report.TailQuery{Limit: 20, Since: ago(time.Minute), Errors: true, Session: "6d4e"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			tail, err := report.TailCalls(t.Context(), busy(), view.Clock, test.query)
			if err != nil {
				t.Fatal(err)
			}
			golden(t, test.name+".txt", tail.Text(view))
			var lines bytes.Buffer
			if err := report.WriteJSONLines(&lines, tail.Documents()); err != nil {
				t.Fatal(err)
			}
			golden(t, test.name+".jsonl", lines.String())
		})
	}
}

func TestTailCallsACancelledCallCancelled(t *testing.T) {
	t.Parallel()
	s := &shelf{runs: []journal.Run{newRun(firstID, "orders", ago(time.Hour))}}
	for seq, ended := range map[int64]bool{1: true, 3: false} {
		call := newCall(firstID, seq, "export", ago(time.Hour)+seq)
		call.Cancelled, call.Ended = true, ended
		s.calls = append(s.calls, call)
	}
	tail, err := report.TailCalls(t.Context(), s, view.Clock, report.TailQuery{Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	if got := tail.Text(view); strings.Count(got, "cancelled") != 2 || strings.Contains(got, "no answer") || strings.Contains(got, "…") {
		t.Errorf("it tells:\n%s", got)
	}
}

func TestCallIDsCarryAsMuchOfTheSessionAsIsNeeded(t *testing.T) {
	t.Parallel()
	s := busy()
	s.runs = append(s.runs, newRun(secondID, "twin", ago(time.Hour)))
	tail, err := report.TailCalls(t.Context(), s, view.Clock, report.TailQuery{Limit: 1})
	if err != nil {
		t.Fatal(err)
	}
	if got := tail.Documents()[0].(report.CallDocument).Call; got != "6d4e47f7a.40" {
		t.Errorf("the call is named %s", got)
	}
}

func TestAnswersSayWhyThereIsNone(t *testing.T) {
	t.Parallel()
	twins := busy()
	twins.runs = append(twins.runs, newRun(secondID, "twin", ago(time.Hour)))
	broken := errors.New("disk on fire")
	last := func(h report.Ledger, prefix string) error {
		_, err := report.LastRun(context.Background(), h, view.Clock, prefix)
		return err
	}
	tail := func(h journal.History, q report.TailQuery) error {
		_, err := report.TailCalls(context.Background(), h, view.Clock, q)
		return err
	}
	show := func(h journal.History, id string) error {
		_, err := report.ShowCall(context.Background(), h, view.Clock, id)
		return err
	}
	_, noRuns := report.ListRuns(context.Background(), &shelf{}, view.Clock, 0, 10)
	for _, test := range []struct {
		name string
		err  error
		text string
		hint string
	}{
		{"last of an empty journal", last(&shelf{}, ""), "nothing recorded yet", "deed demo"},
		{"runs of an empty journal", noRuns, "nothing recorded yet", "deed demo"},
		{"tail of an empty journal", tail(&shelf{}, report.TailQuery{Limit: 1}), "nothing recorded yet", "deed run --"},
		{"no such session", last(busy(), "abc"), `no session begins with "abc"`, "deed last --runs"},
		{"no such session for tail", tail(busy(), report.TailQuery{Session: "abc"}), `no session begins with "abc"`, "deed last --runs"},
		{"a label for a session", last(busy(), "orders"), `no session begins with "orders"`, "hex digits"},
		{"two sessions", last(twins, "6D4E47F7"), `several sessions begin with "6d4e47f7"`, secondID + "  2026-11-30 13:05:09  twin\n" + firstID},
		{"no call id", show(busy(), "12"), `"12" is no call id`, "6d4e47f7.12"},
		{"no call id either", show(busy(), "6d4e47f7.-1"), `"6d4e47f7.-1" is no call id`, "6d4e47f7.12"},
		{"a call of no session", show(busy(), "abc.1"), `no session begins with "abc"`, "deed last --runs"},
		{"no such call", show(busy(), "6d4e.999"), "no call 6d4e47f7.999", "deed tail --all --session 6d4e47f7"},
		{"a journal that cannot be read", last(&shelf{err: broken}, ""), "find the newest call: disk on fire", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if test.err == nil || test.err.Error() != test.text {
				t.Fatalf("error %v, want %s", test.err, test.text)
			}
			var hint *terminal.Hint
			if errors.As(test.err, &hint) != (test.hint != "") || hint != nil && !strings.Contains(hint.Next, test.hint) {
				t.Errorf("hint %+v, want one with %q", hint, test.hint)
			}
		})
	}
}
