// Package draft proposes a contract from what was recorded: from the actions
// that agents declared and the facts that belong to them.
//
// A proposal is something to read and correct, never something to activate: it
// says what was, and only a person knows what should be. So it guesses nothing
// that the record does not show, says of every line how many actions stand
// behind it, proposes no limit on fewer than thirty, and warns of what makes it
// weak. The package has no clock, reads no files, and the same input in any
// order gives the same text.
//
// # Life of a draft
//
// An agent has refunded orders for a month, and nobody wrote a contract yet.
// [Propose] takes the 412 declarations of refund_order. The facts of 405 of them
// carry the action's id as refs.idempotency_key: that becomes the link. A
// refund.succeeded follows each of those, one only, after 40 minutes at the
// longest, with the amount and the currency that were declared: that becomes a
// step with a count, a window and a condition. Ninety-nine of a hundred amounts
// in USD are at most 180.00: that becomes a limit. Six actions were in EUR, too
// few for one, and four refunds belong to no action; both are warnings.
package draft
