// Package conformance is the suite that every store passes: what the comments of
// internal/store promise, as tests. It knows neither SQL nor which store it runs
// on, and it expects nothing that is not promised there.
//
// Each test works in workspaces of its own within one store, so that they run side
// by side as users do, and so that a store which lets one see another's things has
// many occasions to be caught at it.
//
// # Life of a law
//
// "Of a fact that many report at once one is told that it is new" stands in a
// table (evidence.go). [Run] makes a subtest of it, which makes a workspace, lets
// ten goroutines go at once, each reporting the same five facts in a unit of its
// own, and adds up what they were told: one each. On SQLite the units come one
// after the other and the sum is easy; on PostgreSQL they overlap, some run again,
// and the sum must not show it.
package conformance
