// Package entry is what a journal records, and how it is written: entries, the
// details that hang off them, and the lists of what was erased.
//
// It is for whoever records, reads or verifies, and holds nothing but values
// and their one form. It knows no file, no database, no log and no clock. What
// crossed the wire is in a [Detail], which can be erased, and never in an
// [Entry], which cannot. A form that this version does not write is not read:
// whatever can be said in two ways can be said unnoticed.
//
// # Life of a leaf
//
// A request of 212 bytes was seen. Its [Detail] (method, tool, shape of the
// arguments) is written as JSON, and [SealDetail] hashes it with a fresh salt.
// [EncodeLeaf] looks whether the [Entry] has the members of its kind and no
// others, and writes them as canonical JSON in the order of their names,
// together with that hash: the leaf that the log hashes. [DeriveColumns] says
// what a database repeats of both, to be searched. Years later [DecodeLeaf]
// reads the leaf, and nothing whose encoding would give other bytes. The detail
// was erased meanwhile, so that nobody can say what it held; a copy that
// somebody kept can still be held against the hash.
//
// The form is described in docs/journal-format.md.
package entry
