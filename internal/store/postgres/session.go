package postgres

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

// session is a transaction, which begins with what is sent first.
type session struct {
	conn    *pgxpool.Conn
	options sqlstore.SessionOptions
	growth  *growth
	turn    store.Turn // taken first; 0 for none
	written int        // rows
	begun   bool
	now     value.Instant
}

// The clock is read after the snapshot was taken: whatever the snapshot shows was
// committed, and so received, before.
const prologue = `SELECT set_config('deed.workspace', $1, true), (extract(epoch FROM clock_timestamp()) * 1000000)::bigint`

// rollbackWithin is how long a rollback may take before its connection is given up.
const rollbackWithin = 5 * time.Second

// Now implements [sqlstore.Session].
func (s *session) Now() value.Instant { return s.now }

// Turn implements [sqlstore.Session].
func (s *session) Turn(t store.Turn) { s.turn = t }

// Send implements [sqlstore.Session].
func (s *session) Send(ctx context.Context, calls []sqlstore.Call) error {
	return s.send(ctx, calls, false)
}

// Commit implements [sqlstore.Session].
func (s *session) Commit(ctx context.Context, calls []sqlstore.Call) error {
	if !s.begun && len(calls) == 0 {
		s.conn.Release() // nothing was read and nothing is written
		return nil
	}
	if err := s.send(ctx, calls, true); err != nil {
		s.Rollback()
		return err
	}
	s.conn.Release()
	s.growth.add(s.written)
	return nil
}

// Rollback implements [sqlstore.Session].
func (s *session) Rollback() {
	if status := s.conn.Conn().PgConn().TxStatus(); status != 'I' && !s.conn.Conn().IsClosed() {
		ctx, cancel := context.WithTimeout(context.Background(), rollbackWithin)
		defer cancel()
		_, _ = s.conn.Exec(ctx, "rollback") // the pool closes what is still in a transaction
	}
	s.conn.Release()
}

// begin is how the transaction begins.
func (s *session) begin() []sqlstore.Call {
	text := "BEGIN ISOLATION LEVEL REPEATABLE READ"
	if s.options.ReadOnly {
		text += " READ ONLY"
	}
	calls := []sqlstore.Call{{Name: "begin", SQL: text}}
	if s.turn != 0 {
		calls = append(calls, takeTurn(s.options.Workspace, s.turn))
	}
	if s.options.Overview {
		calls = append(calls, sqlstore.Call{Name: "overlook", SQL: "SET LOCAL ROLE " + overviewRole})
	}
	if s.options.Elevated {
		calls = append(calls, sqlstore.Call{Name: "rise", SQL: "SET LOCAL ROLE NONE"})
	}
	return append(calls, sqlstore.Call{
		Name: "enter", SQL: prologue, Args: []any{string(s.options.Workspace)},
		Row: func(r sqlstore.Row) error {
			r.Text()
			s.now = value.Instant(r.Int())
			return nil
		},
	})
}

// send runs everything in one round trip.
func (s *session) send(ctx context.Context, calls []sqlstore.Call, commit bool) error {
	all := calls
	if !s.begun {
		all = append(s.begin(), calls...)
		s.begun = true
	}
	if commit {
		all = append(all[:len(all):len(all)], sqlstore.Call{Name: "commit", SQL: "COMMIT"})
	}
	batch := &pgx.Batch{}
	for i := range all {
		c := &all[i]
		if len(c.Columns) > 0 && len(c.Rows) == 0 {
			return &sqlstore.CallError{Call: c.Name, Err: errors.New("it has no rows")}
		}
		if c.Row == nil {
			s.written += len(c.Rows)
		}
		batch.Queue(c.SQL, arguments(c)...)
	}
	results := s.conn.SendBatch(ctx, batch)
	for i := range all {
		if err := receive(results, &all[i]); err != nil {
			_ = results.Close() // it fails with the same error
			return &sqlstore.CallError{Call: all[i].Name, Err: s.kind(ctx, err, commit)}
		}
	}
	if err := results.Close(); err != nil {
		return &sqlstore.CallError{Call: "the end of what was sent", Err: s.kind(ctx, err, commit)}
	}
	return nil
}

// arguments are what a call sends: its values, and a list for each column of rows.
func arguments(c *sqlstore.Call) []any {
	args := make([]any, 0, len(c.Args)+len(c.Columns))
	for _, v := range c.Args {
		switch v := v.(type) {
		case string:
			args = append(args, escape(v))
		case []string:
			args = append(args, escapeAll(v))
		case []byte:
			args = append(args, present(v))
		default:
			args = append(args, v)
		}
	}
	for i, column := range c.Columns {
		args = append(args, list(c.Rows, i, column))
	}
	return args
}

// list is one column of rows.
func list(rows [][]any, i int, column sqlstore.Column) any {
	switch column {
	case sqlstore.Bigint:
		return columnOf(rows, i, func(v int64) int64 { return v })
	case sqlstore.Bool:
		return columnOf(rows, i, func(v bool) bool { return v })
	case sqlstore.Bytes:
		return columnOf(rows, i, present)
	}
	return columnOf(rows, i, escape)
}

// present is bytes that are there: nil would be NULL.
func present(b []byte) []byte {
	if b == nil {
		return []byte{}
	}
	return b
}

func columnOf[T any](rows [][]any, i int, as func(T) T) []T {
	values := make([]T, len(rows))
	for n, row := range rows {
		v, _ := row[i].(T)
		values[n] = as(v)
	}
	return values
}

// receive reads the result of one call.
func receive(results pgx.BatchResults, c *sqlstore.Call) error {
	if c.Row == nil {
		_, err := results.Exec()
		return err
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	defer rows.Close()
	r := row{fields: rows.FieldDescriptions()}
	for rows.Next() {
		r.values, r.next = rows.RawValues(), 0
		if err := errors.Join(c.Row(&r), r.err); err != nil {
			return &rowError{err}
		}
	}
	rows.Close()
	return rows.Err()
}

// rowError is an error of whoever reads rows, not of the database.
type rowError struct{ err error }

func (e *rowError) Error() string { return "read a row: " + e.err.Error() }
func (e *rowError) Unwrap() error { return e.err }

// kind says what kind of an error it is. A session that was lost before its commit
// was sent has changed nothing, so its unit can run again.
func (s *session) kind(ctx context.Context, err error, commit bool) error {
	if _, is := errors.AsType[*rowError](err); is {
		return err
	}
	lost := func() error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if commit {
			return &store.UnavailableError{Err: err}
		}
		return &sqlstore.ConflictError{Err: err}
	}
	failure, is := errors.AsType[*pgconn.PgError](err)
	if !is {
		if s.conn.Conn().IsClosed() || ctx.Err() != nil {
			return lost()
		}
		return err
	}
	switch failure.Code {
	case "40001", "40P01", "55P03": // serialization_failure, deadlock_detected, lock_not_available
		return &sqlstore.ConflictError{Err: err}
	case "23505": // unique_violation
		return &sqlstore.UniqueError{Err: err}
	case "57P01", "57P02", "57P03", "25P03": // a shutdown, a crash, a session that stood still
		return lost()
	case "57014": // query_canceled
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &store.UnavailableError{Err: err}
	}
	switch failure.Code[:2] {
	case "08", "53", "58", "XX": // connections, resources, the system, the server itself
		return &store.UnavailableError{Err: err}
	}
	return err
}
