package journal

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// shadow is what a journal should say, kept in the plainest way.
type shadow struct {
	calls    []shadowCall // in the order of the log
	sessions []*shadowSession
}

type shadowSession struct {
	*recording
	label string
	ended bool
	open  []int // calls without an answer
	all   []int
}

type shadowCall struct {
	Call
}

// drawHistory records a random history over a few hours: answers that come
// late, twice, or never, of every outcome, with times or without.
func drawHistory(t *rapid.T, tb testing.TB, j *Journal) *shadow {
	s := &shadow{}
	now := scaleStart
	for range rapid.IntRange(1, 3).Draw(t, "sessions") {
		s.begin(tb, j, now)
	}
	for range rapid.IntRange(0, 60).Draw(t, "steps") {
		now += rapid.SampledFrom([]int64{0, 1, 900, 1_000_000, 700_000_000, rollup.HourUS}).Draw(t, "later")
		session := rapid.SampledFrom(s.sessions).Draw(t, "session")
		if session.ended {
			continue
		}
		session.at = now
		switch rapid.SampledFrom([]string{"ask", "ask", "ask", "answer", "answer", "answer again", "noise", "gap", "sync", "end"}).Draw(t, "step") {
		case "ask":
			s.ask(t, session)
		case "answer":
			if len(session.open) > 0 {
				at := rapid.IntRange(0, len(session.open)-1).Draw(t, "which")
				call := session.open[at]
				session.open = slices.Delete(session.open, at, at+1)
				s.answer(t, session, call, true)
			}
		case "answer again":
			if len(session.all) > 0 {
				call := rapid.SampledFrom(session.all).Draw(t, "which")
				s.answer(t, session, call, !s.calls[call].Answered)
				session.open = slices.DeleteFunc(session.open, func(one int) bool { return one == call })
			}
		case "noise":
			session.append(&entry.Entry{Kind: entry.KindNoise, From: "server", Bytes: 12}, nil)
		case "gap":
			session.append(&entry.Entry{Kind: entry.KindGap, From: "server", Bytes: 5, Messages: 1, Reason: "observer_behind"}, nil)
		case "sync": // so that a group ends here
			if err := j.Sync(session.ctx); err != nil {
				tb.Fatal(err)
			}
		case "end":
			if rapid.Bool().Draw(t, "really") {
				session.end(int64(len(session.open)))
				session.ended = true
			}
		}
	}
	return s
}

func (s *shadow) begin(tb testing.TB, j *Journal, at int64) {
	r := &recording{t: tb, ctx: tb.Context(), journal: j, session: newSession(), at: at}
	label := fmt.Sprintf("server%d", len(s.sessions)%2)
	r.append(&entry.Entry{Kind: entry.KindSession, Capture: "shape"}, &entry.Detail{Label: label, Transport: "stdio"})
	s.sessions = append(s.sessions, &shadowSession{recording: r, label: label})
}

func (s *shadow) ask(t *rapid.T, session *shadowSession) {
	from := rapid.SampledFrom([]string{"client", "client", "client", "server"}).Draw(t, "from")
	method := rapid.SampledFrom([]string{"tools/call", "tools/call", "tools/call", "ping", "resources/read"}).Draw(t, "method")
	call := Call{Session: session.session, Label: session.label, From: from, At: session.at, Method: method, Took: -1, Sent: rapid.Int64Range(0, 3_000).Draw(t, "sent")}
	d := &entry.Detail{ID: text("1"), Method: text(method)}
	if method == "tools/call" {
		call.Tool = rapid.SampledFrom([]string{"search", "refund", ""}).Draw(t, "tool")
		d.Tool = text(call.Tool)
	}
	call.Seq = session.append(&entry.Entry{Kind: entry.KindRequest, From: from, Bytes: call.Sent, Wire: entry.Hash{1}}, d)
	session.open, session.all = append(session.open, len(s.calls)), append(session.all, len(s.calls))
	s.calls = append(s.calls, shadowCall{Call: call})
}

func (s *shadow) answer(t *rapid.T, session *shadowSession, at int, first bool) {
	call := &s.calls[at]
	bytes := rapid.Int64Range(0, 1<<20).Draw(t, "bytes")
	took := rapid.SampledFrom([]int64{-1, 0, 90, 5_000, 5_001, 40_000_000}).Draw(t, "took")
	outcome := rapid.SampledFrom([]entry.Outcome{entry.OutcomeOK, entry.OutcomeOK, entry.OutcomeError, entry.OutcomeToolError, ""}).Draw(t, "outcome")
	d := &entry.Detail{ID: text("1"), Method: text(call.Method), Tool: text(call.Tool)}
	code := ""
	if outcome == entry.OutcomeError {
		code = rapid.SampledFrom([]string{"-32000", "-32602"}).Draw(t, "code")
		d.Error = text(code)
	}
	from := map[string]string{"client": "server", "server": "client"}[call.From]
	answerAt := session.at
	session.append(&entry.Entry{Kind: entry.KindResponse, From: from, Bytes: bytes, Wire: entry.Hash{2}, Call: call.Seq, Took: took, Outcome: outcome}, d)
	if first {
		call.Answered, call.AnswerAt, call.Took, call.Returned, call.Outcome, call.Error = true, answerAt, took, bytes, outcome, code
	}
}

// within are the calls of a session and since a time, tool calls only.
func (s *shadow) within(session string, since int64) []shadowCall {
	ended := make(map[string]bool)
	for _, one := range s.sessions {
		ended[one.session] = one.ended
	}
	var list []shadowCall
	for _, call := range s.calls {
		call.Ended = ended[call.Session]
		if (session == "" || call.Session == session) && call.At >= since {
			list = append(list, call)
		}
	}
	return list
}

func (c *shadowCall) isTool() bool { return c.From == "client" && c.Method == "tools/call" }
func (c *shadowCall) failed() bool {
	return c.Outcome == entry.OutcomeError || c.Outcome == entry.OutcomeToolError
}

func (s *shadow) list(f CallFilter) []Call {
	var list []Call
	for _, call := range s.within(f.Session, f.Since) {
		unsuccessful := f.Failed && (call.failed() || (!call.Answered && call.Ended)) || f.Unanswered && !call.Answered
		if (f.ToolsOnly && !call.isTool()) || (f.Succeeded && call.Outcome != entry.OutcomeOK) || ((f.Failed || f.Unanswered) && !unsuccessful) {
			continue
		}
		list = append(list, call.Call)
	}
	value := func(c Call) int64 {
		switch {
		case !c.Answered:
			return -1
		case f.Order == Biggest:
			return c.Returned
		}
		return c.Took
	}
	switch f.Order {
	case Newest:
		slices.Reverse(list)
	case Biggest, Slowest:
		slices.SortStableFunc(list, func(a, b Call) int { return cmp.Compare(value(b), value(a)) })
	}
	if f.Limit > 0 {
		list = list[:min(f.Limit, len(list))]
	}
	return list
}

func (s *shadow) totals(session string, since int64) Totals {
	var t Totals
	others := make(map[MethodCount]int64)
	for _, call := range s.within(session, since) {
		if !call.isTool() {
			others[MethodCount{From: call.From, Method: call.Method}]++
			continue
		}
		t.Calls++
		t.Returned += call.Returned
		t.Took += max(0, call.Took)
		switch {
		case call.failed():
			t.Failed++
		case !call.Answered && call.Ended:
			t.Unanswered++
		case !call.Answered:
			t.Open++
		}
	}
	for one, count := range others {
		one.Count = count
		t.Others = append(t.Others, one)
	}
	slices.SortFunc(t.Others, func(a, b MethodCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.From, b.From), strings.Compare(a.Method, b.Method))
	})
	return t
}

func (s *shadow) stats(f StatsFilter) map[string]ToolStats {
	stats, took := make(map[string]ToolStats), make(map[string][]int64)
	for _, call := range s.within(f.Session, f.Since) {
		if !call.isTool() {
			continue
		}
		one := stats[call.Tool]
		one.From, one.Method, one.Tool = "client", "tools/call", call.Tool
		one.Calls++
		one.Sent += call.Sent
		one.Returned += call.Returned
		switch {
		case call.failed():
			one.Failed++
		case !call.Answered && call.Ended:
			one.Unanswered++
		case !call.Answered:
			one.Open++
		case call.Outcome == entry.OutcomeOK && (call.Returned > one.Worst || one.WorstSession == ""):
			one.Worst, one.WorstSession, one.WorstSeq = call.Returned, call.Session, call.Seq
		}
		if call.Took >= 0 {
			took[call.Tool] = append(took[call.Tool], call.Took)
		}
		stats[call.Tool] = one
	}
	for tool, one := range stats {
		one.TookP50, one.TookP95 = nearestRank(took[tool], 0.5), nearestRank(took[tool], 0.95)
		stats[tool] = one
	}
	return stats
}

func (s *shadow) failures(f StatsFilter) []Failure {
	var list []Failure
	for _, call := range s.within(f.Session, f.Since) {
		if !call.isTool() || !call.failed() {
			continue
		}
		at := slices.IndexFunc(list, func(one Failure) bool {
			return one.Tool == call.Tool && one.Outcome == call.Outcome && one.Error == call.Error
		})
		if at < 0 {
			at = len(list)
			list = append(list, Failure{Method: call.Method, Tool: call.Tool, Outcome: call.Outcome, Error: call.Error})
		}
		list[at].Count++
		list[at].Last = call.Call
	}
	return list
}

func TestEveryAnswerIsWhatThePlainestCountGives(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		home := t.TempDir()
		j := openJournal(t, home, Options{})
		s := drawHistory(rt, t, j)
		closeJournal(t, j)
		r := openReader(t, home)
		ctx := testContext(t)
		session := ""
		if rapid.Bool().Draw(rt, "one session") {
			session = rapid.SampledFrom(s.sessions).Draw(rt, "session asked for").session
		}
		since := scaleStart + rapid.SampledFrom([]int64{-scaleStart, 0, 1, 1_800_000_000, rollup.HourUS, 3 * rollup.HourUS, 3*rollup.HourUS + 7, 100 * rollup.HourUS}).Draw(rt, "since")

		filter := CallFilter{
			Session: session, Since: since, ToolsOnly: rapid.Bool().Draw(rt, "tools only"), Failed: rapid.Bool().Draw(rt, "failed"),
			Unanswered: rapid.Bool().Draw(rt, "unanswered"), Succeeded: rapid.Bool().Draw(rt, "succeeded"),
			Order: rapid.SampledFrom([]Order{Oldest, Newest, Biggest, Slowest}).Draw(rt, "order"), Limit: rapid.SampledFrom([]int{0, 1, 3, 10, 12}).Draw(rt, "limit"),
		}
		calls, err := r.Calls(ctx, filter)
		if err != nil {
			rt.Fatal(err)
		}
		if diff := gocmp.Diff(append([]Call{}, s.list(filter)...), append([]Call{}, calls...)); diff != "" {
			rt.Fatalf("calls by %+v (-want +got):\n%s", filter, diff)
		}

		totals, err := r.Totals(ctx, session, since)
		if err != nil {
			rt.Fatal(err)
		}
		totals.Noise, totals.Gaps = 0, nil // counted elsewhere
		if diff := gocmp.Diff(s.totals(session, since), totals); diff != "" {
			rt.Fatalf("totals (-want +got):\n%s", diff)
		}

		checkStats(rt, r, s, StatsFilter{Session: session, Since: since})
		if report := verify(t, home, VerifyOptions{}); !report.Intact() {
			rt.Fatalf("findings: %+v", report.Findings)
		}
		r.Close()
	})
}

func checkStats(rt *rapid.T, r *Reader, s *shadow, filter StatsFilter) {
	ctx := rt.Context()
	stats, err := r.Stats(ctx, filter)
	if err != nil {
		rt.Fatal(err)
	}
	want := s.stats(filter)
	var cost Cost
	for _, one := range stats {
		exact := want[one.Tool]
		for _, took := range []struct{ got, want int64 }{{one.TookP50, exact.TookP50}, {one.TookP95, exact.TookP95}} {
			if !withinOnePercent(took.got, took.want) {
				rt.Fatalf("a percentile of %q is %d, exactly %d", one.Tool, took.got, took.want)
			}
		}
		one.TookP50, one.TookP95 = exact.TookP50, exact.TookP95
		if diff := gocmp.Diff(exact, one); diff != "" {
			rt.Fatalf("stats of %q (-want +got):\n%s", one.Tool, diff)
		}
	}
	if len(stats) != len(want) {
		rt.Fatalf("%d tools, want %d", len(stats), len(want))
	}
	for _, call := range s.within(filter.Session, filter.Since) {
		switch {
		case !call.isTool():
		case call.Outcome == entry.OutcomeOK:
			cost.Calls++
			cost.Returned += call.Returned
		case call.failed():
			cost.FailedCalls++
			cost.FailedReturned += call.Returned
		case call.Answered:
			cost.FailedReturned += call.Returned // an answer of no known outcome is no success
		}
	}
	got, err := r.Cost(ctx, filter)
	if err != nil {
		rt.Fatal(err)
	}
	var calls, returned int64
	for _, tool := range got.Tools {
		calls, returned = calls+tool.Calls, returned+tool.Returned
		if exact := want[tool.Tool]; tool.Worst != exact.Worst || tool.WorstSeq != exact.WorstSeq || tool.WorstSession != exact.WorstSession {
			rt.Fatalf("the worst call of %q is %+v, want %+v", tool.Tool, tool, exact)
		}
	}
	got.Tools = nil
	if got.Calls != calls || got.Returned != returned || !gocmp.Equal(cost, got) {
		rt.Fatalf("cost is %+v, and its tools add up to %d calls and %d bytes, want %+v", got, calls, returned, cost)
	}

	failures, err := r.Failures(ctx, filter)
	if err != nil {
		rt.Fatal(err)
	}
	order := func(a, b Failure) int {
		return cmp.Or(strings.Compare(a.Tool, b.Tool), strings.Compare(string(a.Outcome), string(b.Outcome)), strings.Compare(a.Error, b.Error))
	}
	if !slices.IsSortedFunc(failures, func(a, b Failure) int { return cmp.Compare(b.Count, a.Count) }) {
		rt.Fatalf("the most frequent failure is not the first: %+v", failures)
	}
	wanted := s.failures(filter)
	slices.SortFunc(failures, order)
	slices.SortFunc(wanted, order)
	if diff := gocmp.Diff(append([]Failure{}, wanted...), append([]Failure{}, failures...)); diff != "" {
		rt.Fatalf("failures (-want +got):\n%s", diff)
	}
}

// nearestRank is the value at a share of all, -1 of none.
func nearestRank(values []int64, share float64) int64 {
	if len(values) == 0 {
		return -1
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(math.Round(share*float64(len(sorted)-1)))]
}

func withinOnePercent(got, want int64) bool {
	return math.Abs(float64(got)-float64(want)) <= 0.01*math.Abs(float64(want))
}
