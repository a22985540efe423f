package tlog

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Source is what a store offers so that proofs can be made.
type Source interface {
	// Stored returns a node of StoredLevel or above. It must be an error if
	// the store does not have it.
	Stored(level int, index int64) (Hash, error)

	// Leaves returns the hashes of the leaves from lo up to, not including, hi.
	Leaves(lo, hi int64) ([]Hash, error)
}

// HashReader reads any node of a log from src: the high ones as they were
// stored, the low ones by hashing the few leaves below them.
func HashReader(src Source) tlog.HashReader {
	return tlog.HashReaderFunc(func(indexes []int64) ([]Hash, error) {
		hashes := make([]Hash, len(indexes))
		for i, index := range indexes {
			level, n := tlog.SplitStoredHashIndex(index)
			hash, err := readNode(src, level, n)
			if err != nil {
				return nil, fmt.Errorf("read node %d of level %d: %w", n, level, err)
			}
			hashes[i] = hash
		}
		return hashes, nil
	})
}

func readNode(src Source, level int, index int64) (Hash, error) {
	if level >= StoredLevel {
		return src.Stored(level, index)
	}
	lo, hi := index<<level, (index+1)<<level
	leaves, err := src.Leaves(lo, hi)
	if err != nil {
		return Hash{}, err
	}
	if int64(len(leaves)) != hi-lo {
		return Hash{}, fmt.Errorf("leaves %d to %d: got %d of them", lo, hi-1, len(leaves))
	}
	for width := len(leaves); width > 1; width /= 2 {
		for i := range width / 2 {
			leaves[i] = tlog.NodeHash(leaves[2*i], leaves[2*i+1])
		}
	}
	return leaves[0], nil
}

// ProveInclusion proves that the log of the given size has leaf n.
func ProveInclusion(src Source, size, n int64) ([]Hash, error) {
	if n < 0 || n >= size {
		return nil, fmt.Errorf("prove leaf %d: the log has %d", n, size)
	}
	return tlog.ProveRecord(size, n, HashReader(src))
}

// CheckInclusion checks what ProveInclusion returned.
func CheckInclusion(proof []Hash, size int64, root Hash, n int64, leaf Hash) error {
	return tlog.CheckRecord(proof, size, root, n, leaf)
}

// ProveConsistency proves that the log of size newer begins with the log of
// size older.
func ProveConsistency(src Source, older, newer int64) ([]Hash, error) {
	if older < 1 || older > newer {
		return nil, fmt.Errorf("prove that %d leaves begin with %d: not possible", newer, older)
	}
	return tlog.ProveTree(newer, older, HashReader(src))
}

// CheckConsistency checks what ProveConsistency returned.
func CheckConsistency(proof []Hash, newer int64, newerRoot Hash, older int64, olderRoot Hash) error {
	return tlog.CheckTree(proof, newer, newerRoot, older, olderRoot)
}
