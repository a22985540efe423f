package tlog

import (
	"crypto/sha256"
	"fmt"
	"math/bits"

	"golang.org/x/mod/sumdb/tlog"
)

// Hash is a node of the tree, a SHA-256 value.
type Hash = tlog.Hash

// StoredLevel is the lowest level whose hashes are worth storing. A node of
// level l covers 2^l leaves, so that a proof re-hashes fewer than 256 leaves
// for each of its ends.
const StoredLevel = 8

// HashSize is the size of a Hash in bytes.
const HashSize = tlog.HashSize

// Empty is the root of a log without leaves, the hash of nothing.
var Empty = Hash(sha256.Sum256(nil))

// LeafHash is the hash of one leaf, SHA-256(0x00 ‖ leaf).
func LeafHash(leaf []byte) Hash { return tlog.RecordHash(leaf) }

// Frontier is all that must be known of a log to append to it: its size and
// the roots of the perfect trees that it consists of, biggest first.
type Frontier struct {
	size  int64
	peaks []Hash
}

// NewFrontier goes on with a log of the given size. It needs one peak for each
// bit that is set in size.
func NewFrontier(size int64, peaks []Hash) (*Frontier, error) {
	if size < 0 {
		return nil, fmt.Errorf("log of %d leaves: a size is never negative", size)
	}
	if want := bits.OnesCount64(uint64(size)); len(peaks) != want {
		return nil, fmt.Errorf("log of %d leaves: it has %d peaks, not %d", size, want, len(peaks))
	}
	return &Frontier{size: size, peaks: append(make([]Hash, 0, 64), peaks...)}, nil
}

// Size is the number of leaves.
func (f *Frontier) Size() int64 { return f.size }

// Peaks returns a copy of the peaks, biggest first.
func (f *Frontier) Peaks() []Hash { return append([]Hash(nil), f.peaks...) }

// Append adds a leaf by its hash. It calls completed, if there is one, with
// every node of StoredLevel or above that the leaf has filled.
func (f *Frontier) Append(leaf Hash, completed func(Node)) {
	level, index, hash := 0, f.size, leaf
	// Each bit set at the low end of the old size is a perfect tree that the
	// new leaf turns into the left half of a bigger one, like a carry.
	for ; index&1 == 1; index >>= 1 {
		last := len(f.peaks) - 1
		hash = tlog.NodeHash(f.peaks[last], hash)
		f.peaks = f.peaks[:last]
		level++
		if level >= StoredLevel && completed != nil {
			completed(Node{Level: level, Index: index >> 1, Hash: hash})
		}
	}
	f.peaks = append(f.peaks, hash)
	f.size++
}

// Root is the root hash of the log as it is now.
func (f *Frontier) Root() Hash {
	if f.size == 0 {
		return Empty
	}
	last := len(f.peaks) - 1
	root := f.peaks[last]
	for i := last - 1; i >= 0; i-- {
		root = tlog.NodeHash(f.peaks[i], root)
	}
	return root
}

// Node is the root of the perfect tree over the leaves from Index<<Level up
// to (Index+1)<<Level.
type Node struct {
	Level int
	Index int64
	Hash  Hash
}
