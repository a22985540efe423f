package journal

import (
	"context"
	"database/sql"
	"fmt"
)

// Totals adds up one session, or everything since a time.
func (r *Reader) Totals(ctx context.Context, session string, since int64) (Totals, error) {
	// All figures come from one moment, or open calls would not add up.
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Totals{}, databaseError(r.folder, "add up journal", err)
	}
	defer tx.Rollback()
	var t Totals
	for _, add := range []func(context.Context, *sql.Tx, scope, *Totals) error{addTools, addOthers, addRest, addGaps} {
		if err := add(ctx, tx, scope{session, since}, &t); err != nil {
			return Totals{}, databaseError(r.folder, "add up journal", err)
		}
	}
	return t, nil
}

// scope is what a question is about.
type scope struct {
	session string // all when empty
	since   int64
}

// requestRows says how the requests of a scope are found. The planner would
// take the index by time for nearly everything, and sort half a million rows
// to show twenty.
type requestRows struct {
	table string // entries as q, by the right index
	where string
	args  []any
	order string // what sorts them as the log does, without work
}

func (s scope) requests() requestRows {
	where, args := s.where("q")
	r := requestRows{where: "q.kind = 'request'" + where, args: args, order: "q.n"}
	switch {
	case s.session != "":
		r.table, r.order = "entries q INDEXED BY entries_by_place", "q.seq"
	case s.since > 0:
		r.table = "entries q INDEXED BY requests_by_time"
	default:
		r.table = "entries q NOT INDEXED"
	}
	return r
}

// where limits rows of the table called name to the scope. It continues a
// condition.
func (s scope) where(name string) (string, []any) {
	var condition string
	var args []any
	if s.session != "" {
		condition += fmt.Sprintf(" AND %s.session = (SELECT id FROM sessions WHERE uid = ?)", name)
		args = append(args, s.session)
	}
	if s.since > 0 {
		condition += fmt.Sprintf(" AND %s.at >= ?", name)
		args = append(args, s.since)
	}
	return condition, args
}

func addTools(ctx context.Context, tx *sql.Tx, s scope, t *Totals) error {
	from := s.requests()
	var unanswered, open, failed, returned, took sql.NullInt64
	err := tx.QueryRowContext(ctx, `
		SELECT count(*),
			sum(a.outcome IN ('error', 'tool_error')),
			sum(a.n IS NULL AND `+sessionEnded+`),
			sum(a.n IS NULL AND NOT `+sessionEnded+`),
			sum(a.bytes), sum(a.took)
		FROM `+from.table+answerJoin+`
		WHERE `+from.where+` AND `+toolCall, from.args...).
		Scan(&t.Calls, &failed, &unanswered, &open, &returned, &took)
	t.Failed, t.Unanswered, t.Open = failed.Int64, unanswered.Int64, open.Int64
	t.Returned, t.Took = returned.Int64, took.Int64
	return err
}

func addOthers(ctx context.Context, tx *sql.Tx, s scope, t *Totals) error {
	from := s.requests()
	rows, err := tx.QueryContext(ctx, `
		SELECT coalesce(q.side, ''), coalesce(q.method, ''), count(*) FROM `+from.table+`
		WHERE `+from.where+` AND NOT (`+toolCall+` AND q.method IS NOT NULL)
		GROUP BY 1, 2 ORDER BY 3 DESC, 1, 2`, from.args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var one MethodCount
		if err := rows.Scan(&one.From, &one.Method, &one.Count); err != nil {
			return err
		}
		t.Others = append(t.Others, one)
	}
	return rows.Err()
}

func addRest(ctx context.Context, tx *sql.Tx, s scope, t *Totals) error {
	where, args := s.where("e")
	if err := tx.QueryRowContext(ctx, "SELECT count(*) FROM entries e WHERE e.kind = 'noise'"+where, args...).Scan(&t.Noise); err != nil {
		return err
	}
	return tx.QueryRowContext(ctx, "SELECT coalesce(sum(e.bytes), 0) FROM entries e WHERE e.kind = 'stderr'"+where, args...).Scan(&t.Stderr)
}

func addGaps(ctx context.Context, tx *sql.Tx, s scope, t *Totals) error {
	where, args := s.where("e")
	rows, err := tx.QueryContext(ctx, `
		SELECT s.uid, e.leaf FROM entries e JOIN sessions s ON s.id = e.session
		WHERE e.kind = 'gap'`+where+` ORDER BY e.n`, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var gap Gap
		var leaf []byte
		if err := rows.Scan(&gap.Session, &leaf); err != nil {
			return err
		}
		l, err := decodeLeaf(leaf)
		if err != nil {
			return err
		}
		gap.At, gap.From, gap.Reason, gap.Bytes, gap.Messages = l.At, l.From, l.Reason, l.Bytes, l.Messages
		t.Gaps = append(t.Gaps, gap)
	}
	return rows.Err()
}
