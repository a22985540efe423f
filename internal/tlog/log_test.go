package tlog

import (
	"bytes"
	"errors"
	"fmt"
	"math/bits"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	xtlog "golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"
)

// memory is the store of a log as the journal has one: leaves, and the nodes
// that the frontier handed out.
type memory struct {
	leaves []Hash
	nodes  map[[2]int64]Hash
	log    *Frontier
	read   int64 // leaves that proofs had to re-hash
}

func newMemory(t testing.TB) *memory {
	t.Helper()
	log, err := NewFrontier(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &memory{nodes: make(map[[2]int64]Hash), log: log}
}

func (m *memory) append(leaf []byte) {
	m.leaves = append(m.leaves, LeafHash(leaf))
	m.log.Append(LeafHash(leaf), func(n Node) { m.nodes[[2]int64{int64(n.Level), n.Index}] = n.Hash })
}

func (m *memory) Stored(level int, index int64) (Hash, error) {
	h, ok := m.nodes[[2]int64{int64(level), index}]
	if !ok {
		return Hash{}, fmt.Errorf("node %d of level %d was never handed out", index, level)
	}
	return h, nil
}

func (m *memory) Leaves(lo, hi int64) ([]Hash, error) {
	if lo < 0 || lo > hi || hi > int64(len(m.leaves)) {
		return nil, errors.New("no such leaves")
	}
	m.read += hi - lo
	return append([]Hash(nil), m.leaves[lo:hi]...), nil
}

func filled(t testing.TB, size int) *memory {
	m := newMemory(t)
	for i := range size {
		m.append(fmt.Appendf(nil, "leaf %d", i))
	}
	return m
}

func TestTheEmptyLogHasTheHashOfNothing(t *testing.T) {
	t.Parallel()
	if got := newMemory(t).log.Root(); !bytes.Equal(got[:], rfc6962.DefaultHasher.EmptyRoot()) {
		t.Errorf("root of the empty log is %x", got)
	}
}

func TestRootsAreThoseOfTheReferenceImplementation(t *testing.T) {
	t.Parallel()
	m := newMemory(t)
	for size := int64(1); size <= 1_100; size++ {
		m.append(fmt.Appendf(nil, "leaf %d", size-1))
		want, err := xtlog.TreeHash(size, HashReader(m))
		if err != nil {
			t.Fatal(err)
		}
		if m.log.Root() != want || m.log.Size() != size {
			t.Fatalf("root of size %d differs", size)
		}
	}
}

func TestAWriterNeedsOnlySizeAndPeaksToGoOn(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		before, after := rapid.IntRange(0, 700).Draw(t, "before"), rapid.IntRange(0, 700).Draw(t, "after")
		whole, first := mustFrontier(t, 0, nil), mustFrontier(t, 0, nil)
		for i := range before {
			first.Append(LeafHash([]byte{byte(i)}), nil)
		}
		second := mustFrontier(t, first.Size(), first.Peaks())
		for i := range after {
			second.Append(LeafHash([]byte{byte(before + i)}), nil)
		}
		for i := range before + after {
			whole.Append(LeafHash([]byte{byte(i)}), nil)
		}
		if whole.Root() != second.Root() || !cmp.Equal(whole.Peaks(), second.Peaks()) {
			t.Fatalf("a log of %d+%d leaves differs from one of %d", before, after, before+after)
		}
		if got, want := len(second.Peaks()), bits.OnesCount64(uint64(before+after)); got != want {
			t.Fatalf("%d peaks, want %d", got, want)
		}
	})
}

func mustFrontier(t interface{ Fatal(...any) }, size int64, peaks []Hash) *Frontier {
	f, err := NewFrontier(size, peaks)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func TestPeaksThatDoNotFitTheSizeAreRefused(t *testing.T) {
	t.Parallel()
	for size, peaks := range map[int64]int{0: 1, 1: 0, 3: 1, 4: 2, -1: 0} {
		if _, err := NewFrontier(size, make([]Hash, peaks)); err == nil {
			t.Errorf("size %d with %d peaks was taken", size, peaks)
		}
	}
}

func TestInclusionProofsHoldForTheReferenceImplementationToo(t *testing.T) {
	t.Parallel()
	m := filled(t, 2_000)
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(1, 2_000).Draw(t, "size")
		n := rapid.Int64Range(0, size-1).Draw(t, "n")
		root, err := xtlog.TreeHash(size, HashReader(m))
		if err != nil {
			t.Fatal(err)
		}
		p, err := ProveInclusion(m, size, n)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckInclusion(p, size, root, n, m.leaves[n]); err != nil {
			t.Fatal(err)
		}
		raw := make([][]byte, len(p))
		for i := range p {
			raw[i] = p[i][:]
		}
		if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(n), uint64(size), m.leaves[n][:], raw, root[:]); err != nil {
			t.Fatal(err)
		}
		if CheckInclusion(p, size, root, n, LeafHash([]byte("another"))) == nil {
			t.Fatal("the proof holds for another leaf")
		}
	})
}

func TestConsistencyProofsHoldForTheReferenceImplementationToo(t *testing.T) {
	t.Parallel()
	m := filled(t, 2_000)
	rapid.Check(t, func(t *rapid.T) {
		newer := rapid.Int64Range(1, 2_000).Draw(t, "newer")
		older := rapid.Int64Range(1, newer).Draw(t, "older")
		newerRoot, err := xtlog.TreeHash(newer, HashReader(m))
		if err != nil {
			t.Fatal(err)
		}
		olderRoot, err := xtlog.TreeHash(older, HashReader(m))
		if err != nil {
			t.Fatal(err)
		}
		p, err := ProveConsistency(m, older, newer)
		if err != nil {
			t.Fatal(err)
		}
		if err := CheckConsistency(p, newer, newerRoot, older, olderRoot); err != nil {
			t.Fatal(err)
		}
		raw := make([][]byte, len(p))
		for i := range p {
			raw[i] = p[i][:]
		}
		if err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(older), uint64(newer), raw, olderRoot[:], newerRoot[:]); err != nil {
			t.Fatal(err)
		}
		if older < newer && CheckConsistency(p, newer, newerRoot, older, newerRoot) == nil {
			t.Fatal("the proof holds for another older root")
		}
	})
}

func TestProofsReadFewLeaves(t *testing.T) {
	t.Parallel()
	m := filled(t, 70_000)
	for _, n := range []int64{0, 255, 256, 32_767, 69_999} {
		m.read = 0
		if _, err := ProveInclusion(m, 70_000, n); err != nil {
			t.Fatal(err)
		}
		if m.read > 2*256 {
			t.Errorf("the proof of leaf %d read %d leaves", n, m.read)
		}
	}
	m.read = 0
	if _, err := ProveConsistency(m, 33_333, 70_000); err != nil {
		t.Fatal(err)
	}
	if m.read > 3*256 {
		t.Errorf("the proof between two sizes read %d leaves", m.read)
	}
}

func TestProofsOfWhatIsNotThereAreRefused(t *testing.T) {
	t.Parallel()
	m := filled(t, 10)
	if _, err := ProveInclusion(m, 10, 10); err == nil {
		t.Error("leaf 10 of 10 was proved")
	}
	if _, err := ProveConsistency(m, 11, 10); err == nil {
		t.Error("a smaller log was proved to extend a bigger one")
	}
	if _, err := ProveInclusion(m, 20, 3); err == nil {
		t.Error("a proof in a log bigger than the store was made")
	}
}

func BenchmarkAppend(b *testing.B) {
	f := mustFrontier(b, 0, nil)
	leaf := LeafHash([]byte("leaf"))
	for b.Loop() {
		f.Append(leaf, nil)
	}
}
