// Package archive describes backups, and writes everything that a workspace has as
// JSON lines.
//
// Neither holds a secret. A backup names the secret that it was made beside by its
// fingerprint, so that the right one can be told from others when it is restored;
// an export has keys without their hashes and people without their passwords. The
// package copies no database (that is for the store which keeps it) and changes
// nothing.
//
// # Life of a backup
//
// deed backup has the store copy the database as it stands at one moment into a
// new folder, and [Describe] puts a description beside it: which release made it
// and when, the digest of the copy, the fingerprint of the secret. It is written
// last, so that a folder without it is a backup that was broken off. A year later
// deed restore reads it ([Read]), finds the digest as it was and the secret that
// fits, and only then copies anything.
package archive
