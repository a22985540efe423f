package sqlstore

import (
	"fmt"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
	"github.com/deed-dev/deed/internal/value"
)

// leafColumns are those that [leafRow] reads.
const leafColumns = `id, kind, object, digest, at, number`

var (
	addLeaf     = tenant("add_leaf", `INSERT INTO leaves (workspace_id, kind, object, digest, at, number) {rows text text text bigint bigint}`)
	unsequenced = tenant("unsequenced", `
		SELECT `+leafColumns+` FROM leaves WHERE workspace_id = $1 AND number < 0 ORDER BY id LIMIT $2`)
	numberLeaf = tenant("number_leaf", `
		UPDATE leaves AS l SET number = k.k2 FROM {keys bigint bigint} WHERE l.workspace_id = $1 AND l.id = k.k1 AND l.number < 0`)
	leavesIn = tenant("leaves_in", `
		SELECT `+leafColumns+` FROM leaves WHERE workspace_id = $1 AND number >= $2 AND number < $3 AND number >= 0 ORDER BY number`)
	leafOf = tenant("leaf_of", `
		SELECT `+leafColumns+` FROM leaves WHERE workspace_id = $1 AND digest = $2 AND number >= 0 ORDER BY number LIMIT 1`)

	ledgerState = tenant("ledger_state", `SELECT size, peaks, checkpoint FROM ledgers WHERE workspace_id = $1`)
	lockLedger  = tenant("lock_ledger", `SELECT size, peaks, checkpoint FROM ledgers WHERE workspace_id = $1 {for update}`)
	beginLedger = tenant("begin_ledger", `INSERT INTO ledgers (workspace_id, size, peaks, checkpoint) VALUES ($1, 0, $2, $2)`)
	keepLedger  = tenant("keep_ledger", `
		INSERT INTO ledgers (workspace_id, size, peaks, checkpoint) VALUES ($1, $2, $3, $4)
		ON CONFLICT (workspace_id) DO UPDATE SET size = excluded.size, peaks = excluded.peaks, checkpoint = excluded.checkpoint`)
	addNode = tenant("add_node", `INSERT INTO ledger_nodes (workspace_id, level, place, hash) {rows bigint bigint bytea}`)
	nodesIn = tenant("nodes_in", `
		SELECT hash FROM ledger_nodes WHERE workspace_id = $1 AND level = $2 AND place >= $3 AND place < $4 ORDER BY place`)

	secretNamed = tenant("secret_named", `SELECT sealed FROM secrets WHERE workspace_id = $1 AND name = $2`)
	putSecret   = tenant("put_secret", `
		INSERT INTO secrets (workspace_id, name, sealed) VALUES ($1, $2, $3)
		ON CONFLICT (workspace_id, name) DO UPDATE SET sealed = excluded.sealed`)
)

func leafRow(r Row) store.Leaf {
	return store.Leaf{ID: r.Int(), Kind: r.Text(), Object: r.Text(), Digest: r.Text(), At: value.Instant(r.Int()), Number: r.Int()}
}

// AddLeaf implements [store.Ledger].
func (u *unit) AddLeaf(leaves ...store.Leaf) {
	for i := range leaves {
		l := &leaves[i]
		u.queueRows(addLeaf, []any{l.Kind, l.Object, l.Digest, l.At, int64(-1)})
	}
}

// LockLedger implements [store.Ledger]. The row of a ledger that has none is made
// by whoever locks it first; another one who does at the same time runs again.
func (u *unit) LockLedger() (store.LedgerState, error) {
	s, there, err := u.ledger(lockLedger)
	if err == nil && !there {
		u.queue(beginLedger, []byte{})
		err = u.ask()
	}
	if err != nil {
		return store.LedgerState{}, fmt.Errorf("lock the ledger: %w", err)
	}
	return s, nil
}

// LedgerState implements [store.Ledger].
func (u *unit) LedgerState() (store.LedgerState, error) {
	s, _, err := u.ledger(ledgerState)
	if err != nil {
		return store.LedgerState{}, fmt.Errorf("read the ledger's state: %w", err)
	}
	return s, nil
}

func (u *unit) ledger(statement *statement) (s store.LedgerState, there bool, err error) {
	err = u.ask(&query{statement: statement, row: func(r Row) (err error) {
		there = true
		s.Size = r.Int()
		if s.Peaks, err = readHashes(r.Bytes()); err != nil {
			return err
		}
		s.Checkpoint = r.Bytes()
		return nil
	}})
	return s, there, err
}

// readHashes takes hashes apart that were written one after the other.
func readHashes(b []byte) ([]tlog.Hash, error) {
	if len(b)%tlog.HashSize != 0 {
		return nil, fmt.Errorf("read hashes: %d bytes are none", len(b))
	}
	var hashes []tlog.Hash
	for ; len(b) > 0; b = b[tlog.HashSize:] {
		hashes = append(hashes, tlog.Hash(b[:tlog.HashSize]))
	}
	return hashes, nil
}

// leaves reads leaves of a statement.
func (u *unit) leaves(s *statement, args ...any) ([]store.Leaf, error) {
	var all []store.Leaf
	err := u.ask(&query{statement: s, args: args, row: func(r Row) error {
		all = append(all, leafRow(r))
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("read leaves: %w", err)
	}
	return all, nil
}

// Unsequenced implements [store.Ledger].
func (u *unit) Unsequenced(n int) ([]store.Leaf, error) { return u.leaves(unsequenced, n) }

// Leaves implements [store.Ledger].
func (u *unit) Leaves(from, to int64) ([]store.Leaf, error) { return u.leaves(leavesIn, from, to) }

// LeafOf implements [store.Ledger].
func (u *unit) LeafOf(digest string) (*store.Leaf, error) {
	found, err := u.leaves(leafOf, digest)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, store.ErrNotFound
	}
	return &found[0], nil
}

// Sequence implements [store.Ledger].
func (u *unit) Sequence(leaves []store.Leaf, nodes []tlog.Node, s store.LedgerState) {
	if err := u.gatherCounts(); err != nil {
		u.fail(err)
		return
	}
	for i := range leaves {
		u.queueRows(numberLeaf, []any{leaves[i].ID, leaves[i].Number})
	}
	for i := range nodes {
		u.queueRows(addNode, []any{nodes[i].Level, nodes[i].Index, nodes[i].Hash[:]})
	}
	var peaks []byte
	for i := range s.Peaks {
		peaks = append(peaks, s.Peaks[i][:]...)
	}
	u.queue(keepLedger, s.Size, peaks, s.Checkpoint)
}

// Nodes implements [store.Ledger].
func (u *unit) Nodes(level int, from, to int64) ([]tlog.Hash, error) {
	var all []tlog.Hash
	err := u.ask(&query{statement: nodesIn, args: []any{level, from, to}, row: func(r Row) error {
		hashes, err := readHashes(r.Bytes())
		all = append(all, hashes...)
		return err
	}})
	if err != nil {
		return nil, fmt.Errorf("read stored hashes: %w", err)
	}
	return all, nil
}

// Secret implements [store.Ledger].
func (u *unit) Secret(name string) ([]byte, error) {
	var sealed []byte
	found := false
	err := u.ask(&query{statement: secretNamed, args: []any{name}, row: func(r Row) error {
		found, sealed = true, r.Bytes()
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("read the secret %s: %w", name, err)
	}
	if !found {
		return nil, store.ErrNotFound
	}
	return sealed, nil
}

// PutSecret implements [store.Ledger].
func (u *unit) PutSecret(name string, sealed []byte) { u.queue(putSecret, name, sealed) }
