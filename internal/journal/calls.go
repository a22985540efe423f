package journal

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

// Calls lists requests with their first answer, in the order asked for. The
// cost goes with the length of the list, not of the journal; only more than
// ten of the biggest or slowest need a look at every call.
func (r *Reader) Calls(ctx context.Context, filter CallFilter) ([]Call, error) {
	calls, err := ask(ctx, r, func(q *question) ([]Call, error) { return q.calls(filter) })
	if err != nil {
		return nil, databaseError(r.folder, "list calls", err)
	}
	return calls, nil
}

// question asks everything that belongs to one answer at one moment.
type question struct {
	ctx      context.Context
	tx       *sql.Tx
	sessions map[int64]*sessionFacts
}

// sessionFacts are what calls of a session share.
type sessionFacts struct {
	uid   string
	label string // empty where it was erased
	ended bool
}

func ask[T any](ctx context.Context, r *Reader, answer func(*question) (T, error)) (T, error) {
	var none T
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return none, err
	}
	defer tx.Rollback()
	return answer(&question{ctx: ctx, tx: tx, sessions: make(map[int64]*sessionFacts)})
}

const (
	// answerJoin finds the first answer of request q. Its inner question is
	// answered by the index entries_by_call alone.
	answerJoin = `
		LEFT JOIN entries a ON a.n = (SELECT min(n) FROM entries WHERE session = q.session AND call = q.seq AND kind = 'response')`
	toolCall = `q.side = 'client' AND q.method = 'tools/call'`

	// failedAnswers repeats what the index failed_answers is limited to.
	failedAnswers = `(a.outcome = 'error' OR a.outcome = 'tool_error')`
)

// callColumns are what calls are made of, of request q and its answer a.
const callColumns = `SELECT q.n, q.session, q.seq, q.side, q.at, q.method, q.tool, q.bytes, q.leaf,
	a.at, a.took, a.bytes, a.outcome, a.error, a.leaf,
	a.n IS NULL AND EXISTS (SELECT 1 FROM entries c WHERE c.session = q.session AND c.call = q.seq AND c.kind = 'notification'
		AND c.side = q.side AND c.method = 'notifications/cancelled') FROM `

func (q *question) calls(filter CallFilter) ([]Call, error) {
	session, known, err := q.sessionRow(filter.Session)
	if err != nil || !known {
		return nil, err
	}
	bySize := filter.Order == Biggest || filter.Order == Slowest
	switch {
	case filter.Failed || filter.Unanswered:
		found, err := q.unsuccessful(session, filter)
		if err != nil {
			return nil, err
		}
		return q.load(numbersOf(found))
	case bySize && filter.Limit > 0 && filter.Limit <= rollup.ExtremesKept:
		found, err := q.extremes(session, filter)
		if err != nil {
			return nil, err
		}
		if found != nil {
			return q.load(numbersOf(found))
		}
	}
	if bySize {
		found, err := q.everyCall(session, filter)
		if err != nil {
			return nil, err
		}
		return q.load(numbersOf(found))
	}
	return q.walk(session, filter)
}

// sessionRow returns the row of a session that is given by its id, and
// rollup.EverySession for none given. It says false when there is no such session, or
// none with calls.
func (q *question) sessionRow(uid string) (int64, bool, error) {
	if uid == "" {
		return rollup.EverySession, true, nil
	}
	var row int64
	err := q.tx.QueryRowContext(q.ctx, "SELECT id FROM sessions WHERE uid = ?", uid).Scan(&row)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, false, nil
	}
	return row, err == nil && row != rollup.EverySession, err
}

// conditions of requests q, beyond where they are looked for.
func (f *CallFilter) conditions() (string, []any) {
	where, args := "", []any{}
	if f.Since > 0 {
		where += " AND q.at >= ?"
		args = append(args, f.Since)
	}
	if f.ToolsOnly {
		where += " AND " + toolCall
	}
	return where, args
}

// walk goes along the log, or along one session, in order.
func (q *question) walk(session int64, filter CallFilter) ([]Call, error) {
	first, last, err := q.bounds(session, filter)
	if err != nil || last < 0 {
		return nil, err
	}
	query, args := walkQuery(session, filter, first, last)
	return q.scanCalls(query, args...)
}

// walkQuery asks for calls between two requests. The planner would take the
// index by time for nearly everything, and sort half a million rows to show
// twenty; so it is told how to go.
func walkQuery(session int64, filter CallFilter, first, last int64) (string, []any) {
	where, args := filter.conditions()
	if filter.Succeeded {
		where += " AND a.outcome = 'ok'"
	}
	query := callColumns + "entries q NOT INDEXED" + answerJoin + " WHERE q.n BETWEEN ? AND ?"
	bounds, order := []any{first, last}, "q.n"
	if session != rollup.EverySession {
		// By place: the entries of other sessions need not be looked at.
		query = callColumns + "entries q INDEXED BY entries_by_place" + answerJoin + ` WHERE q.session = ? AND q.seq BETWEEN
			(SELECT seq FROM entries WHERE n = ?) AND (SELECT seq FROM entries WHERE n = ?)`
		bounds, order = []any{session, first, last}, "q.seq"
	}
	query += " AND " + isCall + where + " ORDER BY " + order
	if filter.Order == Newest {
		query += " DESC"
	}
	args = append(bounds, args...)
	if filter.Limit > 0 {
		query += " LIMIT ?"
		args = append(args, filter.Limit)
	}
	return query, args
}

// bounds says between which requests lie all that a filter can find, by
// roll-ups; the last is -1 when there are none.
func (q *question) bounds(session int64, filter CallFilter) (first, last int64, err error) {
	where, args := "session = ? AND hour >= ?", []any{session, filter.Since / rollup.HourUS}
	if filter.ToolsOnly {
		where += " AND side = 'client' AND method = 'tools/call'"
	}
	err = q.tx.QueryRowContext(q.ctx, "SELECT coalesce(min(first), 0), coalesce(max(last), -1) FROM rollups INDEXED BY rollups_sums WHERE "+where, args...).Scan(&first, &last)
	return first, last, err
}

// picked is a request that a question is about, with what it is sorted by.
type picked struct {
	n           int64
	bytes, took int64 // of the first answer; -1 where there is none
}

func numbersOf(list []picked) []int64 {
	numbers := make([]int64, len(list))
	for i, one := range list {
		numbers[i] = one.n
	}
	return numbers
}

// sortPicked puts a list in the order of a filter and cuts it.
func sortPicked(list []picked, filter CallFilter) []picked {
	slices.SortFunc(list, func(a, b picked) int {
		switch filter.Order {
		case Newest:
			return cmp.Compare(b.n, a.n)
		case Biggest:
			return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.n, b.n))
		case Slowest:
			return cmp.Or(cmp.Compare(b.took, a.took), cmp.Compare(a.n, b.n))
		}
		return cmp.Compare(a.n, b.n)
	})
	if filter.Limit > 0 {
		list = list[:min(len(list), filter.Limit)]
	}
	return list
}

// pickedColumns are those of picked.
const pickedColumns = "SELECT q.n, coalesce(a.bytes, -1), coalesce(a.took, -1) FROM "

func (q *question) find(list []picked, query string, args ...any) ([]picked, error) {
	rows, err := q.tx.QueryContext(q.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one picked
		if err := rows.Scan(&one.n, &one.bytes, &one.took); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, rows.Err()
}

// load reads calls by the numbers of their requests, in that order.
func (q *question) load(numbers []int64) ([]Call, error) {
	calls := make([]Call, 0, len(numbers))
	for part := range slices.Chunk(numbers, 500) {
		list, err := json.Marshal(part)
		if err != nil {
			return nil, err
		}
		some, err := q.scanCalls(callColumns+"json_each(?) j CROSS JOIN entries q ON q.n = j.value"+answerJoin+" ORDER BY j.key", string(list))
		if err != nil {
			return nil, err
		}
		calls = append(calls, some...)
	}
	return calls, nil
}

// scanCalls reads what a query that begins with callColumns finds.
func (q *question) scanCalls(query string, args ...any) ([]Call, error) {
	rows, err := q.tx.QueryContext(q.ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var calls []Call
	for rows.Next() {
		call, session, err := scanCall(rows)
		if err != nil {
			return nil, err
		}
		facts, err := q.session(session)
		if err != nil {
			return nil, err
		}
		call.Session, call.Label, call.Ended = facts.uid, facts.label, facts.ended
		calls = append(calls, call)
	}
	return calls, rows.Err()
}

func scanCall(rows *sql.Rows) (Call, int64, error) {
	call := Call{Took: -1}
	var n, session int64
	var side, method, tool, outcome, failure sql.NullString
	var sent, answerAt, took, returned sql.NullInt64
	var question, answer sql.RawBytes
	if err := rows.Scan(&n, &session, &call.Seq, &side, &call.At, &method, &tool, &sent, &question,
		&answerAt, &took, &returned, &outcome, &failure, &answer, &call.Cancelled); err != nil {
		return Call{}, 0, err
	}
	call.From, call.Method, call.Tool, call.Sent = side.String, method.String, tool.String, sent.Int64
	asked, err := entry.DecodeLeaf(question)
	if err != nil {
		return Call{}, 0, fmt.Errorf("request %d: %w", n, err)
	}
	call.Flags = asked.Flags
	call.Erased = !method.Valid && asked.Detail != entry.Hash{}
	if answer == nil {
		return call, session, nil
	}
	answered, err := entry.DecodeLeaf(answer)
	if err != nil {
		return Call{}, 0, fmt.Errorf("answer to request %d: %w", n, err)
	}
	call.Answered, call.AnswerAt, call.Returned = true, answerAt.Int64, returned.Int64
	call.Outcome, call.Error = entry.Outcome(outcome.String), failure.String
	if took.Valid {
		call.Took = took.Int64
	}
	call.Flags = mergeFlags(call.Flags, answered.Flags)
	return call, session, nil
}

// mergeFlags joins two sorted lists of flags into one.
func mergeFlags(a, b []string) []string {
	if len(b) == 0 {
		return a
	}
	merged := make([]string, 0, len(a)+len(b))
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || (len(a) > 0 && a[0] < b[0]):
			merged, a = append(merged, a[0]), a[1:]
		case len(a) == 0 || b[0] < a[0]:
			merged, b = append(merged, b[0]), b[1:]
		default:
			merged, a, b = append(merged, a[0]), a[1:], b[1:]
		}
	}
	return merged
}

// session returns what is known of a row of sessions.
func (q *question) session(row int64) (*sessionFacts, error) {
	if facts := q.sessions[row]; facts != nil {
		return facts, nil
	}
	facts := &sessionFacts{}
	var data []byte
	err := q.tx.QueryRowContext(q.ctx, `
		SELECT s.uid, EXISTS (SELECT 1 FROM entries WHERE kind = 'end' AND session = s.id),
			(SELECT d.data FROM entries b JOIN details d ON d.n = b.n WHERE b.session = s.id AND b.seq = 0)
		FROM sessions s WHERE s.id = ?`, row).Scan(&facts.uid, &facts.ended, &data)
	if err != nil {
		return nil, err
	}
	if data != nil {
		d, err := entry.OpenDetail(data)
		if err != nil {
			return nil, fmt.Errorf("session %s: %w", facts.uid, err)
		}
		facts.label = d.Label
	}
	q.sessions[row] = facts
	return facts, nil
}
