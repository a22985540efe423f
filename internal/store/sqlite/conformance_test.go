package sqlite_test

import (
	"testing"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/conformance"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

func TestSQLiteKeepsWhatAStorePromises(t *testing.T) {
	t.Parallel()
	conformance.Run(t, func(tb testing.TB, clock func() value.Instant) store.Store {
		tb.Helper()
		s, err := sqlite.Open(tb.Context(), tb.TempDir(), sqlstore.WithClock(clock))
		if err != nil {
			tb.Fatal(err)
		}
		tb.Cleanup(func() {
			if err := s.Close(); err != nil {
				tb.Error(err)
			}
		})
		return s
	})
}
