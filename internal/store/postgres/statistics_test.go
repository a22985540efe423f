package postgres_test

import (
	"fmt"
	"testing"
	"time"

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
	conn := connect(t, url, "INSERT INTO fact_kinds (workspace_id, source, fact_type) SELECT 'ws_one', 'stripe', 'refund.' || n FROM generate_series(1, 5000) n")
	wake(t, s, w, "act_later")
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	limit := time.After(30 * time.Second)
	for {
		known := count(t, conn, "SELECT reltuples::bigint FROM pg_class WHERE oid = 'fact_kinds'::regclass")
		if known >= 5000 {
			return
		}
		select {
		case <-again.C:
		case <-limit:
			t.Fatalf("plans are made for %d rows, and 5000 are there", known)
		}
	}
}
