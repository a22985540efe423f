package sqlstore

import (
	"context"
	"fmt"
	"reflect"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// unit is a unit of work: [store.Tx] over one session. What it writes is queued
// and sent with what it reads next, or with the commit.
type unit struct {
	store     *Store
	ctx       context.Context // of Do, whose function gets no other
	session   Session
	workspace access.WorkspaceID
	readOnly  bool

	turn   store.Turn
	begun  bool
	at     value.Instant
	queued []Call
	rows   map[*statement]int // where in queued the rows of a statement are
	failed error              // the first error of the session; nothing works after it
	late   late               // what is written once for a whole unit

	due     bool    // a wake that is due was added
	crowded []crowd // what is to be made smaller afterwards
}

// query is a question to the database.
type query struct {
	statement *statement
	args      []any             // without the workspace
	keys      [][]any           // of {keys}, without n; no keys, no question
	row       func(r Row) error // n is the last column only if the statement selects it
}

var _ store.Tx = (*unit)(nil)

// Workspace implements [store.Tx].
func (u *unit) Workspace() access.WorkspaceID { return u.workspace }

// Now implements [store.Tx]. Where the database's clock cannot be asked the unit
// has failed, and what it does with the time does not matter.
func (u *unit) Now() value.Instant {
	if !u.begun {
		_ = u.ask()
	}
	return u.at
}

// queue adds a write. Values are those of the statement's parameters from $2 on
// (from $1 in the directory).
func (u *unit) queue(s *statement, args ...any) {
	if call, ok := u.call(s, args); ok {
		u.queued = append(u.queued, call)
	}
}

// queueRows adds rows to one run of a statement with {rows} or {keys}, which is sent in the
// place of the first of them. So the order of rows of different statements is not
// kept; no statement of a unit may change what another one's rows add.
func (u *unit) queueRows(s *statement, rows ...[]any) {
	if len(rows) == 0 {
		return
	}
	i, there := u.rows[s]
	if !there {
		call, ok := u.call(s, nil)
		if !ok {
			return
		}
		i = len(u.queued)
		u.queued = append(u.queued, call)
		u.rows[s] = i
	}
	c := &u.queued[i]
	for _, row := range rows {
		values := u.plain(s, row)
		if len(values) < len(c.Columns) { // of {keys}
			values = append(values, int64(len(c.Rows)))
		}
		c.Rows = append(c.Rows, values)
	}
}

// ask sends what is queued and then the queries, in one round trip.
func (u *unit) ask(queries ...*query) error {
	if u.failed != nil {
		return u.failed
	}
	calls := u.flush()
	for _, q := range queries {
		call, ok := u.call(q.statement, q.args)
		if !ok {
			return u.failed
		}
		call.Row = q.row
		if len(call.Columns) > 0 {
			if len(q.keys) == 0 {
				continue
			}
			for n, key := range q.keys {
				call.Rows = append(call.Rows, append(u.plain(q.statement, key), int64(n)))
			}
		}
		calls = append(calls, call)
	}
	if u.failed != nil {
		return u.failed
	}
	if len(calls) == 0 && u.begun {
		return nil
	}
	if err := u.session.Send(u.ctx, calls); err != nil {
		u.fail(err)
		return u.failed
	}
	u.started()
	return nil
}

// started takes the time when the session has begun.
func (u *unit) started() {
	if !u.begun {
		u.begun, u.at = true, u.store.now(u.session.Now())
	}
}

// flush takes what is queued.
func (u *unit) flush() []Call {
	u.late.write(u)
	calls := u.queued
	u.queued, u.rows = nil, map[*statement]int{}
	return calls
}

// commit sends what is left and ends the session.
func (u *unit) commit() error {
	if u.failed != nil {
		u.session.Rollback()
		return u.failed
	}
	calls := u.flush()
	if u.failed != nil {
		u.session.Rollback()
		return u.failed
	}
	if err := u.session.Commit(u.ctx, calls); err != nil {
		u.fail(err)
	}
	return u.failed
}

// call puts the workspace before the values.
func (u *unit) call(s *statement, args []any) (Call, bool) {
	r := s.in(u.store.driver.Dialect())
	switch {
	case r.err != nil:
		u.fail(fmt.Errorf("write the statement %s: %w", s.name, r.err))
	case s.directory != (u.workspace == ""):
		u.fail(fmt.Errorf("the statement %s belongs to another kind of unit", s.name))
	case u.readOnly && r.writes:
		u.fail(fmt.Errorf("a view runs the statement %s, which writes", s.name))
	}
	if u.failed != nil {
		return Call{}, false
	}
	c := Call{Name: s.name, SQL: r.text, Columns: r.columns}
	if !s.directory {
		c.Args = append(c.Args, string(u.workspace))
	}
	c.Args = append(c.Args, u.plain(s, args)...)
	return c, u.failed == nil
}

// plain gives values the types of [Call].
func (u *unit) plain(s *statement, values []any) []any {
	plain := make([]any, len(values), len(values)+1)
	for i, v := range values {
		switch v := v.(type) {
		case string, int64, bool, []byte, []string, []int64:
			plain[i] = v
			continue
		case int:
			plain[i] = int64(v)
			continue
		case value.Instant:
			plain[i] = int64(v)
			continue
		}
		switch r := reflect.ValueOf(v); r.Kind() {
		case reflect.String:
			plain[i] = r.String()
		case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
			plain[i] = r.Int()
		case reflect.Uint8, reflect.Uint16, reflect.Uint32:
			plain[i] = int64(r.Uint())
		case reflect.Slice:
			if r.Type().Elem().Kind() != reflect.String {
				u.fail(fmt.Errorf("the statement %s gets a %T", s.name, v))
				continue
			}
			texts := make([]string, r.Len())
			for j := range texts {
				texts[j] = r.Index(j).String()
			}
			plain[i] = texts
		default:
			u.fail(fmt.Errorf("the statement %s gets a %T", s.name, v))
		}
	}
	return plain
}

// fail keeps the first error of the session.
func (u *unit) fail(err error) {
	if u.failed == nil {
		u.failed = err
	}
}
