// Package evidence holds what systems of record say: facts, the sources they
// come from, and up to when each source's facts are complete.
//
// A fact is what a system of record says happened. What a tool answered is a
// claim and never gets in here. The package decides which revision of a fact is
// current and what a source covers; what a fact means for an action is the
// verdict's business. It knows no contract, no HTTP and no SQL.
//
// # Life of a fact
//
// A payment system refunds 180.00 USD and its connector reports a [Fact]: the
// source stripe, the external id re_1, the type refund.succeeded, the order as
// subject, the idempotency key among the refs, the amount among the attrs. The
// same again is the same fact; the same identity with other content is a new
// revision, and [Current] keeps the one that the source numbers higher, or else
// saw later, whatever the order of arrival. When the connector has read
// everything up to noon, the source's watermark for refund.succeeded moves to
// noon: from then on, that no other refund is there means that there was none.
package evidence
