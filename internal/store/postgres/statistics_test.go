package postgres_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
)

// Actions may be many before the first fact comes. Until the table of facts is known to
// be no longer empty, each question to it walks through all of it.
func TestATableThatBeginsToGrowLaterThanOthersIsAnalyzedSoon(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	s := open(t, url)
	if err := s.Do(t.Context(), w, func(tx store.Tx) error {
		for n := range 20_000 {
			tx.Wake(store.Wake{Kind: store.WakeAction, Ref: store.Ref(fmt.Sprint("act_", n))})
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	conn := connect(t, url, insertKinds)
	wake(t, s, w, "act_later")
	awaitRows(t, conn, 5000)
}

// Whoever is analyzed while its rows are not yet committed has pages and no rows.
func TestATableThatWasAnalyzedBeforeItsRowsWereCommittedIsAnalyzedAgain(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	s := open(t, url)
	writer := connect(t, url, "BEGIN", insertKinds)
	conn := connect(t, url)
	wake(t, s, w, "act_first")
	await(t, func() (string, bool) {
		known := count(t, conn, "SELECT relpages FROM pg_class WHERE oid = 'fact_kinds'::regclass")
		return fmt.Sprintf("fact_kinds has %d pages", known), known > 10
	})
	awaitRows(t, conn, 0)
	if _, err := writer.Exec(t.Context(), "COMMIT"); err != nil {
		t.Fatal(err)
	}
	wake(t, s, w, "act_later")
	awaitRows(t, conn, 5000)
}

const insertKinds = "INSERT INTO fact_kinds (workspace_id, source, fact_type) SELECT 'ws_one', 'stripe', 'refund.' || n FROM generate_series(1, 5000) n"

func awaitRows(t *testing.T, conn *pgx.Conn, want int) {
	t.Helper()
	await(t, func() (string, bool) {
		known := count(t, conn, "SELECT reltuples::bigint FROM pg_class WHERE oid = 'fact_kinds'::regclass")
		return fmt.Sprintf("plans are made for %d rows, and %d are there", known, want), known == want
	})
}

func await(t *testing.T, is func() (string, bool)) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	limit := time.After(3 * time.Minute)
	for {
		said, ok := is()
		if ok {
			return
		}
		select {
		case <-again.C:
		case <-limit:
			t.Fatal(said)
		}
	}
}
