// Package docket gathers what belongs to one action into a case: its
// declarations, its facts, the actions that could claim the same facts, what
// its rolling limits add up, and what undoes it.
//
// It decides nothing. A case holds everything that a verdict depends on, so
// that the verdict can be made, and made again, without asking anybody. Where
// things are kept is behind [Records]; [Memory] is the one for files and tests.
// The package has no clock, no HTTP and no SQL.
//
// # Life of a case
//
// Somebody asks about the action refund:o-1. [Build] reads its declarations;
// the first was received at noon, when version 3 of the contract was active, so
// that version governs. Its link rules say that a fact belongs to the action by
// the idempotency key or by the order, so the facts with that key and on that
// order are fetched, all revisions of them. One of them has no key, and another
// action on the same order could claim it as well: that one comes along as a
// rival, with its facts, and whoever could claim those. The contract limits an
// agent to 2000 USD a day, so what the agent's other declarations of the last
// day come to is asked for. Everything is put in one order, so that nothing in
// the case tells what arrived first. An hour later a refund of the same order
// turns up that nobody declared: no verdict has seen it as an action's, and
// [Orphans] lists it.
//
// Where the records are a database, [BuildAll] makes many cases at once: it builds
// with what it knows, collects what it had to ask on the way ([Inquiry]), has all of
// that answered in one go, and builds again, until nothing is left to ask. What is
// about to be kept is seen as if it were kept already ([Pending]). And since a
// database wakes actions when something new bears on them, [Claimants], [Rivals],
// [Undoing] and [Entry.Reaching] say which these are.
package docket
