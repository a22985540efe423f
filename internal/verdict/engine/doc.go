// Package engine makes of a case the verdict that follows from it: whether an
// action really happened and whether it was allowed, and never so when the
// evidence does not carry it.
//
// [Evaluate] is a pure function: it has no clock, does no I/O and knows no
// database. Two rules carry most of its meaning. What is missing is FAIL only
// where its sources are complete, so that it would have been seen; what must be
// absent is PASS only under the same condition. Everything else that is not
// certain is UNKNOWN, with a reason and with what it waits for. What a case and
// a verdict are, and how they are written, is package verdict's business.
//
// # Life of a verdict
//
// An agent declares a refund at noon. At one minute past, nothing was seen and
// nothing can be said: UNKNOWN, AWAITING_EVIDENCE, provisional. At five past,
// the payment system's refund arrives with the action's id as its key: the step
// passes, the verdict is still provisional, because a second refund would be
// one too many. After three days the payment system is complete to the end of
// the third day, and there was no second one: settled, PASS. A week later the
// payment system takes its refund back: the new case holds the settled verdict
// as its previous one, and the new verdict is a revision of it.
//
// Within one evaluation the data's way is this: the declaration's parameters
// get their types ([contract.Contract.Bind]), facts become current revisions
// ([evidence.Current]), each check looks at the facts that link to the action
// (link.go, look.go), facts about one effect are put together (effect.go),
// what rivals could claim is told apart (contest.go), and each kind of check
// draws its conclusion (step.go, never.go, state.go, limit.go, approval.go,
// declaration.go). Lenses, settlement and revision come last (settle.go,
// revise.go).
//
// A change of what a verdict means gives [verdict.Engine] a new number.
package engine
