package postgres

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
)

const (
	// firstGrowth is after how many rows that this process wrote tables are looked at
	// first; then after twice as many, and so on: a new database grows quickly.
	firstGrowth = 128
	// tendEvery is how often they are looked at besides, if anything was written: one
	// table may only begin to grow when others are large already.
	tendEvery = time.Second
	// tendOn is how often they are looked at after the last row was written: the server
	// tells what became of it up to ten seconds later.
	tendOn = 15
	// tendsTo is how long one look may take.
	tendsTo = time.Minute
)

// growth counts what is written, to find out when tables may have outgrown their
// statistics.
type growth struct {
	rows  atomic.Int64
	next  atomic.Int64
	grown chan struct{} // holds one if it is time to look
}

func newGrowth() *growth {
	g := &growth{grown: make(chan struct{}, 1)}
	g.next.Store(firstGrowth)
	return g
}

// add counts rows that were written.
func (g *growth) add(rows int) {
	n, next := g.rows.Add(int64(rows)), g.next.Load()
	if n < next || !g.next.CompareAndSwap(next, 2*n) {
		return
	}
	select {
	case g.grown <- struct{}{}:
	default:
	}
}

// tend has tables analyzed that are more than twice as large as when they were
// analyzed last. The server does so by itself, but only once a minute; until then
// plans that were made for an empty table walk through a full one.
func (d *driver) tend(ctx context.Context) {
	timer := time.NewTicker(tendEvery)
	defer timer.Stop()
	for seen, looks := int64(0), 0; ; {
		select {
		case <-d.growth.grown:
		case <-timer.C:
		case <-ctx.Done():
			return
		}
		if rows := d.growth.rows.Load(); rows != seen {
			seen, looks = rows, 0
		}
		if looks >= tendOn {
			continue
		}
		if err := d.analyze(ctx); err == nil { // what goes wrong is tried again
			looks++
		}
	}
}

// outgrown asks for the tables that have grown, in pages or in rows. Pages are known
// at once. Rows are told with a delay, and see what pages do not: a table that was
// analyzed in the midst of a large transaction has all of its pages, and no row.
const outgrown = `SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
	AND (pg_relation_size(oid) > 2 * current_setting('block_size')::bigint * relpages
		OR pg_stat_get_live_tuples(oid) > 2 * greatest(reltuples, $1))`

func (d *driver) analyze(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tendsTo)
	defer cancel()
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, outgrown, firstGrowth)
		if err != nil {
			return err
		}
		tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
		if err != nil || len(tables) == 0 {
			return err
		}
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
}
