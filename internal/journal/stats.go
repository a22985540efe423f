package journal

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// StatsFilter says which calls are added up. Zero fields narrow nothing. A call
// whose names were erased is no tool call any more.
type StatsFilter struct {
	Session    string // a whole id
	Since      int64  // µs since 1970
	AllMethods bool   // requests of every method and both sides, not only the client's tools/call
}

// ToolStats are the figures of one tool.
type ToolStats struct {
	From   string // "client", unless all methods were asked for
	Method string // "tools/call", unless all methods were asked for; then empty for calls that were erased
	Tool   string

	Calls      int64
	Failed     int64 // answered with an error or a tool error
	Unanswered int64 // never answered, in an ended session
	Open       int64 // not answered yet

	TookP50 int64 // µs, within 1 %; -1 where no time is known
	TookP95 int64 // µs, within 1 %; -1 where no time is known

	Returned int64 // wire bytes of all answers
	Sent     int64 // wire bytes of the requests

	Worst        int64  // wire bytes of the biggest answer without an error
	WorstSession string // where that is; empty where there is none
	WorstSeq     int64  // of its request
}

// ToolCost is what one tool returned to calls that succeeded.
type ToolCost struct {
	Tool         string
	Calls        int64
	Returned     int64  // wire bytes
	Worst        int64  // wire bytes of the biggest answer
	WorstSession string // where that is
	WorstSeq     int64  // of its request
}

// Cost is what tools returned.
type Cost struct {
	Tools          []ToolCost // what was returned most, first
	Calls          int64      // that succeeded
	Returned       int64      // wire bytes of their answers
	FailedCalls    int64
	FailedReturned int64 // wire bytes of their answers
}

// Failure is the failed calls of one tool that had one outcome and error code.
type Failure struct {
	Method  string
	Tool    string
	Outcome entry.Outcome // OutcomeError or OutcomeToolError
	Error   string        // the raw error code; empty for a tool error
	Count   int64
	Last    Call // the newest of them
}

// DestinationCount says how many calls named one destination.
type DestinationCount struct {
	Kind  string // "host", "email" or "ip"
	Name  string
	Calls int64
}

// Stats adds up each tool's calls, most returned first. Counts and sums are
// exact, whatever Since is; of percentiles, see [ToolStats].
func (r *Reader) Stats(ctx context.Context, filter StatsFilter) ([]ToolStats, error) {
	stats, err := ask(ctx, r, func(q *question) ([]ToolStats, error) { return q.stats(filter) })
	if err != nil {
		return nil, databaseError(r.folder, "add up tools", err)
	}
	return stats, nil
}

// Cost adds up what tools returned to calls that succeeded, and apart from
// that what failed calls returned. It is about tools/call alone.
func (r *Reader) Cost(ctx context.Context, filter StatsFilter) (Cost, error) {
	cost, err := ask(ctx, r, func(q *question) (Cost, error) { return q.cost(filter) })
	if err != nil {
		return Cost{}, databaseError(r.folder, "add up costs", err)
	}
	return cost, nil
}

// Failures groups failed calls by tool, outcome and error code, most frequent
// first. Calls that were never answered are not among them; ask Calls for
// those that are Unanswered.
func (r *Reader) Failures(ctx context.Context, filter StatsFilter) ([]Failure, error) {
	failures, err := ask(ctx, r, func(q *question) ([]Failure, error) { return q.failures(filter) })
	if err != nil {
		return nil, databaseError(r.folder, "group failures", err)
	}
	return failures, nil
}

// Destinations counts the calls that named each destination, most first.
func (r *Reader) Destinations(ctx context.Context, filter StatsFilter) ([]DestinationCount, error) {
	counts, err := ask(ctx, r, func(q *question) ([]DestinationCount, error) { return q.destinations(filter) })
	if err != nil {
		return nil, databaseError(r.folder, "count destinations", err)
	}
	return counts, nil
}

// toolKey is what calls are grouped by.
type toolKey struct{ side, method, tool string }

func toolOf(k *rollup.Key) toolKey { return toolKey{k.Side, k.Method, k.Tool} }

// toolSum is a roll-up of any length of time.
type toolSum struct {
	rollup.Rollup
	unanswered, open int64
}

// sums adds up roll-ups by tool.
func (q *question) sums(filter StatsFilter, parts rollupFilter) (map[toolKey]*toolSum, error) {
	session, known, err := q.sessionRow(filter.Session)
	if err != nil || !known {
		return nil, err
	}
	parts.session, parts.since, parts.toolsOnly = session, filter.Since, !filter.AllMethods
	sums := make(map[toolKey]*toolSum)
	of := func(key *rollup.Key) *toolSum {
		sum := sums[toolOf(key)]
		if sum == nil {
			sum = &toolSum{}
			sums[toolOf(key)] = sum
		}
		return sum
	}
	waiting := int64(0)
	err = q.eachRollup(parts, func(key *rollup.Key, r *rollup.Rollup) error {
		of(key).Merge(r)
		waiting += r.Calls - r.Answered
		return nil
	})
	if err != nil || waiting == 0 {
		return sums, err
	}
	return sums, q.eachUnanswered(session, filter.Since, func(call rollup.OpenCall, ended bool) {
		if !filter.AllMethods && !call.Key.IsTool() {
			return
		}
		if ended {
			of(&call.Key).unanswered++
		} else {
			of(&call.Key).open++
		}
	})
}

func (q *question) stats(filter StatsFilter) ([]ToolStats, error) {
	sums, err := q.sums(filter, rollupFilter{sums: true, worst: true, times: true})
	if err != nil {
		return nil, err
	}
	var list []ToolStats
	for key, sum := range sums {
		one := ToolStats{
			From: key.side, Method: key.method, Tool: key.tool,
			Calls: sum.Calls, Failed: sum.Errors + sum.ToolErrors, Unanswered: sum.unanswered, Open: sum.open,
			TookP50: sum.Times.Quantile(0.50), TookP95: sum.Times.Quantile(0.95),
			Returned: sum.Returned, Sent: sum.Sent,
		}
		if one.Worst, one.WorstSession, one.WorstSeq, err = q.worst(&sum.Rollup); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b ToolStats) int {
		return cmp.Or(cmp.Compare(b.Returned, a.Returned), cmp.Compare(b.Calls, a.Calls),
			strings.Compare(a.Tool, b.Tool), strings.Compare(a.Method, b.Method), strings.Compare(a.From, b.From))
	})
	return list, nil
}

// worst returns the biggest answer without an error, and its call.
func (q *question) worst(r *rollup.Rollup) (bytes int64, session string, seq int64, err error) {
	if len(r.Biggest) == 0 {
		return 0, "", 0, nil
	}
	err = q.tx.QueryRowContext(q.ctx, "SELECT s.uid, e.seq FROM entries e JOIN sessions s ON s.id = e.session WHERE e.n = ?", r.Biggest[0].N).
		Scan(&session, &seq)
	return r.Biggest[0].Value, session, seq, err
}

func (q *question) cost(filter StatsFilter) (Cost, error) {
	filter.AllMethods = false
	sums, err := q.sums(filter, rollupFilter{sums: true, worst: true})
	if err != nil {
		return Cost{}, err
	}
	var cost Cost
	for key, sum := range sums {
		cost.FailedCalls += sum.Errors + sum.ToolErrors
		cost.FailedReturned += sum.Returned - sum.ReturnedOK
		if sum.OK == 0 {
			continue
		}
		one := ToolCost{Tool: key.tool, Calls: sum.OK, Returned: sum.ReturnedOK}
		if one.Worst, one.WorstSession, one.WorstSeq, err = q.worst(&sum.Rollup); err != nil {
			return Cost{}, err
		}
		cost.Calls += one.Calls
		cost.Returned += one.Returned
		cost.Tools = append(cost.Tools, one)
	}
	slices.SortFunc(cost.Tools, func(a, b ToolCost) int {
		return cmp.Or(cmp.Compare(b.Returned, a.Returned), cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Tool, b.Tool))
	})
	return cost, nil
}

func (q *question) failures(filter StatsFilter) ([]Failure, error) {
	session, known, err := q.sessionRow(filter.Session)
	if err != nil || !known {
		return nil, err
	}
	type group struct {
		toolKey
		rollup.FailureKey
	}
	sums := make(map[group]rollup.FailureSum)
	err = q.eachRollup(rollupFilter{session: session, since: filter.Since, toolsOnly: !filter.AllMethods, failures: true},
		func(key *rollup.Key, r *rollup.Rollup) error {
			for failure, one := range r.Failures {
				sum := sums[group{toolOf(key), failure}]
				sum.Count += one.Count
				sum.Last = max(sum.Last, one.Last)
				sums[group{toolOf(key), failure}] = sum
			}
			return nil
		})
	if err != nil {
		return nil, err
	}
	groups := slices.SortedFunc(maps.Keys(sums), func(a, b group) int {
		return cmp.Or(cmp.Compare(sums[b].Count, sums[a].Count), cmp.Compare(sums[b].Last, sums[a].Last))
	})
	numbers := make([]int64, len(groups))
	for i, one := range groups {
		numbers[i] = sums[one].Last
	}
	calls, err := q.load(numbers)
	if err != nil {
		return nil, err
	}
	if len(calls) != len(groups) {
		return nil, rollup.ErrForm
	}
	list := make([]Failure, len(calls))
	for i, call := range calls {
		one := groups[i]
		list[i] = Failure{Method: one.method, Tool: one.tool, Outcome: one.Outcome, Error: one.Code, Count: sums[one].Count, Last: call}
	}
	return list, nil
}

func (q *question) destinations(filter StatsFilter) ([]DestinationCount, error) {
	session, known, err := q.sessionRow(filter.Session)
	if err != nil || !known {
		return nil, err
	}
	query, args := "SELECT place, count(*) FROM destinations INDEXED BY destinations_by_place WHERE at >= ? GROUP BY place", []any{filter.Since}
	if session != rollup.EverySession {
		query = "SELECT place, count(*) FROM destinations INDEXED BY destinations_by_session WHERE session = ? AND at >= ? GROUP BY place"
		args = []any{session, filter.Since}
	}
	rows, err := q.tx.QueryContext(q.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []DestinationCount
	for rows.Next() {
		var one DestinationCount
		var place string
		if err := rows.Scan(&place, &one.Calls); err != nil {
			return nil, err
		}
		one.Kind, one.Name = placeName(place)
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b DestinationCount) int {
		return cmp.Or(cmp.Compare(b.Calls, a.Calls), strings.Compare(a.Name, b.Name))
	})
	return list, rows.Err()
}
