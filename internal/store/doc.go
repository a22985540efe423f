// Package store is the seam between what the verifier does and where it is kept.
//
// It holds interfaces and the rows that go through them, and no SQL. Two stores
// implement it, internal/store/sqlite and internal/store/postgres, and
// internal/store/conformance is the suite that both pass. No domain code knows
// which one it runs on.
//
// Everything but the [Directory] happens in a unit of work in one workspace:
// [Store.Do] and [Store.View]. A unit cannot name another workspace, since no
// method takes one, so that a forgotten filter cannot be written.
//
// # Life of a unit
//
// An agent declares a refund. The service calls Do with the key's workspace; the
// unit asks whether the action is known and what bears on it ([Tx.Ask], a few
// round trips), evaluates, and says what to keep: the action, its declaration,
// its verdict, a wake at the time it settles, a leaf for the ledger. Nothing is
// sent before the function returns; then it goes to the database in one round
// trip with the commit. If another unit declared the same action meanwhile, the
// commit fails and the function runs again, and now finds that action.
package store
