// Package condition parses, types and evaluates the expressions of contracts.
//
// They are written in a subset of the Common Expression Language and mean what
// they mean there, with three differences that verdicts need. Numbers are exact
// decimals, and amounts of money name their currency. What is not there is
// unknown (Kleene's third truth value): never false, never an error, and inside
// lists as well. And an evaluation reads no clock, does no input or output,
// cannot fail and cannot run long: see the bounds in [Parse].
//
// The package does not know what a contract or a fact is; it asks [Names].
//
// # Life of a condition
//
// A contract says `where: fact.amount == params.amount`. [Parse] reads it in a
// [Scope] in which amount is declared as money. Had it said params.ammount or
// params.amount > 100, an [Error] would point at the place and say what to write
// instead. Later [Expr.Truth] asks for both values. They are 180.00 and 180.0
// USD: [True]. The fact of another refund has no amount: [Unknown], because of
// [ValueMissing], about fact.amount; and the verdict says so instead of guessing.
package condition
