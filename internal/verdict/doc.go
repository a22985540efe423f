// Package verdict is what is said of an action, and what that follows from: a
// [Case] holds all that a [Verdict] depends on and nothing else, and each
// [Reason] in a verdict is a code of the registry.
//
// It says what these are, how they are written, and which digest names them. It
// has no clock, does no I/O, and does not say what a case comes to: that is
// package engine's business, so that a stored verdict can be read, shown and
// compared without the rules that made it.
//
// # Life of a case
//
// An agent declared a refund, and the payment system told of one. Whoever
// gathers the case takes all revisions of all facts that could matter, in the
// order in which they come from the store, and the contract that governs. The
// case is written in its one JSON form, described in docs/case.md (encode.go
// writes it, decode.go reads it), and its digest is taken over that form. The
// order of its lists never shows: writing it and evaluating it both begin by
// putting them in the order of that form ([Case.InOrder]). The verdict that the
// engine finds names the case by its digest and has a form and a digest of its
// own. Years later [DecodeCase] reads the case again, and nothing that is not
// exactly one; the engine comes to the same verdict, and the digests agree.
package verdict
