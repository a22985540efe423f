// Package scenario reads situations from plain files, plays them through the
// docket and the engine, and holds what came out against what the file says
// must come out.
//
// A scenario is written by somebody who knows what is right and not how it is
// computed: declarations, facts, how complete the sources are at which time,
// and the verdict that the rules demand. The package draws no conclusion of its
// own about an action, reads no clock and opens no file but those it is pointed
// at. docs/scenarios.md has the format.
//
// # Life of a scenario
//
// 021-source-went-stale.yaml says that a refund was declared at noon, that the
// payment system was read up to 40 hours later and no further, and that after
// 84 hours the verdict must be UNKNOWN, because a source was not complete.
// [Read] makes times of "+40h" and an amount of "180.00 USD". [Scenario.Run]
// lets declarations and facts arrive in the order of their times, states the
// watermarks of each evaluation, builds and evaluates the case, and keeps the
// verdict, so that the next evaluation may revise it. [Differences] says where
// a verdict is not what was expected, and [Score] counts a PASS that should not
// be one apart from a FAIL that should not be one and from an UNKNOWN, so that
// nobody looks good by always saying the same.
package scenario
