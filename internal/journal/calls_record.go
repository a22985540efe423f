package journal

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// Call returns every record that belongs to one request, in order. Any
// request of a call gives the whole of it.
func (r *Reader) Call(ctx context.Context, session string, seq int64) ([]Record, error) {
	records, err := ask(ctx, r, func(q *question) ([]Record, error) { return q.records(session, seq) })
	if err != nil {
		return nil, databaseError(r.folder, "read call", err)
	}
	if len(records) == 0 || records[0].Entry.Kind != entry.KindRequest {
		return nil, fmt.Errorf("call %d of session %s: %w", seq, session, ErrNotFound)
	}
	return records, nil
}

func (q *question) records(uid string, seq int64) ([]Record, error) {
	session, known, err := q.sessionRow(uid)
	if err != nil || !known {
		return nil, err
	}
	// A request that continues a call belongs to the first one.
	err = q.tx.QueryRowContext(q.ctx, "SELECT coalesce((SELECT call FROM entries WHERE session = ? AND seq = ? AND kind = 'request'), ?)",
		session, seq, seq).Scan(&seq)
	if err != nil {
		return nil, err
	}
	rows, err := q.tx.QueryContext(q.ctx, `
		SELECT e.n, e.leaf, d.data FROM (
			SELECT n FROM entries WHERE session = ?1 AND seq = ?2 AND kind = 'request'
			UNION ALL
			SELECT n FROM entries WHERE session = ?1 AND call = ?2
		) f JOIN entries e ON e.n = f.n LEFT JOIN details d ON d.n = e.n
		ORDER BY e.n`, session, seq)
	if err != nil {
		return nil, err
	}
	records, err := scanRecords(rows)
	if err != nil {
		return nil, err
	}
	return q.addLater(records)
}

func scanRecords(rows *sql.Rows) ([]Record, error) {
	defer rows.Close()
	var records []Record
	for rows.Next() {
		record, err := scanRecord(rows)
		if err != nil {
			return nil, err
		}
		records = append(records, record)
	}
	return records, rows.Err()
}

// addLater adds what became of intents after their session, or beside it.
func (q *question) addLater(records []Record) ([]Record, error) {
	open := make(map[int64]int64) // by place in the session
	for _, r := range records {
		switch {
		case r.Entry.Kind != entry.KindIntent:
		case r.Entry.Reason == entry.IntentDeclaring:
			open[r.Entry.Seq] = r.N
		case r.Entry.Reason == entry.IntentDeclared:
			delete(open, r.Entry.Intent)
		}
	}
	if len(open) == 0 {
		return records, nil
	}
	rows, err := q.tx.QueryContext(q.ctx, `
		SELECT e.n, e.leaf, d.data FROM entries e INDEXED BY intents LEFT JOIN details d ON d.n = e.n
		WHERE e.kind = 'intent' AND e.session = 0
			AND json_extract(CAST(e.leaf AS TEXT), '$.intent') IN (SELECT value FROM json_each(?)) ORDER BY e.n`,
		joinNumbers(slices.Collect(maps.Values(open))))
	if err != nil {
		return nil, err
	}
	later, err := scanRecords(rows)
	return append(records, later...), err
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
	l, err := entry.DecodeLeaf(record.Leaf)
	if err != nil {
		return Record{}, fmt.Errorf("entry %d: %w", record.N, err)
	}
	record.Entry = l.Entry
	if data == nil {
		record.Erased = l.Detail != entry.Hash{}
		return record, nil
	}
	if record.Detail, err = entry.OpenDetail(data); err != nil {
		return Record{}, fmt.Errorf("entry %d: %w", record.N, err)
	}
	return record, nil
}
