// Package ledger is the workspace's own append-only log: what was declared, what it
// came to, and which contracts governed when, so that nobody can change it later
// without it showing.
//
// A leaf holds digests and nothing personal; what it speaks of is in rows that may be
// erased. The tree, its proofs and the form of a checkpoint are those of package
// tlog; the form of leaves is in docs/ledger.md. Units of work only write leaves,
// without a number, so that they never wait for each other. The package has no SQL
// and no HTTP. What it proves is that the record was not changed, and never that a
// source told the truth.
//
// # Life of a leaf
//
// A refund settles, and the unit that keeps the verdict also writes the leaf
// [Verdict], kind, object and digest, without a number. Within a second a [Sequencer]
// takes the ledger's lock, gives it number 4,711, appends its hash to the frontier,
// stores the hashes of subtrees that are full now, and signs the root as a new
// checkpoint with the workspace's key, which is sealed in the vault. A member who
// holds an older checkpoint gets a proof that the new one extends it
// ([Service.Consistency]), and one that the verdict is in it ([Service.Inclusion]).
// At night [Service.Verify] computes every hash anew and evaluates every settled case
// again: a verdict that somebody edited differs from its leaf, and a leaf that
// somebody edited from the signed root.
package ledger
