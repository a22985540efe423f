// Package backoffice is a small system of record to try Deed on: it pays money
// back, keeps approvals, and writes both into a ledger of its own.
//
// It is a program beside the shop of internal/shop and not a part of it: what an
// agent can reach is the shop, and what the shop says of a refund is a claim. The
// back office tells Deed what its ledger holds, with an evidence key that nobody
// else has, and up to when that is complete. It must not know what Deed makes of
// it.
//
// # Life of a payment
//
// The shop sends POST /refunds for order 2001. The office appends the payment to
// its ledger, a file of JSON lines, and only then answers. A quarter of a second
// later the [Reporter] walks the ledger: it takes the time, pushes what is new as
// facts of the source payments, and then states that payments is complete up to
// the time at which the walk began. A payment that comes during the walk has a
// later time, so that nothing is stated complete that was not told.
package backoffice
