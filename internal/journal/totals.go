package journal

import (
	"cmp"
	"context"
	"database/sql"
	"slices"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// Totals adds up one session, or everything since a time.
func (r *Reader) Totals(ctx context.Context, session string, since int64) (Totals, error) {
	// All figures come from one moment, or open calls would not add up.
	t, err := ask(ctx, r, func(q *question) (Totals, error) { return q.totals(session, since) })
	if err != nil {
		return Totals{}, databaseError(r.folder, "add up journal", err)
	}
	return t, nil
}

// Gaps lists what was not seen, of one session or of everything since a time,
// oldest first.
func (r *Reader) Gaps(ctx context.Context, session string, since int64) ([]Gap, error) {
	gaps, err := ask(ctx, r, func(q *question) ([]Gap, error) {
		row, known, err := q.sessionRow(session)
		if err != nil || !known {
			return nil, err
		}
		return q.gaps(row, since)
	})
	if err != nil {
		return nil, databaseError(r.folder, "list gaps", err)
	}
	return gaps, nil
}

func (q *question) totals(uid string, since int64) (Totals, error) {
	session, known, err := q.sessionRow(uid)
	if err != nil || !known {
		return Totals{}, err
	}
	var t Totals
	if err := q.addCalls(session, since, &t); err != nil {
		return Totals{}, err
	}
	if t.Noise, err = q.noiseLines(session, since); err != nil {
		return Totals{}, err
	}
	if t.Stderr, err = q.stderrBytes(session, since); err != nil {
		return Totals{}, err
	}
	if t.Intents, err = q.intents(session, since); err != nil {
		return Totals{}, err
	}
	t.Gaps, err = q.gaps(session, since)
	return t, err
}

func (q *question) addCalls(session, since int64, t *Totals) error {
	type method struct{ side, method string }
	others := make(map[method]int64)
	open := int64(0)
	err := q.eachRollup(rollupFilter{session: session, since: since, sums: true}, func(key *rollup.Key, r *rollup.Rollup) error {
		if !key.IsTool() {
			others[method{key.Side, key.Method}] += r.Calls
			return nil
		}
		t.Calls += r.Calls
		t.Failed += r.Errors + r.ToolErrors
		t.Returned += r.Returned
		t.Took += r.Took
		open += r.Calls - r.Answered
		return nil
	})
	if err != nil {
		return err
	}
	if open > 0 {
		err := q.eachUnanswered(session, since, func(call rollup.OpenCall, ended bool) {
			switch {
			case !call.Key.IsTool():
			case ended:
				t.Unanswered++
			default:
				t.Open++
			}
		})
		if err != nil {
			return err
		}
	}
	for one, count := range others {
		t.Others = append(t.Others, MethodCount{From: one.side, Method: one.method, Count: count})
	}
	slices.SortFunc(t.Others, func(a, b MethodCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.From, b.From), cmp.Compare(a.Method, b.Method))
	})
	return nil
}

// eachUnanswered yields requests without an answer, and whether their session
// has ended.
func (q *question) eachUnanswered(session, since int64, yield func(call rollup.OpenCall, ended bool)) error {
	where, args := "q.at >= ?", []any{since}
	if session != rollup.EverySession {
		where += " AND u.session = ?"
		args = append(args, session)
	}
	rows, err := q.tx.QueryContext(q.ctx, `
		SELECT q.n, q.session, q.at, coalesce(q.side, ''), coalesce(q.method, ''), coalesce(q.tool, ''),
			EXISTS (SELECT 1 FROM entries WHERE kind = 'end' AND session = q.session)
		FROM unanswered u CROSS JOIN entries q ON q.n = u.n WHERE `+where, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var call rollup.OpenCall
		var at int64
		var ended bool
		if err := rows.Scan(&call.N, &call.Key.Session, &at, &call.Key.Side, &call.Key.Method, &call.Key.Tool, &ended); err != nil {
			return err
		}
		call.Key.Hour = at / rollup.HourUS
		yield(call, ended)
	}
	return rows.Err()
}

// apartSince limits rows of entries_apart to a session and a time.
func apartSince(session, since int64) (string, []any) {
	where, args := "", []any{}
	if session != rollup.EverySession {
		where += " AND session = ?"
		args = append(args, session)
	}
	if since > 0 {
		where += " AND at >= ?"
		args = append(args, since)
	}
	return where, args
}

// stderrBytes adds up what servers wrote there, by index alone.
func (q *question) stderrBytes(session, since int64) (bytes int64, err error) {
	where, args := apartSince(session, since)
	err = q.tx.QueryRowContext(q.ctx, "SELECT coalesce(sum(bytes), 0) FROM entries INDEXED BY entries_apart WHERE kind = 'stderr'"+where, args...).Scan(&bytes)
	return bytes, err
}

// noiseLines counts the lines of noise: an entry may stand for a run of them.
func (q *question) noiseLines(session, since int64) (lines int64, err error) {
	where, args := apartSince(session, since)
	err = q.tx.QueryRowContext(q.ctx, `SELECT coalesce(sum(coalesce(CASE WHEN json_valid(CAST(leaf AS TEXT)) THEN json_extract(CAST(leaf AS TEXT), '$.messages') END, 1)), 0)
		FROM entries INDEXED BY entries_apart WHERE kind = 'noise'`+where, args...).Scan(&lines)
	return lines, err
}

func (q *question) gaps(session, since int64) ([]Gap, error) {
	where, args := apartSince(session, since)
	rows, err := q.tx.QueryContext(q.ctx, "SELECT leaf FROM entries INDEXED BY entries_apart WHERE kind = 'gap'"+where+" ORDER BY n", args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var gaps []Gap
	for rows.Next() {
		var leaf sql.RawBytes
		if err := rows.Scan(&leaf); err != nil {
			return nil, err
		}
		l, err := entry.DecodeLeaf(leaf)
		if err != nil {
			return nil, err
		}
		gaps = append(gaps, Gap{Session: l.Session, At: l.At, From: l.From, Reason: l.Reason, Bytes: l.Bytes, Messages: l.Messages})
	}
	return gaps, rows.Err()
}
