// Package postgres opens a store in a PostgreSQL database, which any number of
// processes may serve at the same time.
//
// It is a driver of internal/store/sqlstore. A unit is a transaction on one
// snapshot (REPEATABLE READ): its beginning goes with what it reads first, its end
// with what it writes last, so that a unit that reads once and then writes is two
// round trips.
//
// Beside the statements, which all name their workspace, the database keeps
// workspaces apart itself: each table of tenants has a policy of row-level
// security that also binds its owner, and units run in the role deed_runtime,
// which owns nothing and may not change what is kept for ever (guard.go).
//
// Units that must not overlap take turns (turn.go): they lock a table before their
// snapshot is taken, whatever process they belong to, and have it until they end.
//
// # Life of a conflict
//
// Two instances are told the same fact at the same time. Both find that it is not
// known and add it; the second one runs into the unique key of the fact's revision.
// The driver calls this a [sqlstore.UniqueError], the unit runs again on a new
// snapshot, and now finds the fact. When the database restarts in
// between, units that had not yet sent their commit run again as well, and fail with
// [store.UnavailableError] as long as it does not answer.
package postgres
