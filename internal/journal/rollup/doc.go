// Package rollup adds up calls: by session, side, method, tool and hour, so
// that a question about a million calls reads some thousand sums.
//
// A [Rollup] is the same in whatever order calls are added to it, so that it
// can be made by a recorder as calls come, and again by a verifier from the
// entries alone. It remembers no call but by its number, and nothing of what
// was said. It knows no database: a [Tally] asks two functions for what it was
// told of before, and says what is to be written.
//
// # Life of a call
//
// A client asks a tool at ten past nine. The recorder's [Tally] is told of the
// entry's columns: the request is counted in the roll-up of its session and
// hour, and in the one of [EverySession], and is open. A second later the
// answer comes: the tally finds the open call, adds the bytes to the
// [Histogram] of sizes, the microseconds to that of times, and puts the call
// into the [Ranking] of the slowest if it is among the first few. Both roll-ups
// have changed, and are written with the entries. Another recorder that answers
// later for a call which it never saw has its tally look the call up.
package rollup
