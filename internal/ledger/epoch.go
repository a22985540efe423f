package ledger

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
)

// EpochKind is the kind of the leaf that begins an epoch. Its object is the origin of
// the epoch before, its digest is over that one's last checkpoint, byte for byte.
const EpochKind = "epoch"

// NewEpoch goes on with a ledger under another origin and another key. It is for one
// that was restored from a backup: the ledger that it was copied from has signed more
// since, and under one name it would sign two histories. The head of before is signed
// again under the new name, and the next leaf names it. A ledger without leaves has
// signed nothing, and stays as it is.
func (s *Service) NewEpoch(ctx context.Context, w access.WorkspaceID) error {
	err := s.store.Do(ctx, w, func(tx store.Tx) error {
		state, err := tx.LockLedger()
		if err != nil || state.Size == 0 {
			return err
		}
		before, err := s.key(tx)
		if err != nil {
			return err
		}
		if before == nil {
			return errors.New("the ledger's key is gone")
		}
		head, err := tlog.OpenCheckpoint(state.Checkpoint, before.verifier)
		if err != nil {
			return err
		}
		key, err := s.makeKey(tx)
		if err != nil {
			return err
		}
		tx.AddLeaf(leaf(EpochKind, head.Origin, digest(state.Checkpoint), tx.Now()))
		head.Origin = key.Name()
		if state.Checkpoint, err = head.Sign(key); err != nil {
			return err
		}
		tx.Sequence(nil, nil, state)
		return nil
	})
	if err != nil {
		return fmt.Errorf("begin a new epoch of the ledger: %w", err)
	}
	return nil
}
