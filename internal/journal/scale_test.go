package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// The scale tests build a journal of DEED_SCALE_CALLS calls (a million is the
// size that answers are promised for), or use the one that is in
// DEED_SCALE_HOME. Without the first they are a small dose, which proves that
// the answers come and not how fast.
func scaleHome(t testing.TB) (home string, calls int, full bool) {
	t.Helper()
	calls, err := strconv.Atoi(os.Getenv("DEED_SCALE_CALLS"))
	full = err == nil && calls > 0
	if !full {
		calls = 5_000
	}
	if home = os.Getenv("DEED_SCALE_HOME"); home == "" {
		home = t.TempDir()
	}
	if !isWritten(filepath.Join(home, databaseName)) {
		start := scaleStart
		if full { // as recent as a journal that is in use, so that retention leaves it alone
			start = time.Now().UnixMicro() - scaleSpan + rollup.HourUS
		}
		began := time.Now()
		writeScale(t, home, calls, start)
		t.Logf("%d calls written in %v", calls, time.Since(began).Round(time.Millisecond))
		began = time.Now()
		if _, err := IndexTexts(t.Context(), home); err != nil {
			t.Fatal(err)
		}
		t.Logf("their texts put into the index in %v", time.Since(began).Round(time.Millisecond))
	}
	return home, calls, full
}

const (
	scaleStart = int64(1_760_000_400_000_000)
	scaleSpan  = int64(30 * 24 * rollup.HourUS) // over which the calls are spread
	scaleTools = 12
)

// writeScale writes one session that has half of all calls, and thousands of
// others that come beside it, one after the other. Every message has a body,
// as it has for people who change no flag.
func writeScale(t testing.TB, home string, calls int, start int64) {
	j := openJournal(t, home, Options{Retention: Policy{MaxAge: -1, MaxBytes: -1}})
	step := scaleSpan / int64(calls)
	long := recordFrom(t, j, start)
	var short *recording
	perShort := max(10, calls/10_000)
	for i := range calls {
		now := start + int64(i)*step
		r := long
		if i%2 == 1 {
			if short == nil {
				short = recordFrom(t, j, now)
			}
			r = short
		}
		r.at = now
		scaleCall(r, i)
		if r == short && int(short.seq) > 2*perShort {
			short.end(0)
			short = nil
		}
	}
	long.end(0)
	if short != nil {
		short.end(0)
	}
	closeJournal(t, j)
}

func recordFrom(t testing.TB, j *Journal, at int64) *recording {
	r := &recording{t: t, ctx: t.Context(), journal: j, session: newSession(), at: at}
	r.append(&entry.Entry{Kind: entry.KindSession, Capture: "redacted"}, &entry.Detail{Label: fmt.Sprintf("server%d", at%5), Program: "shop", Transport: "stdio", Version: "test"})
	var offered []string
	for i := range scaleTools {
		offered = append(offered, fmt.Sprintf("tool_%d", i), fmt.Sprintf(`{"tool":%d,"version":%d}`, i, at/(7*24*rollup.HourUS)))
	}
	r.lists(offered...)
	return r
}

// scaleCall is call i: mostly well, sometimes failed or never answered, and
// now and then another method.
func scaleCall(r *recording, i int) {
	if i%20 == 0 {
		call := r.append(&entry.Entry{Kind: entry.KindRequest, From: "client", Bytes: 40, Wire: entry.Hash{1}}, &entry.Detail{ID: text("1"), Method: text("ping")})
		r.append(&entry.Entry{Kind: entry.KindResponse, From: "server", Bytes: 30, Wire: entry.Hash{2}, Call: call, Took: 90, Outcome: entry.OutcomeOK}, &entry.Detail{ID: text("1"), Method: text("ping")})
		return
	}
	spread := uint32(i) * 2_654_435_761 >> 8 // looks random, and is the same each time
	tool := fmt.Sprintf("tool_%d", spread%scaleTools)
	d := &entry.Detail{
		ID: text(strconv.Itoa(i)), Method: text("tools/call"), Tool: text(tool),
		Args: text(fmt.Sprintf(`{"order":"A-%d","customer":"cus_%d","note":"please look at it"}`, i, spread%50_000)),
	}
	if i%10 == 3 || i%10 == 6 {
		d.Destinations = &entry.Destinations{Hosts: []string{fmt.Sprintf("api%d.example.com", spread%40)}}
	}
	if i%50_000 == 3 {
		d.Destinations = &entry.Destinations{Emails: []string{"rare@example.org"}}
	}
	call := r.keep(&entry.Entry{Kind: entry.KindRequest, From: "client", Bytes: 150 + int64(spread%500), Wire: entry.Hash{1}}, d, scaleBody(tool, d.Args.Whole))
	if i%1_000 == 8 || i%5_000 == 7 {
		return
	}
	a := &entry.Detail{ID: d.ID, Method: d.Method, Tool: d.Tool}
	e := &entry.Entry{Kind: entry.KindResponse, From: "server", Bytes: 200 + int64(spread%90_000), Wire: entry.Hash{2}, Call: call, Took: int64(spread % 3_000_000), Outcome: entry.OutcomeOK}
	switch {
	case i%100 == 11 || i%100 == 54:
		e.Outcome, a.Error, a.ErrorText = entry.OutcomeError, text("-32602"), text("no such customer")
	case i%100 == 37 || i%100 == 72:
		e.Outcome, a.ErrorText = entry.OutcomeToolError, text(fmt.Sprintf("order A-%d was refunded before", i))
	default:
		a.Preview = text(`{"status":"done"}`)
	}
	r.keep(e, a, scaleBody(a.Error.String(), a.ErrorText.String()+a.Preview.String()))
}

// scaleBody is a small message, somewhat different each time.
func scaleBody(name, text string) *Body {
	return &Body{Bytes: fmt.Appendf(nil, `{"jsonrpc":"2.0","name":%q,"about":%q,"state":"%.40d"}`, name, text, len(text))}
}

func TestAnswersComeFastHoweverLongTheJournalIs(t *testing.T) {
	home, calls, full := scaleHome(t)
	r := openReader(t, home)
	ctx := testContext(t)
	runs, err := r.Runs(ctx, RunFilter{})
	if err != nil {
		t.Fatal(err)
	}
	long := runs[len(runs)-1].ID
	since := runs[len(runs)-1].Started + scaleSpan/4 + 1_234_567
	list := func(f CallFilter) func() (int, error) {
		return func() (int, error) {
			calls, err := r.Calls(ctx, f)
			return len(calls), err
		}
	}
	totals := func(session string, since int64) func() (int, error) {
		return func() (int, error) {
			t, err := r.Totals(ctx, session, since)
			return int(t.Calls), err
		}
	}
	stats := func(f StatsFilter) func() (int, error) {
		return func() (int, error) { stats, err := r.Stats(ctx, f); return len(stats), err }
	}
	failures := func(f StatsFilter) func() (int, error) {
		return func() (int, error) { failures, err := r.Failures(ctx, f); return len(failures), err }
	}
	destinations := func(f StatsFilter) func() (int, error) {
		return func() (int, error) { counts, err := r.Destinations(ctx, f); return len(counts), err }
	}
	tools := func(f ToolFilter) func() (int, error) {
		return func() (int, error) { tools, err := r.Tools(ctx, f); return len(tools), err }
	}
	search := func(f SearchFilter) func() (int, error) {
		return func() (int, error) {
			found, err := r.Search(ctx, f)
			if found.Unsearched > 0 {
				t.Errorf("%d entries were not looked at for %+v", found.Unsearched, f)
			}
			return len(found.Calls), err
		}
	}
	for _, question := range []struct {
		name string
		ask  func() (int, error)
		none bool // nothing is the right answer
	}{
		{"all sessions", func() (int, error) { runs, err := r.Runs(ctx, RunFilter{}); return len(runs), err }, false},
		{"a session by its prefix", func() (int, error) {
			runs, err := r.Runs(ctx, RunFilter{Prefix: long[:8]})
			return len(runs), err
		}, false},
		{"one call", func() (int, error) { records, err := r.Call(ctx, long, 2); return len(records), err }, false},
		{"totals of everything", totals("", 0), false},
		{"totals of the long session", totals(long, 0), false},
		{"totals since a time", totals("", since), false},
		{"totals of the long session since a time", totals(long, since), false},
		{"the newest tool call", list(CallFilter{ToolsOnly: true, Order: Newest, Limit: 1}), false},
		{"the 20 newest calls", list(CallFilter{Order: Newest, Limit: 20}), false},
		{"the 20 oldest calls", list(CallFilter{Limit: 20}), false},
		{"the 20 oldest calls since a time", list(CallFilter{Since: since, Limit: 20}), false},
		{"the 20 newest of the long session since a time", list(CallFilter{Session: long, Since: since, Order: Newest, Limit: 20}), false},
		{"1,000 calls", list(CallFilter{Order: Newest, Limit: 1_000}), false},
		{"20 failed calls", list(CallFilter{Failed: true, ToolsOnly: true, Order: Newest, Limit: 20}), false},
		{"20 failed calls of the long session", list(CallFilter{Session: long, Failed: true, ToolsOnly: true, Order: Newest, Limit: 20}), false},
		{"20 failed calls since a time", list(CallFilter{Since: since, Failed: true, Order: Newest, Limit: 20}), false},
		{"calls of the long session without an answer", list(CallFilter{Session: long, Unanswered: true, ToolsOnly: true, Order: Newest, Limit: 100}), false},
		{"the 5 biggest", list(CallFilter{ToolsOnly: true, Order: Biggest, Limit: 5}), false},
		{"the 5 biggest of the long session", list(CallFilter{Session: long, ToolsOnly: true, Order: Biggest, Limit: 5}), false},
		{"the 10 slowest of the long session", list(CallFilter{Session: long, ToolsOnly: true, Order: Slowest, Limit: 10}), false},
		{"the 5 slowest successful since a time", list(CallFilter{Since: since, Succeeded: true, Order: Slowest, Limit: 5}), false},
		{"figures of every tool", stats(StatsFilter{}), false},
		{"figures of every tool since a time", stats(StatsFilter{Since: since}), false},
		{"figures of every method of the long session", stats(StatsFilter{Session: long, AllMethods: true}), false},
		{"what everything cost", func() (int, error) {
			cost, err := r.Cost(ctx, StatsFilter{})
			return int(cost.Calls), err
		}, false},
		{"what it cost since a time", func() (int, error) {
			cost, err := r.Cost(ctx, StatsFilter{Since: since})
			return int(cost.Calls), err
		}, false},
		{"what failed, in groups", failures(StatsFilter{}), false},
		{"what failed in the long session", failures(StatsFilter{Session: long}), false},
		{"where data went", destinations(StatsFilter{}), false},
		{"where data went in the long session since a time", destinations(StatsFilter{Session: long, Since: since}), false},
		{"every tool that was offered", tools(ToolFilter{}), false},
		{"every tool that was offered since a time", tools(ToolFilter{Since: since}), false},
		{"a rare word", search(SearchFilter{Text: "A-1007"}), false},
		{"a common word", search(SearchFilter{Text: "please"}), false},
		{"two common words of what failed", search(SearchFilter{Text: "refunded before", Failed: true}), false},
		{"a common word with a rare host", search(SearchFilter{Text: "please", Host: "example.org"}), false},
		{"no word", search(SearchFilter{Text: "nowhere"}), true},
		{"a common host", search(SearchFilter{Host: "example.com"}), false},
		{"a host in the long session since a time", search(SearchFilter{Host: "api7.example.com", Session: long, Since: since}), true},
		{"a rare mail address", search(SearchFilter{Host: "rare@example.org"}), false},
		{"a tool", search(SearchFilter{Tool: "tool_7", Limit: 100}), false},
		{"a tool that failed in the long session", search(SearchFilter{Tool: "tool_7", Session: long, Failed: true}), false},
	} {
		began, used := time.Now(), processorTime()
		n, err := question.ask()
		took, used := time.Since(began), processorTime()-used
		if err != nil {
			t.Fatalf("%s: %v", question.name, err)
		}
		if n == 0 && !question.none {
			t.Errorf("%s: nothing was found", question.name)
		}
		t.Logf("%8.1f ms, %8.1f ms of processor  %s: %d", float64(took.Microseconds())/1_000, float64(used.Microseconds())/1_000, question.name, n)
		if full && min(took, used) > 300*time.Millisecond {
			t.Errorf("%s took %v with %d calls", question.name, took.Round(time.Millisecond), calls)
		}
	}
}
