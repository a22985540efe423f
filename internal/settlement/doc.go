// Package settlement makes the verdicts after the first: when evidence arrives, when
// a source is complete further than before, and when the time has come to settle.
//
// It takes wakes from [store.Queue] and does what they say. It holds no state that
// matters: whatever instance claims a wake does the same, and a unit that does not
// commit leaves its wakes there. It knows no SQL, no HTTP and no log; what goes wrong
// is told to a function.
//
// # Life of a wake
//
// A payment system's refund was ingested, and a wake with its identity came with it.
// [Evaluator.Run] hears that there is something to do in the workspace and claims
// up to 200 wakes in one unit. Three of them are about facts; the link rules of every
// version that expects such facts give the actions these may belong to. All actions
// that the unit is about are locked, their cases are built in a few rounds of
// questions, and each is evaluated. One verdict turns from waiting to seen and is kept
// in place of the one before; another action could claim the same refund, and gets a
// wake of its own. Three days later the wake that was left when the action was
// declared is due, every source is complete, and the verdict settles: it is kept for
// good with its case, and a leaf goes to the ledger. Nothing wakes the action any more
// but evidence that comes late, which may make a revision.
package settlement
