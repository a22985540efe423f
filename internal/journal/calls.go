package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Calls lists requests with their first answer, in the order asked for.
func (r *Reader) Calls(ctx context.Context, filter CallFilter) ([]Call, error) {
	query, args := callQuery(filter)
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, databaseError(r.folder, "list calls", err)
	}
	defer rows.Close()
	var calls []Call
	for rows.Next() {
		call, err := scanCall(rows)
		if err != nil {
			return nil, databaseError(r.folder, "list calls", err)
		}
		calls = append(calls, call)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, databaseError(r.folder, "list calls", err)
	}
	return calls, r.addLabels(ctx, calls)
}

// addLabels asks once a session, when the calls are read: a join would read a
// label again for every call, and a question within a question could wait for
// ever for a free connection.
func (r *Reader) addLabels(ctx context.Context, calls []Call) error {
	labels := make(map[string]string)
	for i := range calls {
		label, known := labels[calls[i].Session]
		if !known {
			var err error
			if label, err = r.label(ctx, calls[i].Session); err != nil {
				return err
			}
			labels[calls[i].Session] = label
		}
		calls[i].Label = label
	}
	return nil
}

const (
	// answerJoin finds the first answer of request q, and whether its session
	// has ended.
	answerJoin = `
		LEFT JOIN entries a ON a.n = (SELECT min(n) FROM entries WHERE session = q.session AND call = q.seq AND kind = 'response')`
	sessionEnded = `EXISTS (SELECT 1 FROM entries WHERE kind = 'end' AND session = q.session)`
	toolCall     = `q.side = 'client' AND q.method = 'tools/call'`
)

func callQuery(filter CallFilter) (string, []any) {
	from := scope{filter.Session, filter.Since}.requests()
	where, args := from.where, from.args
	if filter.ToolsOnly {
		where += " AND " + toolCall
	}
	if filter.Failed {
		where += " AND (a.outcome IN ('error', 'tool_error') OR (a.n IS NULL AND " + sessionEnded + "))"
	}
	if filter.Succeeded {
		where += " AND a.outcome = 'ok'"
	}
	query := `
		SELECT s.uid, q.seq, q.side, q.at, q.method, q.tool, q.bytes, q.leaf,
			a.at, a.took, a.bytes, a.outcome, a.error, a.leaf, ` + sessionEnded + `
		FROM ` + from.table + ` CROSS JOIN sessions s ON s.id = q.session` + answerJoin + `
		WHERE ` + where
	switch filter.Order {
	case Newest:
		query += " ORDER BY " + from.order + " DESC"
	case Biggest:
		query += " ORDER BY a.bytes DESC, q.n"
	case Slowest:
		query += " ORDER BY a.took DESC, q.n"
	default:
		query += " ORDER BY " + from.order
	}
	if filter.Limit > 0 {
		query += " LIMIT ?"
		args = append(args, filter.Limit)
	}
	return query, args
}

func scanCall(rows *sql.Rows) (Call, error) {
	call := Call{Took: -1}
	var side, method, tool, outcome, failure sql.NullString
	var sent, answerAt, took, returned sql.NullInt64
	var question, answer []byte
	if err := rows.Scan(&call.Session, &call.Seq, &side, &call.At, &method, &tool, &sent, &question,
		&answerAt, &took, &returned, &outcome, &failure, &answer, &call.Ended); err != nil {
		return Call{}, err
	}
	call.From, call.Method, call.Tool, call.Sent = side.String, method.String, tool.String, sent.Int64
	asked, err := decodeLeaf(question)
	if err != nil {
		return Call{}, fmt.Errorf("request %d of session %s: %w", call.Seq, call.Session, err)
	}
	call.Flags = asked.Flags
	call.Erased = !method.Valid && asked.detail != Hash{}
	if answer == nil {
		return call, nil
	}
	answered, err := decodeLeaf(answer)
	if err != nil {
		return Call{}, fmt.Errorf("answer to request %d of session %s: %w", call.Seq, call.Session, err)
	}
	call.Answered, call.AnswerAt, call.Returned = true, answerAt.Int64, returned.Int64
	call.Outcome, call.Error = Outcome(outcome.String), failure.String
	if took.Valid {
		call.Took = took.Int64
	}
	call.Flags = mergeFlags(call.Flags, answered.Flags)
	return call, nil
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

// label returns the label of a session, empty where it was erased.
func (r *Reader) label(ctx context.Context, session string) (string, error) {
	var data []byte
	err := r.db.QueryRowContext(ctx, `SELECT d.data FROM entries b JOIN details d ON d.n = b.n
		WHERE b.session = (SELECT id FROM sessions WHERE uid = ?) AND b.seq = 0`, session).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	if err != nil {
		return "", databaseError(r.folder, "read session", err)
	}
	d, err := openDetail(data)
	if err != nil {
		return "", fmt.Errorf("session %s: %w", session, err)
	}
	return d.Label, nil
}

// Call returns every record that belongs to one request, in order.
func (r *Reader) Call(ctx context.Context, session string, seq int64) ([]Record, error) {
	rows, err := r.db.QueryContext(ctx, `
		SELECT e.n, e.leaf, d.data FROM entries e LEFT JOIN details d ON d.n = e.n
		WHERE e.session = (SELECT id FROM sessions WHERE uid = ?1)
			AND ((e.seq = ?2 AND e.kind = 'request') OR e.call = ?2)
		ORDER BY e.n`, session, seq)
	if err != nil {
		return nil, databaseError(r.folder, "read call", err)
	}
	defer rows.Close()
	var records []Record
	for rows.Next() {
		record, err := scanRecord(rows)
		if err != nil {
			return nil, databaseError(r.folder, "read call", err)
		}
		records = append(records, record)
	}
	if err := rows.Err(); err != nil {
		return nil, databaseError(r.folder, "read call", err)
	}
	if len(records) == 0 || records[0].Entry.Kind != KindRequest {
		return nil, fmt.Errorf("call %d of session %s: %w", seq, session, ErrNotFound)
	}
	return records, nil
}

// Records calls yield with every record of the log from position from on, in
// order, until yield returns an error, which it passes on.
func (r *Reader) Records(ctx context.Context, from int64, yield func(Record) error) error {
	rows, err := r.db.QueryContext(ctx, `
		SELECT e.n, e.leaf, d.data FROM entries e LEFT JOIN details d ON d.n = e.n
		WHERE e.n >= ? ORDER BY e.n`, from)
	if err != nil {
		return databaseError(r.folder, "read records", err)
	}
	defer rows.Close()
	for rows.Next() {
		record, err := scanRecord(rows)
		if err != nil {
			return databaseError(r.folder, "read records", err)
		}
		if err := yield(record); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return databaseError(r.folder, "read records", err)
	}
	return nil
}

func scanRecord(rows *sql.Rows) (Record, error) {
	var record Record
	var data []byte
	if err := rows.Scan(&record.N, &record.Leaf, &data); err != nil {
		return Record{}, err
	}
	l, err := decodeLeaf(record.Leaf)
	if err != nil {
		return Record{}, fmt.Errorf("entry %d: %w", record.N, err)
	}
	record.Entry = l.Entry
	if data == nil {
		record.Erased = l.detail != Hash{}
		return record, nil
	}
	if record.Detail, err = openDetail(data); err != nil {
		return Record{}, fmt.Errorf("entry %d: %w", record.N, err)
	}
	return record, nil
}
