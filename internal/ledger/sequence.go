package ledger

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
)

// batch is how many leaves are numbered in one unit. Where one unit writes at a time
// the others wait for it, so that it is not made as large as it could be.
const batch = 256

// Sequence numbers what has no number yet and signs the new checkpoint. It returns
// how many leaves it numbered. Many may call it at once, here and elsewhere: the
// ledger's lock lets them take turns.
func (s *Service) Sequence(ctx context.Context, w access.WorkspaceID) (int, error) {
	for total := 0; ; {
		numbered := 0
		err := s.store.Do(ctx, w, func(tx store.Tx) (err error) {
			numbered, err = s.sequence(tx)
			return err
		})
		if err != nil {
			return total, fmt.Errorf("number the ledger's leaves: %w", err)
		}
		if total += numbered; numbered < batch {
			return total, nil
		}
	}
}

func (s *Service) sequence(tx store.Tx) (int, error) {
	state, err := tx.LockLedger()
	if err != nil {
		return 0, err
	}
	leaves, err := tx.Unsequenced(batch)
	if err != nil || len(leaves) == 0 {
		return 0, err
	}
	frontier, err := tlog.NewFrontier(state.Size, state.Peaks)
	if err != nil {
		return 0, err
	}
	key, err := s.key(tx)
	if err != nil {
		return 0, err
	}
	if key == nil {
		if state.Size > 0 {
			return 0, fmt.Errorf("the ledger's key is gone, and %d leaves were signed with it", state.Size)
		}
		if key, err = s.makeKey(tx); err != nil {
			return 0, err
		}
	}
	var nodes []tlog.Node
	numbered := make([]store.Leaf, len(leaves))
	for i, l := range leaves {
		l.Number = frontier.Size()
		frontier.Append(Hash(&l), func(n tlog.Node) { nodes = append(nodes, n) })
		numbered[i] = l
	}
	next := store.LedgerState{Size: frontier.Size(), Peaks: frontier.Peaks()}
	next.Checkpoint, err = tlog.Checkpoint{Origin: key.Name(), Size: next.Size, Root: frontier.Root()}.Sign(key)
	if err != nil {
		return 0, err
	}
	tx.Sequence(numbered, nodes, next)
	return len(numbered), nil
}

// pace is how often a [Sequencer] looks, so that a leaf has its number within a
// second of being written.
const pace = 400 * time.Millisecond

// Sequencer numbers the leaves of all workspaces as they come.
type Sequencer struct {
	ledger *Service
	log    *slog.Logger
	// Tests say when to look, and learn when it was done.
	ticks <-chan time.Time
	done  func()
}

// NewSequencer makes one. Errors go to the log, since there is nobody else to be
// told: what could not be numbered now is numbered when the database is back.
func NewSequencer(s *Service, log *slog.Logger) *Sequencer {
	return &Sequencer{ledger: s, log: log, done: func() {}}
}

// Run numbers leaves until the context ends, and returns when the unit that it is in
// is over.
func (q *Sequencer) Run(ctx context.Context) {
	failing := false
	for {
		began := time.Now()
		if _, err := q.ledger.SequenceAll(ctx); err == nil {
			failing = false
		} else if !failing && ctx.Err() == nil {
			failing = true // told once, not 150 times a minute
			q.log.Error("the ledger's leaves are not numbered", "error", err)
		}
		ticks := q.ticks
		if ticks == nil {
			// However many workspaces there are, looking is not all that is done.
			ticks = time.After(max(pace, 4*time.Since(began)))
		}
		q.done()
		select {
		case <-ctx.Done():
			return
		case <-ticks:
		}
	}
}

// SequenceAll numbers what has no number in any workspace. One workspace that fails
// does not keep the others from theirs; the first error is returned.
func (s *Service) SequenceAll(ctx context.Context) (int, error) {
	waiting, err := s.store.Directory().Unsequenced(ctx)
	if errors.Is(err, store.ErrNoOverview) {
		waiting, err = s.unsequenced(ctx)
	}
	total := 0
	for _, w := range waiting {
		n, failed := s.Sequence(ctx, w)
		total += n
		if failed != nil && err == nil {
			err = failed
		}
	}
	return total, err
}

// unsequenced asks each workspace. A look costs a snapshot and one statement; the lock
// is taken only where there is something to do.
func (s *Service) unsequenced(ctx context.Context) (waiting []access.WorkspaceID, first error) {
	workspaces, err := s.store.Directory().Workspaces(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the workspaces: %w", err)
	}
	for _, w := range workspaces {
		err := s.store.View(ctx, w.ID, func(tx store.Tx) error {
			leaves, err := tx.Unsequenced(1)
			if len(leaves) > 0 {
				waiting = append(waiting, w.ID)
			}
			return err
		})
		if err != nil && first == nil {
			first = err
		}
	}
	return waiting, first
}
