package journal

import (
	"context"
	"database/sql"
	"errors"
)

// database is what the tables can be asked through: a connection or a
// transaction.
type database interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}

// rollupColumns are all columns of a roll-up behind its key.
const rollupColumns = `calls, sent, answered, ok, errors, tool_errors, returned, returned_ok, took, longest, first, last,
	largest, worst, worst_call, extremes, sizes, times`

const (
	saveRollup = `INSERT INTO rollups (session, side, method, tool, hour, ` + rollupColumns + `)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (session, side, method, tool, hour) DO UPDATE SET
			calls = excluded.calls, sent = excluded.sent, answered = excluded.answered, ok = excluded.ok,
			errors = excluded.errors, tool_errors = excluded.tool_errors, returned = excluded.returned,
			returned_ok = excluded.returned_ok, took = excluded.took, longest = excluded.longest,
			first = excluded.first, last = excluded.last,
			largest = excluded.largest, worst = excluded.worst, worst_call = excluded.worst_call,
			extremes = excluded.extremes, sizes = excluded.sizes, times = excluded.times`
	saveFailure = `INSERT INTO failures (session, side, method, tool, hour, outcome, error, calls, last)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT DO UPDATE SET calls = excluded.calls, last = excluded.last`
	loadRollup = `SELECT ` + rollupColumns + ` FROM rollups
		WHERE session = ? AND side = ? AND method = ? AND tool = ? AND hour = ?`
	loadFailures = `SELECT outcome, error, calls, last FROM failures
		WHERE session = ? AND side = ? AND method = ? AND tool = ? AND hour = ?`
)

func (k *rollupKey) args() []any { return []any{k.session, k.side, k.method, k.tool, k.hour} }

// values are what the row of a roll-up holds, in the order of rollupColumns.
func (r *rollup) values() []any {
	worst, bad := r.biggest.first(), r.biggestBad.first()
	return []any{
		r.calls, r.sent, r.answered, r.ok, r.errors, r.toolErrors, r.returned, r.returnedOK, r.took, r.longest, r.first, r.last,
		max(worst.value, bad.value), worst.value, worst.n,
		appendRankings([]byte{}, r.biggest, r.slowest, r.biggestBad, r.slowestBad), r.sizes.append([]byte{}), r.times.append([]byte{}),
	}
}

// rollupRow is where a stored roll-up is scanned to.
type rollupRow struct {
	rollup
	largest, worst, worstCall int64 // which the rankings say as well
	extremes, sizes, times    sql.RawBytes
}

func (r *rollupRow) targets() []any {
	return []any{
		&r.calls, &r.sent, &r.answered, &r.ok, &r.errors, &r.toolErrors, &r.returned, &r.returnedOK, &r.took, &r.longest, &r.first, &r.last,
		&r.largest, &r.worst, &r.worstCall, &r.extremes, &r.sizes, &r.times,
	}
}

// open makes the roll-up of what was scanned.
func (r *rollupRow) open() (*rollup, error) {
	row := r.rollup
	var err error
	if err = readRankings(r.extremes, &row.biggest, &row.slowest, &row.biggestBad, &row.slowestBad); err != nil {
		return nil, err
	}
	if row.sizes, err = readHistogram(r.sizes); err != nil {
		return nil, err
	}
	if row.times, err = readHistogram(r.times); err != nil {
		return nil, err
	}
	return &row, nil
}

// findRollup reads one roll-up. One that is not there is empty.
func findRollup(ctx context.Context, db database, key rollupKey) (*rollup, error) {
	rows, err := db.QueryContext(ctx, loadRollup, key.args()...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return &rollup{}, rows.Err()
	}
	var stored rollupRow
	if err := rows.Scan(stored.targets()...); err != nil {
		return nil, err
	}
	row, err := stored.open()
	if err != nil {
		return nil, err
	}
	if err := rows.Close(); err != nil || row.errors+row.toolErrors == 0 {
		return row, err
	}
	return row, findFailures(ctx, db, key, row)
}

func findFailures(ctx context.Context, db database, key rollupKey, row *rollup) error {
	rows, err := db.QueryContext(ctx, loadFailures, key.args()...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var failure failureKey
		var count, last int64
		if err := rows.Scan(&failure.outcome, &failure.code, &count, &last); err != nil {
			return err
		}
		row.fail(failure, count, last)
		row.failures[failure].saved = row.failures[failure].failureSum
	}
	return rows.Err()
}

// rollupSaver writes roll-ups.
type rollupSaver struct{ rollup, failure *sql.Stmt }

func newRollupSaver(ctx context.Context, db database) (rollupSaver, error) {
	rollup, err := db.PrepareContext(ctx, saveRollup)
	if err != nil {
		return rollupSaver{}, err
	}
	failure, err := db.PrepareContext(ctx, saveFailure)
	if err != nil {
		rollup.Close()
		return rollupSaver{}, err
	}
	return rollupSaver{rollup, failure}, nil
}

func (s rollupSaver) close() {
	s.rollup.Close()
	s.failure.Close()
}

// save writes a roll-up and those of its failures that changed.
func (s rollupSaver) save(ctx context.Context, key rollupKey, r *rollup) error {
	if _, err := s.rollup.ExecContext(ctx, append(key.args(), r.values()...)...); err != nil {
		return err
	}
	for failure, f := range r.failures {
		if f.saved == f.failureSum {
			continue
		}
		if _, err := s.failure.ExecContext(ctx, append(key.args(), string(failure.outcome), failure.code, f.count, f.last)...); err != nil {
			return err
		}
		f.saved = f.failureSum
	}
	r.changed = false
	return nil
}

// callRows are requests with their first answers, as tallyCalls reads them.
const callRows = `
	SELECT q.session, q.n, q.at, q.side, q.method, q.tool, q.bytes, a.n IS NOT NULL, a.bytes, a.took, a.outcome, a.error
	FROM entries q`

// isCall is true of requests q that are calls of their own: a request that
// names a call continues that one.
const isCall = `q.kind = 'request' AND q.call IS NULL`

// tallyCalls makes roll-ups straight from the entries, for the requests that
// a query beginning with callRows finds.
func tallyCalls(ctx context.Context, db database, query string, args ...any) (map[rollupKey]*rollup, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	rollups := make(map[rollupKey]*rollup)
	for rows.Next() {
		var key rollupKey
		var n, at int64
		var side, method, tool, outcome, code sql.NullString
		var sent, returned, took sql.NullInt64
		var answered bool
		if err := rows.Scan(&key.session, &n, &at, &side, &method, &tool, &sent, &answered, &returned, &took, &outcome, &code); err != nil {
			return nil, err
		}
		key.side, key.method, key.tool, key.hour = side.String, method.String, tool.String, at/hourUS
		row := rollups[key]
		if row == nil {
			row = &rollup{}
			rollups[key] = row
		}
		row.ask(n, sent.Int64)
		if !answered {
			continue
		}
		a := answer{bytes: returned.Int64, took: -1, outcome: Outcome(outcome.String), code: code.String}
		if took.Valid {
			a.took = took.Int64
		}
		row.answer(n, a)
	}
	return rollups, rows.Err()
}

// findOpen looks a request up in the tables, and whether it has no answer.
func findOpen(ctx context.Context, db database, place callKey) (openCall, bool, error) {
	var open openCall
	var at int64
	var side, method, tool sql.NullString
	err := db.QueryRowContext(ctx, `
		SELECT q.n, q.at, q.side, q.method, q.tool FROM entries q JOIN unanswered u ON u.n = q.n
		WHERE q.session = ? AND q.seq = ?`, place.session, place.seq).Scan(&open.n, &at, &side, &method, &tool)
	if errors.Is(err, sql.ErrNoRows) {
		return openCall{}, false, nil
	}
	if err != nil {
		return openCall{}, false, err
	}
	open.key = rollupKey{session: place.session, side: side.String, method: method.String, tool: tool.String, hour: at / hourUS}
	return open, true, nil
}
