package store

import (
	"errors"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/tlog"
	"github.com/deed-dev/deed/internal/value"
)

// ErrTaken says that a name that must be unique belongs to another.
var ErrTaken = errors.New("taken")

// AuditEntry is something that somebody did. Metadata is a JSON object without
// secrets.
type AuditEntry struct {
	ID       int64 // set when read
	At       value.Instant
	Actor    access.Actor
	Event    string // such as key.created
	Object   string
	Metadata []byte
}

// Trail says who did what, and how much of it there was.
type Trail interface {
	Audit(entries ...AuditEntry)
	// ListAudit returns the latest first.
	ListAudit(p Page) ([]AuditEntry, Cursor, error)
	// CountDeclared adds to the number of actions of a period ("2026-11").
	CountDeclared(period string, n int)
	// Declared is that number, with what this unit adds.
	DeclaredIn(period string) (int64, error)
}

// Leaf is an entry of the workspace's ledger. It holds digests and nothing
// personal.
type Leaf struct {
	ID     int64  // set when read: the order in which they were written
	Kind   string // declaration, verdict, activation, audit, …
	Object string // what the digest is of: a ref, a contract and version
	Digest string // "sha256:…"
	At     value.Instant
	// Number is the place in the log, from 0; -1 as long as it has none.
	Number int64
}

// LedgerState is how far a ledger is numbered.
type LedgerState struct {
	Size  int64
	Peaks []tlog.Hash // of the frontier
	// Checkpoint is the signed checkpoint of this size; empty for an empty ledger.
	Checkpoint []byte
}

// Ledger is the workspace's own log. Units write leaves without a number, so that
// they do not wait for each other; one sequencer at a time numbers them.
type Ledger interface {
	AddLeaf(leaves ...Leaf)
	// LockLedger returns the state, and lets no other unit number leaves until this
	// one ends.
	LockLedger() (LedgerState, error)
	// LedgerState returns the state without a lock.
	LedgerState() (LedgerState, error)
	// Unsequenced returns up to n leaves without a number, the oldest first.
	Unsequenced(n int) ([]Leaf, error)
	// Sequence gives leaves the numbers in them, and keeps the stored hashes of full
	// subtrees and the new state.
	Sequence(leaves []Leaf, nodes []tlog.Node, s LedgerState)
	// Leaves returns the numbered leaves of [from, to).
	Leaves(from, to int64) ([]Leaf, error)
	// LeafOf returns the numbered leaf of a digest. Error: [ErrNotFound].
	LeafOf(digest string) (*Leaf, error)
	// Nodes returns stored hashes at a level, [from, to).
	Nodes(level int, from, to int64) ([]tlog.Hash, error)
	// Secret and PutSecret keep a secret that is sealed already (see internal/vault).
	Secret(name string) ([]byte, error)
	PutSecret(name string, sealed []byte)
}
