// Package journal keeps what was recorded on a machine so that it can be
// asked and cannot be changed unnoticed. It is one SQLite database that all
// recorders of a user share: entries that form a Merkle log, details that hang
// off them by salted hash, and checkpoints that sign the whole.
//
// It must never hold up whoever records: [Journal.Append] only queues, and
// waits for nothing but room. It must never lose or reorder what it took, not
// even when a commit fails and is in the database all the same. It must not
// put anything from the wire into an entry; that belongs into the detail,
// which can be erased. It knows nothing of what its entries mean to people:
// how answers look is another package's business. What an entry is and how it
// is written is that of package entry, and how calls are summed that of package
// rollup; both know nothing of a database.
//
// # Life of an entry
//
// A recorder saw a request of 212 bytes. It calls [Journal.Append] with an
// [entry.Entry] (kind, place in its session, sizes, times, hash of the bytes) and a
// [entry.Detail] (method, tool, shape of the arguments). The detail is encoded and
// hashed with a fresh salt, the hash goes into the entry's leaf, canonical
// JSON, and both wait in a bounded queue. Within five milliseconds the
// journal's one writer takes up to 2,000 entries, locks the home against
// other recorders, reads the end of the log and makes sure that our key
// signed it, adds rows and leaves, signs the new end and commits. From then
// on the entry survives kill -9. The commit waits for no disk. A
// [Journal.Sync], the end of its session or a checkpoint that is kept has the
// flusher, another goroutine, flush what is committed, and the entry survives
// a loss of power as well. The same commit adds the call to the roll-ups of its
// hour, so that a question about a million calls reads some thousand rows; the
// words of its texts go into an index when the writer has nothing else to do.
// A [Reader] finds it by columns that repeat what leaf and detail say. [Verify]
// derives columns and roll-ups again, hashes every leaf, and compares with
// every checkpoint that was kept, and with one that somebody else kept, if
// there is one.
//
// # Life of a body
//
// At a level that keeps them, the recorder calls [Journal.AppendBody] with the
// bytes of the request, or, when they are many, with a [Spill] that they went
// into as they passed. They are cut into pieces and compressed, and their
// salted hash goes into the leaf. Small ones are in the entry's transaction.
// Big ones go ahead of it piece by piece, and the entry only takes them over,
// so that nobody waits for the lock. After 30 days [Prune], or on demand
// [Erase], deletes the body, its salt and its pieces and appends an entry that
// says so: the leaf with the hash stays, and the log verifies as before.
//
// The format is described in docs/journal-format.md, exactly enough to write
// another verifier.
package journal
