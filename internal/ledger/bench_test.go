package ledger_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/vault"
)

func benchBook(b *testing.B, workspaces int) (store.Store, *ledger.Service) {
	b.Helper()
	s, err := sqlite.Open(b.Context(), b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	for i := range workspaces {
		id := access.WorkspaceID(fmt.Sprint("ws_", i))
		w := store.Workspace{Workspace: access.Workspace{ID: id}, Name: string(id), Plan: "default", CreatedAt: noon}
		link := store.SignIn{Hash: store.TokenHash{byte(i), byte(i >> 8)}, Workspace: id, Member: "per_a", ExpiresAt: noon}
		if _, err := s.Directory().CreateWorkspace(b.Context(), w, store.Person{ID: "per_a", Email: "a@example.com", CreatedAt: noon}, link, false); err != nil {
			b.Fatal(err)
		}
	}
	v, err := vault.LoadOrMake(filepath.Join(b.TempDir(), "secret"))
	if err != nil {
		b.Fatal(err)
	}
	return s, ledger.New(s, v)
}

// What a look costs where nothing is to be numbered, for each workspace.
func BenchmarkIdleLook(b *testing.B) {
	const workspaces = 100
	_, l := benchBook(b, workspaces)
	for b.Loop() {
		if _, err := l.SequenceAll(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/workspaces, "µs/workspace")
}

// How fast leaves get their numbers.
func BenchmarkSequence(b *testing.B) {
	s, l := benchBook(b, 1)
	n := 0
	for b.Loop() {
		b.StopTimer()
		err := s.Do(b.Context(), "ws_0", func(tx store.Tx) error {
			for range 1000 {
				tx.AddLeaf(plainLeaf(n, tx.Now()))
				n++
			}
			return nil
		})
		if err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
		if _, err := l.Sequence(b.Context(), "ws_0"); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "leaves/s")
}
