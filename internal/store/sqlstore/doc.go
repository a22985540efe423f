// Package sqlstore is the store of both databases: one set of statements, and one
// way of turning rows into what the domain knows.
//
// It knows no database: [Driver] and [Session] are the seam, which
// internal/store/sqlite and internal/store/postgres implement. It decides nothing
// about actions and facts; internal/docket and the services do.
//
// Every statement is a value made by [tenant] or [directory] (statement.go) and
// can be checked as a whole: a tenant's statement is constrained by its workspace
// in every table (check.go), which the unit binds as $1 and no caller can.
//
// # Life of a statement
//
// The unit of a declared refund asks for the facts with its key. It puts keys into
// a [query] of the statement ask_facts_by_ref; [unit.ask] sends what was queued to
// be written before, then all queries, in one round trip, and each row goes to the
// query's function. On PostgreSQL all keys go as one list; on SQLite, where a round
// trip is a function call, the statement runs for each key. What the unit then
// queues ([unit.queue], [unit.queueRows]) is sent with the commit.
//
// # Adding statements and tables
//
//   - A table is a CREATE TABLE in a new file of internal/store/migration/sql (the
//     macros are explained there) and a line in tables.go, which says what the
//     server may do with it. Columns are {text}, BIGINT, BOOLEAN and {bytes}, never
//     NULL: what is absent is empty, 0 or false. workspace_id comes first, in the
//     table, in every key and in every INSERT.
//   - A statement is a package variable: tenant("name", `…`) with $1 as the
//     workspace and the caller's values from $2 on, or directory("name", `…`) with
//     the caller's values from $1 on. Macros: see [statement]. A statement whose
//     unique key is a name that another has is made with .taken(), and the unit
//     fails with store.ErrTaken; any other unique key makes the unit run again.
//   - Reads: u.ask(&query{statement: s, args: …, row: func(r Row) error { … }}), as
//     many queries in one call as the answer needs. Columns are read from left to
//     right: r.Text(), r.Int(), r.Bool(), r.Bytes().
//   - Writes: u.queue(s, values…), or u.queueRows(s, row…) for a statement with
//     {rows}. They are seen by the unit's next ask.
//   - Directory: catalogue.run(ctx, readOnly, func(u *unit) error) is a unit
//     without a workspace; it runs statements of the directory only.
//   - Lists: cursor.go makes and reads cursors.
package sqlstore
