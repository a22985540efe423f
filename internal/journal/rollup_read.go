package journal

import (
	"database/sql"
	"fmt"

	"github.com/deed-dev/deed/internal/journal/rollup"
)

// rollupFilter says which calls a question adds up, and what of them.
type rollupFilter struct {
	session   int64 // row of sessions, or rollup.EverySession
	since     int64 // µs since 1970
	toolsOnly bool

	sums, times bool // what is yielded of roll-ups
	worst       bool // with the sums, the biggest answer without an error
	failures    bool // yield these and nothing else
}

// where limits roll-ups to whole hours of the filter.
func (f *rollupFilter) where() (string, []any) {
	where, args := "session = ? AND hour >= ?", []any{f.session, (f.since + rollup.HourUS - 1) / rollup.HourUS}
	if f.toolsOnly {
		where += " AND side = 'client' AND method = 'tools/call'"
	}
	return where, args
}

// eachRollup yields roll-ups that together are exactly the calls of a filter:
// from those of whole hours, as they are stored, whatever the filter asks for,
// and of the hour which the filter's time cuts everything, from the entries.
// One roll-up may come in parts, and parts do not say of which hour they are.
// What is yielded is good until the next.
func (q *question) eachRollup(filter rollupFilter, yield func(*rollup.Key, *rollup.Rollup) error) error {
	stored := q.storedRollups
	if filter.failures {
		stored = q.storedFailures
	}
	if err := stored(filter, yield); err != nil {
		return err
	}
	rollups, err := q.cutHour(filter)
	if err != nil {
		return err
	}
	for key, row := range rollups {
		if err := yield(&key, row); err != nil {
			return err
		}
	}
	return nil
}

// cutHour makes roll-ups, by session, of what lies behind the filter's time in
// the hour that it cuts. Where in the log that hour is, its roll-ups know.
func (q *question) cutHour(filter rollupFilter) (map[rollup.Key]*rollup.Rollup, error) {
	if filter.since%rollup.HourUS == 0 {
		return nil, nil
	}
	hour := filter.since / rollup.HourUS
	var first, last sql.NullInt64
	err := q.tx.QueryRowContext(q.ctx, "SELECT min(first), max(last) FROM rollups INDEXED BY rollups_by_hour WHERE hour = ? AND session = ?", hour, filter.session).
		Scan(&first, &last)
	if err != nil || !first.Valid {
		return nil, err
	}
	where, args := "q.n BETWEEN ? AND ? AND q.at >= ? AND q.at < ?", []any{first.Int64, last.Int64, filter.since, (hour + 1) * rollup.HourUS}
	if filter.session != rollup.EverySession {
		where += " AND q.session = ?"
		args = append(args, filter.session)
	}
	if filter.toolsOnly {
		where += " AND " + toolCall
	}
	return tallyCalls(q.ctx, q.tx, callRows+" NOT INDEXED"+answerJoin+" WHERE "+isCall+" AND "+where, args...)
}

func (q *question) storedRollups(filter rollupFilter, yield func(*rollup.Key, *rollup.Rollup) error) error {
	if filter.sums {
		if err := q.storedSums(filter, yield); err != nil {
			return err
		}
	}
	if filter.times {
		return q.storedTimes(filter, yield)
	}
	return nil
}

// sumsQuery has SQLite add up the hours of each tool: there may be thousands,
// and handing over a row takes ten times longer than adding it.
func sumsQuery(filter rollupFilter) (string, []any) {
	where, args := filter.where()
	worst := "-1"
	if filter.worst { // of equal ones the oldest, as everywhere
		worst = `coalesce((SELECT min(worst_call) FROM rollups INDEXED BY rollups_sums WHERE ` + where + `
			AND side = s.side AND method = s.method AND tool = s.tool AND worst = s.worst), -1)`
		args = append(args, args...)
	}
	return `
		SELECT s.*, ` + worst + ` FROM (
			SELECT side, method, tool, sum(calls), sum(sent), sum(answered), sum(ok), sum(errors), sum(tool_errors), sum(returned), sum(returned_ok),
				sum(took), max(longest), min(first), max(last), max(worst) AS worst
			FROM rollups INDEXED BY rollups_sums WHERE ` + where + ` GROUP BY side, method, tool) s`, args
}

func (q *question) storedSums(filter rollupFilter, yield func(*rollup.Key, *rollup.Rollup) error) error {
	query, args := sumsQuery(filter)
	rows, err := q.tx.QueryContext(q.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	key := rollup.Key{Session: filter.session}
	for rows.Next() {
		var r rollup.Rollup
		var biggest rollup.Ranked
		err := rows.Scan(&key.Side, &key.Method, &key.Tool, &r.Calls, &r.Sent, &r.Answered, &r.OK, &r.Errors, &r.ToolErrors, &r.Returned, &r.ReturnedOK,
			&r.Took, &r.Longest, &r.First, &r.Last, &biggest.Value, &biggest.N)
		if err != nil {
			return err
		}
		if biggest.N >= 0 {
			r.Biggest = rollup.Ranking{biggest}
		}
		if err := yield(&key, &r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// storedTimes yields roll-ups that hold times and nothing else.
func (q *question) storedTimes(filter rollupFilter, yield func(*rollup.Key, *rollup.Rollup) error) error {
	where, args := filter.where()
	rows, err := q.tx.QueryContext(q.ctx, "SELECT side, method, tool, times FROM rollups INDEXED BY rollups_by_key WHERE "+where, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	key := rollup.Key{Session: filter.session}
	var side, method, tool, timed sql.RawBytes
	var r rollup.Rollup
	names := make(interned)
	for rows.Next() {
		if err := rows.Scan(&side, &method, &tool, &timed); err != nil {
			return err
		}
		key.Side, key.Method, key.Tool = names.of(side), names.of(method), names.of(tool)
		r.Times = r.Times[:0]
		if err := rollup.EachBucket(timed, func(index int, count int64) { r.Times = append(r.Times, rollup.Bucket{Index: index, Count: count}) }); err != nil {
			return err
		}
		if err := yield(&key, &r); err != nil {
			return err
		}
	}
	return rows.Err()
}

// rankingsQuery finds the roll-ups that can have the biggest or slowest call.
func rankingsQuery(filter rollupFilter, order Order) (string, []any) {
	where, args := filter.where()
	by := "largest"
	if order == Slowest {
		by = "longest"
	}
	return fmt.Sprintf("SELECT rowid, %[1]s FROM rollups INDEXED BY rollups_sums WHERE %[2]s AND answered > 0 ORDER BY %[1]s DESC", by, where), args
}

// eachRanking yields roll-ups that hold rankings and nothing else, those of
// the highest values first, until enough says that a value and whatever is
// below it cannot add to a list. So a few of thousands are read.
func (q *question) eachRanking(filter rollupFilter, order Order, enough func(value int64) bool, yield func(*rollup.Rollup)) error {
	query, args := rankingsQuery(filter, order)
	rows, err := q.tx.QueryContext(q.ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var id, value int64
		if err := rows.Scan(&id, &value); err != nil {
			return err
		}
		if enough(value) {
			return nil
		}
		var extremes []byte
		if err := q.tx.QueryRowContext(q.ctx, "SELECT extremes FROM rollups WHERE rowid = ?", id).Scan(&extremes); err != nil {
			return err
		}
		var r rollup.Rollup
		if err := rollup.ReadRankings(extremes, &r.Biggest, &r.Slowest, &r.BiggestBad, &r.SlowestBad); err != nil {
			return err
		}
		yield(&r)
	}
	return rows.Err()
}

// storedFailures yields roll-ups that hold failures and nothing else.
func (q *question) storedFailures(filter rollupFilter, yield func(*rollup.Key, *rollup.Rollup) error) error {
	where, args := filter.where()
	rows, err := q.tx.QueryContext(q.ctx, "SELECT side, method, tool, outcome, error, sum(calls), max(last) FROM failures WHERE "+where+
		" GROUP BY side, method, tool, outcome, error", args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	key := rollup.Key{Session: filter.session}
	for rows.Next() {
		var failure rollup.FailureKey
		var count, last int64
		if err := rows.Scan(&key.Side, &key.Method, &key.Tool, &failure.Outcome, &failure.Code, &count, &last); err != nil {
			return err
		}
		var row rollup.Rollup
		row.Fail(failure, count, last)
		if err := yield(&key, &row); err != nil {
			return err
		}
	}
	return rows.Err()
}

// interned keeps one copy of each string.
type interned map[string]string

func (i interned) of(b []byte) string {
	if s, known := i[string(b)]; known {
		return s
	}
	s := string(b)
	i[s] = s
	return s
}
