// Package trail shows what is noted beside the work itself: who did what in a
// workspace, and how much of it there was.
//
// It only reads. What is written into the audit is the business of whoever does
// something, and how it is chained, of package ledger. It knows no SQL and no HTTP.
//
// # Life of an entry
//
// An owner makes a key, and the unit that keeps the key also keeps a row: at noon,
// ada@example.com, key.created, the key's prefix. A minute later the row is covered
// by a leaf of the ledger. An admin who wonders where the key came from asks for the
// audit ([Service.Audit]) and finds the row at its top. The key's own holder, who is
// no member, may not ask: addresses of members stand in it.
package trail
