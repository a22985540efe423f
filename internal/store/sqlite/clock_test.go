package sqlite

import (
	"testing"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

func TestTheLatestTimeIsFoundWhateverWasWrittenLast(t *testing.T) {
	t.Parallel()
	const noon, later = value.Instant(1_000_000_000), value.Instant(1_000_000_001)
	for name, write := range map[string]func(store.Tx) error{
		"an audit entry": func(tx store.Tx) error {
			tx.Audit(store.AuditEntry{At: tx.Now(), Actor: "ada@example.com", Event: "key.created", Object: "key_1", Metadata: []byte("{}")})
			return nil
		},
		"a leaf": func(tx store.Tx) error {
			tx.AddLeaf(store.Leaf{Kind: "declaration", Object: "act_1/1", Digest: "sha256:00", At: tx.Now(), Number: -1})
			return nil
		},
		"a fact": func(tx store.Tx) error {
			f := store.Fact{By: "ada@example.com"}
			f.Source, f.ExternalID, f.Type = "stripe", "re_1", "refund.succeeded"
			f.OccurredAt = noon
			_, err := tx.AddFacts([]store.Fact{f})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, clock := t.TempDir(), noon
			now := func() value.Instant { return clock }
			s, err := Open(t.Context(), folder, sqlstore.WithClock(now))
			if err != nil {
				t.Fatal(err)
			}
			err = s.Do(t.Context(), workspace, func(tx store.Tx) error {
				source := store.SourceState{CreatedBy: "ada@example.com"}
				source.Name, source.Trust = "stripe", evidence.Asserted
				tx.PutSource(source)
				tx.Audit(store.AuditEntry{At: tx.Now(), Actor: "ada@example.com", Event: "source.created", Object: "stripe", Metadata: []byte("{}")})
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			clock = later
			if err := s.Do(t.Context(), workspace, write); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			clock = noon
			again, err := Open(t.Context(), folder, sqlstore.WithClock(now))
			if err != nil {
				t.Fatal(err)
			}
			defer again.Close()
			err = again.View(t.Context(), workspace, func(tx store.Tx) error {
				if tx.Now() != later {
					t.Errorf("time goes on from %d, want %d", tx.Now(), later)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
	}
}
