package journal

import (
	"bytes"
	"database/sql"
	"errors"
	"strings"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/tlog"
)

// keptCheckpoint is a row of checkpoints.
type keptCheckpoint struct {
	size int64
	note string
}

const checkpointPage = 256

// addLeaf adds one leaf to the recomputed log, and compares what the database
// says about the log of that size.
func (v *verification) addLeaf(hash tlog.Hash) error {
	if v.broken {
		return nil
	}
	var completed []tlog.Node
	v.log.Append(hash, func(node tlog.Node) { completed = append(completed, node) })
	for _, node := range completed {
		if err := v.checkNode(node); err != nil {
			return err
		}
	}
	return v.checkSize()
}

// checkSize compares the recomputed root with every checkpoint of this size.
func (v *verification) checkSize() error {
	size := v.log.Size()
	v.lackCheckpoint(size)
	if v.against != nil && v.against.Size == size {
		if v.log.Root() == v.against.Root {
			v.report.Anchored = size
		} else {
			v.report.find(-1, "the first %d entries are not those that the given checkpoint was made of: the journal was rewritten", size)
		}
	}
	if err := v.nextCheckpoints(); err != nil {
		return err
	}
	for len(v.checkpoints) > 0 && v.checkpoints[0].size <= size {
		kept := v.checkpoints[0]
		v.checkpoints = v.checkpoints[1:]
		if kept.size == size {
			v.keptCheckpointAt(size)
			v.checkKept(kept)
		}
		if err := v.nextCheckpoints(); err != nil {
			return err
		}
	}
	return nil
}

func (v *verification) checkKept(kept keptCheckpoint) {
	if v.verifier == nil {
		return
	}
	v.report.Checkpoints++
	c, err := tlog.OpenCheckpoint([]byte(kept.note), v.verifier)
	switch {
	case err != nil:
		v.report.find(-1, "the kept checkpoint of size %d is not valid: %v", kept.size, err)
	case c.Size != kept.size:
		v.report.find(-1, "the kept checkpoint of size %d is in the place of one of size %d", c.Size, kept.size)
	case c.Root != v.log.Root():
		v.report.find(-1, "the first %d entries are not those that a kept checkpoint was made of", kept.size)
	case signatures(kept.note) != 1:
		v.report.find(-1, "the kept checkpoint of size %d has something added to it", kept.size)
	}
}

// nextCheckpoints reads on when the ones at hand are used up. They are read
// page by page because a journal of years has hundreds of thousands.
func (v *verification) nextCheckpoints() error {
	if len(v.checkpoints) > 0 || v.noMore {
		return nil
	}
	rows, err := v.tx.QueryContext(v.ctx, "SELECT size, note FROM checkpoints WHERE size >= ? ORDER BY size LIMIT ?", v.lastKept, checkpointPage)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var kept keptCheckpoint
		if err := rows.Scan(&kept.size, &kept.note); err != nil {
			return err
		}
		v.checkpoints = append(v.checkpoints, kept)
		v.lastKept = kept.size + 1
	}
	v.noMore = len(v.checkpoints) == 0
	return rows.Err()
}

// checkNode compares a hash of the tree with the stored one. A difference
// says within 256 entries where the log was changed.
func (v *verification) checkNode(node tlog.Node) error {
	v.nodes++
	var stored []byte
	err := v.tx.QueryRowContext(v.ctx, "SELECT hash FROM nodes WHERE level = ? AND i = ?", node.Level, node.Index).Scan(&stored)
	first, last := node.Index<<node.Level, (node.Index+1)<<node.Level-1
	switch {
	case errors.Is(err, sql.ErrNoRows):
		v.report.find(-1, "the stored hash over entries %d to %d is missing", first, last)
	case err != nil:
		return err
	case !bytes.Equal(stored, node.Hash[:]):
		v.report.find(-1, "entries %d to %d are not those that the stored hash was made of", first, last)
	}
	return nil
}

// missing is told of entries that are not there. No root behind them can be
// computed any more.
func (v *verification) missing(first, last int64) {
	v.broken = true
	if first == last {
		v.report.find(first, "the entry is missing")
		return
	}
	v.report.find(first, "entries %d to %d are missing", first, last)
}

// checkEnd compares the end of the log with its signed head.
func (v *verification) checkEnd() {
	if v.broken {
		v.report.find(-1, "the root of the log cannot be computed, because entries are missing")
		return
	}
	v.lackLastCheckpoint()
	v.report.Root = entry.Hash(v.log.Root())
	if v.head.note == "" || v.verifier == nil {
		return
	}
	if !bytes.Equal(v.head.peaks, joinPeaks(v.log.Peaks())) {
		v.report.find(-1, "the entries are not those that the end of the log was made of")
	}
	signed, err := tlog.OpenCheckpoint([]byte(v.head.note), v.verifier)
	switch {
	case err != nil:
		v.report.find(-1, "the last checkpoint is not valid: %v", err)
	case signed.Size != v.log.Size():
		v.report.find(-1, "the last checkpoint is of %d entries, and the log has %d", signed.Size, v.log.Size())
	case signed.Root != v.log.Root():
		v.report.find(-1, "the entries are not those that the last checkpoint was made of")
	case signatures(v.head.note) != 1:
		v.report.find(-1, "the last checkpoint has something added to it")
	}
}

// signatures counts the lines of a note that stand where signatures do. Those
// of others are valid in a note and say nothing, and a recorder makes one.
func signatures(note string) int { return strings.Count(note, "\n\u2014 ") }
