package report_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/report"
)

// errStop is how a test's pause ends a watch.
var errStop = errors.New("enough")

// watch follows a shelf. Before each question to come, the next of steps
// writes to it; after the last, the watch ends.
func watch(t *testing.T, s *shelf, query report.WatchQuery, steps ...func()) string {
	t.Helper()
	var out bytes.Buffer
	err := report.Watch(t.Context(), s, view, query, &out, func(context.Context) error {
		if len(steps) == 0 {
			return errStop
		}
		steps[0]()
		steps = steps[1:]
		return nil
	})
	if err != nil && !errors.Is(err, errStop) {
		t.Fatal(err)
	}
	return out.String()
}

// traffic writes a session to a shelf, a piece at a time.
type traffic struct {
	*shelf
	id string
	at int64
}

func (f traffic) begin() {
	f.write(entry.Entry{Kind: entry.KindSession, Session: f.id, At: f.at}, &entry.Detail{Label: "orders"})
}

func (f traffic) ask(seq int64, tool string) {
	f.write(entry.Entry{Kind: entry.KindRequest, Session: f.id, Seq: seq, At: f.at + seq*1e6, From: "client", Bytes: 180},
		&entry.Detail{Method: text("tools/call"), Tool: text(tool)})
}

func (f traffic) reply(seq, call int64, outcome entry.Outcome, why *entry.Text) {
	f.write(entry.Entry{
		Kind: entry.KindResponse, Session: f.id, Seq: seq, At: f.at + seq*1e6, From: "server", Bytes: 2048,
		Call: call, Took: (seq - call) * 1e6, Outcome: outcome,
	}, &entry.Detail{Method: text("tools/call"), ErrorText: why})
}

func (f traffic) end(seq, code, open int64) {
	f.write(entry.Entry{Kind: entry.KindEnd, Session: f.id, Seq: seq, At: f.at + seq*1e6, ExitCode: code, Reason: "server_exit", Open: open}, nil)
}

func newTraffic() traffic {
	return traffic{&shelf{runs: []journal.Run{newRun(firstID, "orders", ago(time.Minute))}}, firstID, ago(time.Minute)}
}

// busyTraffic has a call that was asked before the watch began, one of every
// outcome, a request that is no call, a gap, and an end.
func busyTraffic(f traffic) []func() {
	f.begin()
	f.ask(1, "slow_report")
	return []func(){
		func() { f.ask(2, "get_order"); f.reply(3, 2, "ok", nil) },
		func() { f.reply(4, 1, "tool_error", text("no such \x1b[2J order")) },
		func() {
			f.write(entry.Entry{Kind: entry.KindRequest, Session: f.id, Seq: 5, At: f.at + 5e6, From: "client", Bytes: 60}, &entry.Detail{Method: text("tools/list")})
			f.reply(6, 5, "ok", nil)
		},
		func() {
			f.write(entry.Entry{Kind: entry.KindGap, Session: f.id, Seq: 7, At: f.at + 7e6, From: "server", Bytes: 4096, Messages: 3, Reason: "observer_behind"}, nil)
		},
		func() { f.ask(8, "delete_all"); f.end(9, 7, 1) },
	}
}

func TestWatchTellsEachCallAsItEnds(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name  string
		query report.WatchQuery
	}{
		{"watch.txt", report.WatchQuery{}},
		{"watch.jsonl", report.WatchQuery{JSON: true}},
		{"watch-errors.txt", report.WatchQuery{Errors: true}},
		{"watch-since.txt", report.WatchQuery{Scope: report.Scope{Since: ago(time.Hour)}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newTraffic()
			golden(t, test.name, watch(t, f.shelf, test.query, busyTraffic(f)...))
		})
	}
}

func TestWatchTellsACallOnlyWhenItEnds(t *testing.T) {
	t.Parallel()
	f := newTraffic()
	f.begin()
	if got := watch(t, f.shelf, report.WatchQuery{}, func() { f.ask(1, "get_order") }); got != "" {
		t.Errorf("told of an open call: %s", got)
	}
}

func TestWatchEndsAfterAsManyCallsAsWereAskedFor(t *testing.T) {
	t.Parallel()
	f := newTraffic()
	f.begin()
	steps := 0
	more := func() {
		f.ask(int64(10+2*steps), "get_order")
		f.reply(int64(11+2*steps), int64(10+2*steps), "ok", nil)
		steps++
	}
	got := watch(t, f.shelf, report.WatchQuery{Limit: 2}, more, more, more, more)
	if strings.Count(got, "get_order") != 2 || steps != 2 {
		t.Errorf("after %d calls it had told:\n%s", steps, got)
	}
}

func TestWatchOfOneSessionIsSilentAboutOthers(t *testing.T) {
	t.Parallel()
	f := newTraffic()
	f.runs = append(f.runs, newRun(thirdID, "files", ago(time.Minute)))
	other := traffic{f.shelf, thirdID, f.at}
	got := watch(t, f.shelf, report.WatchQuery{Scope: report.Scope{Session: "0b5c"}},
		func() { f.begin(); f.ask(1, "get_order"); f.reply(2, 1, "ok", nil) },
		func() { other.begin(); other.ask(3, "read"); other.reply(4, 3, "ok", nil) },
	)
	if strings.Contains(got, "get_order") || !strings.Contains(got, "read") {
		t.Errorf("told:\n%s", got)
	}
}

func TestWatchBeginsWithWhatHappenedSinceThen(t *testing.T) {
	t.Parallel()
	for from := range int64(40) {
		f := newTraffic()
		f.begin()
		for i := range int64(20) {
			f.ask(1+2*i, "get_order")
			f.reply(2+2*i, 1+2*i, "ok", nil)
		}
		got := watch(t, f.shelf, report.WatchQuery{Scope: report.Scope{Since: f.at + from*1e6}})
		want := 0
		for second := int64(2); second <= 40; second += 2 { // when the answers came
			if second >= from {
				want++
			}
		}
		if told := strings.Count(got, "get_order"); told != want {
			t.Errorf("since second %d it tells %d calls, want %d", from, told, want)
		}
	}
}

func TestWatchOfAnUnknownSessionSaysSo(t *testing.T) {
	t.Parallel()
	err := report.Watch(t.Context(), newTraffic().shelf, view, report.WatchQuery{Scope: report.Scope{Session: "fff"}}, &bytes.Buffer{}, nil)
	var missing *report.NoSessionError
	if !errors.As(err, &missing) {
		t.Errorf("error %v", err)
	}
}
