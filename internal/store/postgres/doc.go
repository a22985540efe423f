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
// # Life of a conflict
//
// Two instances get the same declaration at the same time. Both find that the
// action is not known and add it; the second commit runs into the unique key of
// the action's id. The driver calls this a [sqlstore.UniqueError], the unit runs
// again on a new snapshot, and now finds the action. When the database restarts in
// between, units that had not yet sent their commit run again as well, and fail with
// [store.UnavailableError] as long as it does not answer.
package postgres
