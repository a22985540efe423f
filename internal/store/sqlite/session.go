package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"

	"github.com/go-json-experiment/json"
)

// session is a transaction of one connection.
type session struct {
	connection *connection
	values     []any // of a row, used again
}

// Now implements [sqlstore.Session]: SQLite has no clock of its own.
func (s *session) Now() value.Instant { return 0 }

// Turn implements [sqlstore.Session]: sessions that write have one anyway.
func (s *session) Turn(store.Turn) {}

// Send implements [sqlstore.Session].
func (s *session) Send(ctx context.Context, calls []sqlstore.Call) error {
	for i := range calls {
		if err := s.call(ctx, &calls[i]); err != nil {
			return &sqlstore.CallError{Call: calls[i].Name, Err: kind(ctx, err)}
		}
	}
	return nil
}

// call runs a statement, for each row if it has rows.
func (s *session) call(ctx context.Context, c *sqlstore.Call) error {
	fixed, err := plain(c.Args)
	if err != nil {
		return err
	}
	if c.Rows == nil {
		return s.run(ctx, c.SQL, fixed, c.Row)
	}
	// Each of these is found by its key and short. A context that may end would cost
	// two goroutines for each, which is as much as the statement; it is asked between.
	short := context.WithoutCancel(ctx)
	for _, row := range c.Rows {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := s.run(short, c.SQL, append(fixed[:len(fixed):len(fixed)], row...), c.Row); err != nil {
			return err
		}
	}
	return nil
}

// plain writes lists as the JSON that json_each reads.
func plain(args []any) ([]any, error) {
	all := make([]any, len(args))
	for i, arg := range args {
		switch arg.(type) {
		case []string, []int64:
			text, err := json.Marshal(arg, json.FormatNilSliceAsNull(false))
			if err != nil {
				return nil, fmt.Errorf("write a list: %w", err)
			}
			all[i] = string(text)
		default:
			all[i] = arg
		}
	}
	return all, nil
}

// run runs a statement once.
func (s *session) run(ctx context.Context, text string, args []any, each func(sqlstore.Row) error) error {
	statement, err := s.prepare(ctx, text)
	if err != nil {
		return err
	}
	for i, arg := range args {
		if b, is := arg.([]byte); is && b == nil {
			args[i] = []byte{} // nil would be NULL
		}
	}
	if each == nil {
		_, err = statement.ExecContext(ctx, args...)
		return err
	}
	rows, err := statement.QueryContext(ctx, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		r, err := s.read(rows, len(columns))
		if err != nil {
			return err
		}
		if err := errors.Join(each(r), r.err); err != nil {
			return err
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

func (s *session) prepare(ctx context.Context, text string) (*sql.Stmt, error) {
	if known := s.connection.prepared[text]; known != nil {
		return known, nil
	}
	statement, err := s.connection.conn.PrepareContext(ctx, text)
	if err == nil {
		s.connection.prepared[text] = statement
	}
	return statement, err
}

// Commit implements [sqlstore.Session]. A commit that has begun is not broken off.
func (s *session) Commit(ctx context.Context, calls []sqlstore.Call) error {
	if err := s.Send(ctx, calls); err != nil {
		s.Rollback()
		return err
	}
	if err := s.run(context.WithoutCancel(ctx), "COMMIT", nil, nil); err != nil {
		s.Rollback()
		return &sqlstore.CallError{Call: "commit", Err: kind(ctx, err)}
	}
	s.connection.home <- s.connection
	return nil
}

// Rollback implements [sqlstore.Session]. Where SQLite has rolled back by itself,
// there is nothing left to do.
func (s *session) Rollback() {
	_ = s.run(context.Background(), "ROLLBACK", nil, nil)
	s.connection.home <- s.connection
}

// kind says what kind of an error it is.
func kind(ctx context.Context, err error) error {
	failure, is := errors.AsType[*sqlite.Error](err)
	if !is {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	switch failure.Code() {
	case lib.SQLITE_CONSTRAINT_UNIQUE, lib.SQLITE_CONSTRAINT_PRIMARYKEY, lib.SQLITE_CONSTRAINT_ROWID:
		return &sqlstore.UniqueError{Err: err}
	}
	switch failure.Code() & 0xff {
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return &sqlstore.ConflictError{Err: err}
	case lib.SQLITE_INTERRUPT:
		if ctx.Err() != nil {
			return ctx.Err()
		}
	case lib.SQLITE_IOERR, lib.SQLITE_FULL, lib.SQLITE_CANTOPEN, lib.SQLITE_READONLY, lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB, lib.SQLITE_NOMEM:
		return &store.UnavailableError{Err: err}
	}
	return err
}

// row is one row of a result.
type row struct {
	values []any
	next   int
	err    error
}

func (s *session) read(rows *sql.Rows, columns int) (*row, error) {
	r := &row{values: make([]any, columns)}
	if cap(s.values) < columns {
		s.values = make([]any, columns)
	}
	into := s.values[:columns]
	for i := range r.values {
		into[i] = &r.values[i]
	}
	return r, rows.Scan(into...)
}

func (r *row) take() any {
	if r.next >= len(r.values) {
		r.err = errors.Join(r.err, errors.New("a row has fewer columns than are read"))
		return nil
	}
	r.next++
	return r.values[r.next-1]
}

func (r *row) wrong(want string, v any) {
	r.err = errors.Join(r.err, fmt.Errorf("column %d is a %T, not %s", r.next, v, want))
}

// Text implements [sqlstore.Row].
func (r *row) Text() string {
	switch v := r.take().(type) {
	case string:
		return v
	case []byte:
		return string(v)
	default:
		r.wrong("a text", v)
		return ""
	}
}

// Int implements [sqlstore.Row].
func (r *row) Int() int64 {
	v := r.take()
	n, is := v.(int64)
	if !is {
		r.wrong("a number", v)
	}
	return n
}

// Bool implements [sqlstore.Row].
func (r *row) Bool() bool {
	switch v := r.take().(type) {
	case bool:
		return v
	case int64:
		return v != 0
	default:
		r.wrong("true or false", v)
		return false
	}
}

// Bytes implements [sqlstore.Row].
func (r *row) Bytes() []byte {
	switch v := r.take().(type) {
	case []byte:
		if len(v) == 0 {
			return nil
		}
		return v
	case string:
		return []byte(v)
	default:
		r.wrong("bytes", v)
		return nil
	}
}
