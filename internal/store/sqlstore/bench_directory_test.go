package sqlstore_test

import (
	"fmt"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/conformance"
	"github.com/deed-dev/deed/internal/tlog"
)

// BenchmarkKeyByPrefix is what letting one request in asks of the database.
func BenchmarkKeyByPrefix(b *testing.B) {
	for _, on := range benched {
		b.Run(on.name, func(b *testing.B) {
			s := on.open(b)
			id := conformance.Furnish(b, s, 1)
			var prefix access.Prefix
			err := s.View(b.Context(), id, func(tx store.Tx) error {
				keys, err := tx.ListKeys()
				if err == nil {
					prefix = keys[0].Prefix
				}
				return err
			})
			if err != nil {
				b.Fatal(err)
			}
			for _, units := range []int{1, 8} {
				b.Run(fmt.Sprintf("units=%d", units), func(b *testing.B) {
					share(b, units, 1, func(int, int) {
						if _, _, err := s.Directory().KeyByPrefix(b.Context(), prefix); err != nil {
							b.Error(err)
						}
					})
				})
			}
		})
	}
}

// BenchmarkSequence numbers leaves a thousand at a time.
func BenchmarkSequence(b *testing.B) {
	const batch = 1000
	for _, on := range benched {
		b.Run(on.name, func(b *testing.B) {
			s := on.open(b)
			for n := 0; n < b.N; n += batch {
				b.StopTimer()
				do(b, s, func(tx store.Tx) error {
					for i := range batch {
						tx.AddLeaf(store.Leaf{Kind: "declaration", Object: string(refOf(n + i)), Digest: fmt.Sprintf("sha256:%064d", n+i), At: noon})
					}
					return nil
				})
				b.StartTimer()
				do(b, s, func(tx store.Tx) error {
					state, err := tx.LockLedger()
					if err != nil {
						return err
					}
					leaves, err := tx.Unsequenced(batch)
					if err != nil {
						return err
					}
					for i := range leaves {
						leaves[i].Number = state.Size
						state.Size++
					}
					tx.Sequence(leaves, []tlog.Node{{Level: tlog.StoredLevel, Index: state.Size}}, state)
					return nil
				})
			}
		})
	}
}
