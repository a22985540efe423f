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
	for seen := int64(0); ; {
		select {
		case <-d.growth.grown:
		case <-timer.C:
			if d.growth.rows.Load() == seen {
				continue
			}
		case <-ctx.Done():
			return
		}
		rows := d.growth.rows.Load()
		if err := d.analyze(ctx); err == nil { // what goes wrong is tried again
			seen = rows
		}
	}
}

const outgrown = `SELECT relname FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
	AND pg_relation_size(oid) > 2 * current_setting('block_size')::bigint * relpages`

func (d *driver) analyze(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, tendsTo)
	defer cancel()
	return pgx.BeginFunc(ctx, d.pool, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, outgrown)
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
