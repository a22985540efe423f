package ledger

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
)

// RangeError says that a ledger has no such place.
type RangeError struct {
	Field   string
	Problem string
}

func (e *RangeError) Error() string { return e.Field + " " + e.Problem }

// Code is [access.InvalidRequest].
func (e *RangeError) Code() access.Code { return access.InvalidRequest }

// Inclusion proves that a ledger of a size has a leaf.
type Inclusion struct {
	Leaf       store.Leaf
	Text       []byte // of the leaf, as it is hashed
	Proof      []tlog.Hash
	Checkpoint *Checkpoint
}

// Inclusion finds the leaf of a digest and proves that the latest checkpoint covers
// it. Error: [store.ErrNotFound] for a digest that has no numbered leaf.
func (s *Service) Inclusion(ctx context.Context, w access.WorkspaceID, digest string) (*Inclusion, error) {
	var in *Inclusion
	err := s.store.View(ctx, w, func(tx store.Tx) error {
		l, err := tx.LeafOf(digest)
		if err != nil {
			return err
		}
		state, checkpoint, err := s.latest(tx)
		if err != nil {
			return err
		}
		proof, err := tlog.ProveInclusion(hashes{tx}, state.Size, l.Number)
		if err != nil {
			return err
		}
		in = &Inclusion{Leaf: *l, Text: Text(l), Proof: proof, Checkpoint: checkpoint}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("prove that the ledger has %s: %w", digest, err)
	}
	return in, nil
}

// Check says whether the proof holds, with nothing but what is in it.
func (in *Inclusion) Check() error {
	return tlog.CheckInclusion(in.Proof, in.Checkpoint.Size, in.Checkpoint.Root, in.Leaf.Number, tlog.LeafHash(in.Text))
}

// Consistency proves that the ledger of the size newer begins with the one of the
// size older; newer 0 stands for the latest. Error: [RangeError].
func (s *Service) Consistency(ctx context.Context, w access.WorkspaceID, older, newer int64) ([]tlog.Hash, error) {
	var proof []tlog.Hash
	err := s.store.View(ctx, w, func(tx store.Tx) error {
		state, err := tx.LedgerState()
		if err != nil {
			return err
		}
		to := newer
		if to == 0 {
			to = state.Size
		}
		switch {
		case to < 0 || to > state.Size:
			return &RangeError{Field: "to", Problem: fmt.Sprintf("is %d, and the ledger has %d leaves", to, state.Size)}
		case older < 1 || older > to:
			return &RangeError{Field: "from", Problem: fmt.Sprintf("is %d, and must be between 1 and %d", older, to)}
		}
		proof, err = tlog.ProveConsistency(hashes{tx}, older, to)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("prove that the ledger of %d leaves is the beginning of the later one: %w", older, err)
	}
	return proof, nil
}

// hashes reads the nodes of a ledger from a unit.
type hashes struct{ tx store.Tx }

// Stored implements [tlog.Source].
func (h hashes) Stored(level int, index int64) (tlog.Hash, error) {
	stored, err := h.tx.Nodes(level, index, index+1)
	if err != nil {
		return tlog.Hash{}, err
	}
	if len(stored) != 1 {
		return tlog.Hash{}, fmt.Errorf("it is not stored: %w", store.ErrNotFound)
	}
	return stored[0], nil
}

// Leaves implements [tlog.Source].
func (h hashes) Leaves(lo, hi int64) ([]tlog.Hash, error) {
	leaves, err := h.tx.Leaves(lo, hi)
	if err != nil {
		return nil, err
	}
	list := make([]tlog.Hash, len(leaves))
	for i := range leaves {
		list[i] = Hash(&leaves[i])
	}
	return list, nil
}
