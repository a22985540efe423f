package conformance

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/tlog"
)

var ledgerLaws = []law{
	{"a ledger begins empty", beginsEmpty},
	{"leaves get the numbers they are given, and come back by number and digest", numbered},
	{"the state of a ledger comes back as it was kept", stateReturns},
	{"whoever numbers at the same time as others, no number is left out or given twice", numberedAtOnce},
	{"a unit that locks the ledger waits until the one before it has ended", ledgerWaits},
	{"leaves are written while somebody numbers", writtenMeanwhile},
	{"stored hashes come back by level and place", nodesReturn},
	{"a secret is kept and replaced", secrets},
}

func beginsEmpty(t *testing.T, s *suite) {
	p := s.workspace(t)
	for name, read := range map[string]func(store.Tx) (store.LedgerState, error){
		"without a lock": store.Tx.LedgerState, "with one": store.Tx.LockLedger,
	} {
		p.do(t, func(tx store.Tx) error {
			got, err := read(tx)
			if got.Size != 0 || len(got.Peaks) != 0 || len(got.Checkpoint) != 0 {
				t.Errorf("%s it is %+v", name, got)
			}
			return err
		})
	}
}

func unsequenced(t testing.TB, p place, n int) []store.Leaf {
	t.Helper()
	return look(t, p, func(tx store.Tx) ([]store.Leaf, error) { return tx.Unsequenced(n) })
}

func numbered(t *testing.T, s *suite) {
	p := s.workspace(t)
	f := &furnished{place: p}
	const n = 12
	p.keep(t, func(tx store.Tx) { tx.AddLeaf(leaf(0), leaf(1)); tx.AddLeaf(leaf(2)) })
	for i := 3; i < n; i++ {
		p.keep(t, func(tx store.Tx) { tx.AddLeaf(leaf(i)) })
	}
	waiting := unsequenced(t, p, 100)
	if len(waiting) != n {
		t.Fatalf("%d wait, want %d", len(waiting), n)
	}
	for i, l := range waiting {
		if i > 0 && l.ID <= waiting[i-1].ID {
			t.Errorf("after %d comes %d", waiting[i-1].ID, l.ID)
		}
		l.ID = 0
		if l != leaf(i) {
			t.Errorf("the %d. is %+v, want %+v", i, l, leaf(i))
		}
	}
	for _, left := range []int{n - 5, n - 10, n - 12, 0} {
		f.sequence(t, 5)
		if got := unsequenced(t, p, 100); len(got) != left {
			t.Errorf("%d wait, want %d", len(got), left)
		}
	}
	for _, part := range [][2]int64{{0, n}, {0, 5}, {5, 6}, {3, 100}, {n, 100}, {4, 4}} {
		got := look(t, p, func(tx store.Tx) ([]store.Leaf, error) { return tx.Leaves(part[0], part[1]) })
		var want []store.Leaf
		for i := part[0]; i < min(part[1], n); i++ {
			l := leaf(int(i))
			l.Number, l.ID = i, waiting[i].ID
			want = append(want, l)
		}
		if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
			t.Errorf("of %v there are %+v, want %+v", part, got, want)
		}
	}
	p.keep(t, func(tx store.Tx) { tx.AddLeaf(leaf(n)) })
	got := look(t, p, func(tx store.Tx) (*store.Leaf, error) { return tx.LeafOf(leaf(7).Digest) })
	if got.Number != 7 || got.Object != leaf(7).Object {
		t.Errorf("the seventh is %+v", got)
	}
	for what, digest := range map[string]string{"one that has no number yet": leaf(n).Digest, "one that is not there": leaf(99).Digest} {
		err := p.store.View(background(t), p.id, func(tx store.Tx) error { return second(tx.LeafOf(digest)) })
		if !errors.Is(err, store.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func stateReturns(t *testing.T, s *suite) {
	p := s.workspace(t)
	frontier, err := tlog.NewFrontier(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 8; n++ {
		frontier.Append(tlog.LeafHash(fmt.Append(nil, n)), nil)
		want := store.LedgerState{Size: frontier.Size(), Peaks: frontier.Peaks(), Checkpoint: fmt.Appendf(nil, "deed.example\n%d\n\n— sig\n", n)}
		p.do(t, func(tx store.Tx) error {
			if _, err := tx.LockLedger(); err != nil {
				return err
			}
			tx.Sequence(nil, nil, want)
			return nil
		})
		got := look(t, p, func(tx store.Tx) (store.LedgerState, error) { return tx.LedgerState() })
		if !reflect.DeepEqual(got, want) {
			t.Errorf("it is %+v, want %+v", got, want)
		}
		p.do(t, func(tx store.Tx) error {
			locked, err := tx.LockLedger()
			if !reflect.DeepEqual(locked, want) {
				t.Errorf("locked it is %+v, want %+v", locked, want)
			}
			return err
		})
	}
}

func numberedAtOnce(t *testing.T, s *suite) {
	p := s.workspace(t)
	const writers, each, sequencers = 6, 10, 3
	var written atomic.Int64
	together(t, writers+sequencers, func(i int) error {
		if i < writers {
			for n := range each {
				err := p.try(t, func(tx store.Tx) error {
					tx.AddLeaf(leaf(i*each + n))
					return nil
				})
				if err != nil {
					return err
				}
				written.Add(1)
			}
			return nil
		}
		for {
			all := written.Load() == writers*each
			if err := p.try(t, func(tx store.Tx) error { return number(tx, 7) }); err != nil {
				return err
			}
			if all && len(unsequenced(t, p, 1)) == 0 {
				return nil
			}
		}
	})
	leaves := look(t, p, func(tx store.Tx) ([]store.Leaf, error) { return tx.Leaves(0, 1000) })
	var objects []string
	for i, l := range leaves {
		if l.Number != int64(i) {
			t.Errorf("in the place %d is %d", i, l.Number)
		}
		objects = append(objects, l.Object)
	}
	slices.Sort(objects)
	if n := len(slices.Compact(objects)); len(leaves) != writers*each || n != writers*each {
		t.Errorf("%d are numbered and %d differ, want %d", len(leaves), n, writers*each)
	}
	if got := look(t, p, func(tx store.Tx) (store.LedgerState, error) { return tx.LedgerState() }); got.Size != writers*each {
		t.Errorf("the size is %d", got.Size)
	}
}

func ledgerWaits(t *testing.T, s *suite) {
	p := s.workspace(t)
	f := &furnished{place: p}
	f.sequence(t, 0)
	waits(t, p, func(tx store.Tx) error {
		_, err := tx.LockLedger()
		return err
	})
}

func writtenMeanwhile(t *testing.T, s *suite) {
	if s.store.Name() == "sqlite" {
		return // its units run one after the other
	}
	p := s.workspace(t)
	p.do(t, func(tx store.Tx) error {
		if _, err := tx.LockLedger(); err != nil {
			return err
		}
		declare(t, p, action(1))
		return p.try(t, func(other store.Tx) error {
			other.AddLeaf(leaf(1))
			other.CountDeclared("2026-11", 1)
			return nil
		})
	})
	if got := unsequenced(t, p, 10); len(got) != 1 {
		t.Errorf("there are %d", len(got))
	}
}

func nodesReturn(t *testing.T, s *suite) {
	p := s.workspace(t)
	hash := func(level int, index int64) tlog.Hash { return tlog.LeafHash(fmt.Append(nil, level, index)) }
	for _, level := range []int{tlog.StoredLevel, tlog.StoredLevel + 1} {
		var nodes []tlog.Node
		for i := range int64(12) {
			nodes = append(nodes, tlog.Node{Level: level, Index: i, Hash: hash(level, i)})
		}
		p.keep(t, func(tx store.Tx) { tx.Sequence(nil, nodes, store.LedgerState{Size: 1, Peaks: []tlog.Hash{hash(0, 0)}}) })
	}
	for _, part := range [][2]int64{{0, 12}, {3, 5}, {11, 100}, {12, 13}} {
		got := look(t, p, func(tx store.Tx) ([]tlog.Hash, error) { return tx.Nodes(tlog.StoredLevel+1, part[0], part[1]) })
		var want []tlog.Hash
		for i := part[0]; i < min(part[1], 12); i++ {
			want = append(want, hash(tlog.StoredLevel+1, i))
		}
		if !slices.Equal(got, want) {
			t.Errorf("of %v there are %v, want %v", part, got, want)
		}
	}
	if got := look(t, p, func(tx store.Tx) ([]tlog.Hash, error) { return tx.Nodes(tlog.StoredLevel+2, 0, 10) }); len(got) != 0 {
		t.Errorf("above there are %v", got)
	}
}

func secrets(t *testing.T, s *suite) {
	p := s.workspace(t)
	get := func(name string) ([]byte, error) {
		var sealed []byte
		err := p.store.View(background(t), p.id, func(tx store.Tx) (err error) {
			sealed, err = tx.Secret(name)
			return err
		})
		return sealed, err
	}
	if _, err := get("signer"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("before it is kept: %v", err)
	}
	for _, want := range []string{"sealed \x00\xff", "another"} {
		p.keep(t, func(tx store.Tx) { tx.PutSecret("signer", []byte(want)); tx.PutSecret("other", []byte("o")) })
		if got, err := get("signer"); string(got) != want || err != nil {
			t.Errorf("it is %q, %v, want %q", got, err, want)
		}
	}
	if got, err := get("other"); string(got) != "o" || err != nil {
		t.Errorf("the other is %q, %v", got, err)
	}
}
