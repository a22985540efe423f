// Package tlog is the Merkle log under the journal: what an append-only list
// of leaves hashes to, how little a writer must remember to go on, and how a
// signed checkpoint says so to others.
//
// The tree is that of RFC 6962, section 2.1; checkpoints are signed notes with
// the body of C2SP tlog-checkpoint. Hashing and proofs come from
// golang.org/x/mod/sumdb/tlog, signatures from golang.org/x/mod/sumdb/note.
// The package keeps nothing: it knows no database, no file but the key's, and
// nothing of what a leaf means. It must stay that way, because a ledger with
// other leaves and another store uses it too.
//
// # Life of a leaf
//
// A writer that opens a log of size 1,000 reads six peaks, the roots of the
// perfect trees of 512, 256, 128, 64, 32 and 8 leaves, and makes a [Frontier]
// of them. It appends the [LeafHash] of its leaf, which now is leaf 1,000, and
// stores the peaks again: at size 1,024 one peak will be left. Whenever a
// perfect tree of 256 leaves or more is full, the frontier hands out its hash
// to be stored. The writer signs [Frontier.Root] and the size as a
// [Checkpoint]. Years later a [HashReader] over those stored hashes and at
// most a few hundred leaves proves to somebody who holds the checkpoint that
// leaf 1,000 was there, or that a newer checkpoint extends it.
package tlog
