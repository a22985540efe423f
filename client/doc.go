// Package client declares what agents are about to do to a Deed server, reads the
// verdicts, and, with another key, tells it what really happened.
//
// [Actions] and [Evidence] are two types because they are two roles. Whoever
// declares an action must not be able to prove it, so each is made with a key of
// its own, and neither has the other's methods. A program that holds both keys in
// one process gives that away; keep them apart.
//
// Every method may be called again after any error: what was kept is recognised
// and never doubled. Methods do so themselves after a broken connection, a 429 or
// a 5xx, with pauses, until their context ends. That is why every action has an
// id: one without gets a random one before it is sent for the first time.
//
// # Life of an action
//
// A program is about to refund an order. [Actions.Do] declares that, and only if
// the server has it runs the function that calls the payment provider, with the
// action's id as idempotency key. Then [Actions.Wait] asks for the verdict until
// it is settled: UNKNOWN while evidence is missing, and PASS once the provider's
// own records show the refund.
package client
