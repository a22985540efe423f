// Package weakening says what a new version of a contract lets through that the
// old one did not.
//
// [Compare] holds two compiled contracts against each other and names every
// difference with its direction. It calls a change stronger only where the rules
// of the engine leave no doubt: no action that was FAIL or UNKNOWN can be PASS by
// it. Where the structure of both does not show that, it says so in the words
// "cannot show that this is not weaker", and [Replay] tries stored cases. What
// is said here about a contract never depends on how its text is laid out. The
// package reads no file and no clock, and decides nothing: whether a weaker
// contract is wanted is for its owner to say.
//
// # Life of a change
//
// A payments lead lets refunds take 72 hours instead of 48, and writes the
// conditions of a step in another order. [Compare] puts both conditions into one
// form (normal.go), finds that they are the same, and says nothing of them. It
// finds the longer window, which lets a refund pass that was late until now:
// window_wider at steps.money_moved.within, weaker, with a sentence that says
// so. Had the cap been params.amount <= money("250.00 USD") and were it 300.00
// USD now, [implies] would find that the old cap implies the new one and not the
// other way round: condition_looser. [Replay] then names the two refunds of last
// month that were FAIL and would have passed.
package weakening
