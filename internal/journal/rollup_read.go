package journal

import (
	"database/sql"
	"fmt"
)

// rollupFilter says which calls a question adds up, and what of them.
type rollupFilter struct {
	session   int64 // row of sessions, or everySession
	since     int64 // µs since 1970
	toolsOnly bool

	rankings, histograms bool // read these as well
	failures             bool // read these and nothing else
}

// where limits roll-ups to whole hours of the filter.
func (f *rollupFilter) where() (string, []any) {
	where, args := "session = ? AND hour >= ?", []any{f.session, (f.since + hourUS - 1) / hourUS}
	if f.toolsOnly {
		where += " AND side = 'client' AND method = 'tools/call'"
	}
	return where, args
}

// eachRollup yields roll-ups that together are exactly the calls of a filter:
// those of whole hours as they are stored, and that of the hour which the
// filter's time cuts from the entries. What is yielded is good until the next.
func (q *question) eachRollup(filter rollupFilter, yield func(*rollupKey, *rollup) error) error {
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
func (q *question) cutHour(filter rollupFilter) (map[rollupKey]*rollup, error) {
	if filter.since%hourUS == 0 {
		return nil, nil
	}
	hour := filter.since / hourUS
	var first, last sql.NullInt64
	err := q.tx.QueryRowContext(q.ctx, "SELECT min(first), max(last) FROM rollups INDEXED BY rollups_by_hour WHERE hour = ? AND session = ?", hour, filter.session).
		Scan(&first, &last)
	if err != nil || !first.Valid {
		return nil, err
	}
	where, args := "q.n BETWEEN ? AND ? AND q.at >= ? AND q.at < ?", []any{first.Int64, last.Int64, filter.since, (hour + 1) * hourUS}
	if filter.session != everySession {
		where += " AND q.session = ?"
		args = append(args, filter.session)
	}
	if filter.toolsOnly {
		where += " AND " + toolCall
	}
	return tallyCalls(q.ctx, q.tx, callRows+" NOT INDEXED"+answerJoin+" WHERE "+isCall+" AND "+where, args...)
}

func (q *question) storedRollups(filter rollupFilter, yield func(*rollupKey, *rollup) error) error {
	where, args := filter.where()
	// Blobs that nobody asked for stay where they are.
	extremes, sizes, times := "NULL", "NULL", "NULL"
	if filter.rankings {
		extremes = "extremes"
	}
	if filter.histograms {
		sizes, times = "sizes", "times"
	}
	rows, err := q.tx.QueryContext(q.ctx, fmt.Sprintf(`
		SELECT session, side, method, tool, hour, calls, sent, answered, ok, errors, tool_errors, returned, returned_ok,
			took, longest, first, last, %s, %s, %s FROM rollups INDEXED BY rollups_by_key WHERE %s`, extremes, sizes, times, where), args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	var key rollupKey
	var side, method, tool sql.RawBytes
	var stored rollupRow
	targets := append([]any{&key.session, &side, &method, &tool, &key.hour}, stored.targets()...)
	names := make(interned)
	for rows.Next() {
		if err := rows.Scan(targets...); err != nil {
			return err
		}
		key.side, key.method, key.tool = names.of(side), names.of(method), names.of(tool)
		stored.reset()
		if filter.rankings {
			if err := readRankings(stored.extremes, &stored.biggest, &stored.slowest, &stored.biggestBad, &stored.slowestBad); err != nil {
				return err
			}
		}
		if filter.histograms {
			if err := stored.readHistograms(); err != nil {
				return err
			}
		}
		if err := yield(&key, &stored.rollup); err != nil {
			return err
		}
	}
	return rows.Err()
}

// reset empties what reading adds to, and keeps its memory.
func (r *rollupRow) reset() {
	r.biggest, r.slowest, r.biggestBad, r.slowestBad = r.biggest[:0], r.slowest[:0], r.biggestBad[:0], r.slowestBad[:0]
	r.rollup.sizes, r.rollup.times = r.rollup.sizes[:0], r.rollup.times[:0]
}

func (r *rollupRow) readHistograms() error {
	err := eachBucket(r.sizes, func(index int, count int64) {
		r.rollup.sizes = append(r.rollup.sizes, bucket{index, count})
	})
	if err != nil {
		return err
	}
	return eachBucket(r.times, func(index int, count int64) {
		r.rollup.times = append(r.rollup.times, bucket{index, count})
	})
}

// storedFailures yields roll-ups that hold failures and nothing else.
func (q *question) storedFailures(filter rollupFilter, yield func(*rollupKey, *rollup) error) error {
	where, args := filter.where()
	rows, err := q.tx.QueryContext(q.ctx, "SELECT session, side, method, tool, hour, outcome, error, calls, last FROM failures WHERE "+where, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var key rollupKey
		var failure failureKey
		var count, last int64
		if err := rows.Scan(&key.session, &key.side, &key.method, &key.tool, &key.hour, &failure.outcome, &failure.code, &count, &last); err != nil {
			return err
		}
		var row rollup
		row.fail(failure, count, last)
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
