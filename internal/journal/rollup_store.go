package journal

import (
	"context"
	"database/sql"
	"errors"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
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

func keyArgs(k *rollup.Key) []any { return []any{k.Session, k.Side, k.Method, k.Tool, k.Hour} }

// rollupValues are what the row of a roll-up holds, in the order of rollupColumns.
func rollupValues(r *rollup.Rollup) []any {
	worst, bad := r.Biggest.First(), r.BiggestBad.First()
	return []any{
		r.Calls, r.Sent, r.Answered, r.OK, r.Errors, r.ToolErrors, r.Returned, r.ReturnedOK, r.Took, r.Longest, r.First, r.Last,
		max(worst.Value, bad.Value), worst.Value, worst.N,
		rollup.AppendRankings([]byte{}, r.Biggest, r.Slowest, r.BiggestBad, r.SlowestBad), r.Sizes.Append([]byte{}), r.Times.Append([]byte{}),
	}
}

// rollupRow is where a stored roll-up is scanned to.
type rollupRow struct {
	rollup.Rollup
	largest, worst, worstCall int64 // which the rankings say as well
	extremes, sizes, times    sql.RawBytes
}

func (r *rollupRow) targets() []any {
	return []any{
		&r.Calls, &r.Sent, &r.Answered, &r.OK, &r.Errors, &r.ToolErrors, &r.Returned, &r.ReturnedOK, &r.Took, &r.Longest, &r.First, &r.Last,
		&r.largest, &r.worst, &r.worstCall, &r.extremes, &r.sizes, &r.times,
	}
}

// open makes the roll-up of what was scanned.
func (r *rollupRow) open() (*rollup.Rollup, error) {
	row := r.Rollup
	var err error
	if err = rollup.ReadRankings(r.extremes, &row.Biggest, &row.Slowest, &row.BiggestBad, &row.SlowestBad); err != nil {
		return nil, err
	}
	if row.Sizes, err = rollup.ReadHistogram(r.sizes); err != nil {
		return nil, err
	}
	if row.Times, err = rollup.ReadHistogram(r.times); err != nil {
		return nil, err
	}
	return &row, nil
}

// findRollup reads one roll-up. One that is not there is empty.
func findRollup(ctx context.Context, db database, key rollup.Key) (*rollup.Rollup, error) {
	rows, err := db.QueryContext(ctx, loadRollup, keyArgs(&key)...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	if !rows.Next() {
		return &rollup.Rollup{}, rows.Err()
	}
	var stored rollupRow
	if err := rows.Scan(stored.targets()...); err != nil {
		return nil, err
	}
	row, err := stored.open()
	if err != nil {
		return nil, err
	}
	if err := rows.Close(); err != nil || row.Errors+row.ToolErrors == 0 {
		return row, err
	}
	return row, findFailures(ctx, db, key, row)
}

func findFailures(ctx context.Context, db database, key rollup.Key, row *rollup.Rollup) error {
	rows, err := db.QueryContext(ctx, loadFailures, keyArgs(&key)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var failure rollup.FailureKey
		var count, last int64
		if err := rows.Scan(&failure.Outcome, &failure.Code, &count, &last); err != nil {
			return err
		}
		row.Fail(failure, count, last)
		row.Failures[failure].Saved = row.Failures[failure].FailureSum
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
func (s rollupSaver) save(ctx context.Context, key rollup.Key, r *rollup.Rollup) error {
	if _, err := s.rollup.ExecContext(ctx, append(keyArgs(&key), rollupValues(r)...)...); err != nil {
		return err
	}
	for failure, f := range r.Failures {
		if f.Saved == f.FailureSum {
			continue
		}
		if _, err := s.failure.ExecContext(ctx, append(keyArgs(&key), string(failure.Outcome), failure.Code, f.Count, f.Last)...); err != nil {
			return err
		}
		f.Saved = f.FailureSum
	}
	r.Changed = false
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
func tallyCalls(ctx context.Context, db database, query string, args ...any) (map[rollup.Key]*rollup.Rollup, error) {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	rollups := make(map[rollup.Key]*rollup.Rollup)
	for rows.Next() {
		var key rollup.Key
		var n, at int64
		var side, method, tool, outcome, code sql.NullString
		var sent, returned, took sql.NullInt64
		var answered bool
		if err := rows.Scan(&key.Session, &n, &at, &side, &method, &tool, &sent, &answered, &returned, &took, &outcome, &code); err != nil {
			return nil, err
		}
		key.Side, key.Method, key.Tool, key.Hour = side.String, method.String, tool.String, at/rollup.HourUS
		row := rollups[key]
		if row == nil {
			row = &rollup.Rollup{}
			rollups[key] = row
		}
		row.Ask(n, sent.Int64)
		if !answered {
			continue
		}
		a := rollup.Answer{Bytes: returned.Int64, Took: -1, Outcome: entry.Outcome(outcome.String), Code: code.String}
		if took.Valid {
			a.Took = took.Int64
		}
		row.Answer(n, a)
	}
	return rollups, rows.Err()
}

// findOpen looks a request up in the tables, and whether it has no answer.
func findOpen(ctx context.Context, db database, place rollup.Place) (rollup.OpenCall, bool, error) {
	var open rollup.OpenCall
	var at int64
	var side, method, tool sql.NullString
	err := db.QueryRowContext(ctx, `
		SELECT q.n, q.at, q.side, q.method, q.tool FROM entries q JOIN unanswered u ON u.n = q.n
		WHERE q.session = ? AND q.seq = ?`, place.Session, place.Seq).Scan(&open.N, &at, &side, &method, &tool)
	if errors.Is(err, sql.ErrNoRows) {
		return rollup.OpenCall{}, false, nil
	}
	if err != nil {
		return rollup.OpenCall{}, false, err
	}
	open.Key = rollup.Key{Session: place.Session, Side: side.String, Method: method.String, Tool: tool.String, Hour: at / rollup.HourUS}
	return open, true, nil
}
