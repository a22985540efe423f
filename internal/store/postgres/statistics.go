package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// tendEvery is how often statistics are looked at while tables grow fast, and
	// tendRarely how often later on.
	tendEvery, tendRarely = 2 * time.Second, time.Minute
	// tendsTo is how long one look may take.
	tendsTo = time.Minute
)

// tend has tables that have grown to a multiple of what their statistics tell
// analyzed at once. The server does it by itself, but only once a minute; until
// then plans that were made for an empty table walk through a full one.
func (d *driver) tend(ctx context.Context) {
	next := tendEvery
	for {
		timer := time.NewTimer(next)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		if d.analyze(ctx) {
			next = tendEvery
		} else {
			next = min(2*next, tendRarely)
		}
	}
}

// outgrown are the tables of which half or more came since they were analyzed last.
const outgrown = `SELECT s.relname FROM pg_stat_user_tables s JOIN pg_class c ON c.oid = s.relid
	WHERE s.schemaname = current_schema() AND s.n_mod_since_analyze > 300 AND s.n_mod_since_analyze > c.reltuples`

// analyze says whether there was something to do. What goes wrong is tried again.
func (d *driver) analyze(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, tendsTo)
	defer cancel()
	found := false
	_ = pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, outgrown)
		if err != nil {
			return err
		}
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(tables) == 0 {
			return err
		}
		found = true
		// Only its owner may analyze a table.
		if _, err := tx.Exec(ctx, "SET LOCAL ROLE NONE"); err != nil {
			return err
		}
		for _, t := range tables {
			if _, err := tx.Exec(ctx, "ANALYZE "+pgx.Identifier{t}.Sanitize()); err != nil {
				return err
			}
		}
		return nil
	})
	return found
}
