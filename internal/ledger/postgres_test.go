package ledger_test

import (
	"sync"
	"testing"

	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// onPostgres is a book on a database with other instances beside it.
func onPostgres(t *testing.T, others int) (*book, []store.Store) {
	t.Helper()
	b := &book{t: t}
	b.now.Store(int64(noon))
	url := pgtest.Start(t).Database(t)
	var stores []store.Store
	for range others + 1 {
		s, err := postgres.Open(t.Context(), url, sqlstore.WithClock(b.clock))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		})
		stores = append(stores, s)
	}
	return b.on(stores[0]), stores[1:]
}

// Instances number one ledger at once, from the very first leaf, while leaves are
// written: there is one key, and no gap.
func TestOnPostgresManySequencersLeaveNoGap(t *testing.T) {
	t.Parallel()
	b, others := onPostgres(t, 2)
	var writing, numbering sync.WaitGroup
	const writers, each = 3, 40
	stop := make(chan struct{})
	for _, s := range others {
		numbering.Go(func() {
			for {
				if _, err := ledger.New(s, b.vault).Sequence(t.Context(), acme); err != nil {
					t.Error(err)
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for w := range writers {
		writing.Go(func() {
			for i := range each {
				b.write(acme, w*each+i, 1)
			}
		})
	}
	writing.Wait()
	close(stop)
	numbering.Wait()
	b.sequence(acme)
	report, err := b.Verify(t.Context(), acme)
	if err != nil || report.Leaves != writers*each || !report.OK() {
		t.Errorf("%+v, %v", report, err)
	}
}

func TestOnPostgresAWorkspaceThatNobodyTouchedAgrees(t *testing.T) {
	t.Parallel()
	b, _ := onPostgres(t, 0)
	b.fill()
	got, err := b.Verify(t.Context(), acme)
	if err != nil || !got.OK() || got.Verdicts != 2 || got.AuditRows != 5 {
		t.Errorf("%+v, %v", got, err)
	}
}
