package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5"
)

// factsInBatch is as many as one request may tell.
const factsInBatch = 1000

// measureFacts times facts in batches beside the same number of rows in one
// transaction.
func measureFacts(ctx context.Context, b *bench) (*section, error) {
	s := &section{
		title:  "Facts in batches, beside batches of rows",
		header: []string{"Database", "Way", "Clients", "n", "A second", "To the rows", "Median", "p99", "On the processor, each"},
	}
	if b.deed == "" {
		s.remark("Nothing is measured without deed.")
		return s, nil
	}
	b.onBoth(ctx, s, b.factsOn)
	s.remark("A batch has %d. The rows are those of the declared actions, written with COPY on PostgreSQL and in one transaction on SQLite. No action waits for these facts, so that "+
		"what is measured is taking them in: they are kept with three keys to be found by, and whoever evaluates looks for their actions beside that.", factsInBatch)
	return s, nil
}

func (b *bench) factsOn(ctx context.Context, s *section, where serving) error {
	site, err := b.open(ctx, where)
	if err != nil {
		return err
	}
	defer site.end(s)
	var r refunds
	c := &contest{}
	done, err := b.enterRows(ctx, c, where)
	if err != nil {
		return err
	}
	defer done()
	for _, clients := range []int{1, 2} {
		site.enterTellers(ctx, c, &r, clients)
	}
	if err := c.run(b.dose.turns, b.dose.turn); err != nil {
		return err
	}
	c.rows(s, where.name)
	best := max(c.total[1].perSecond(), c.total[2].perSecond())
	s.figures = append(s.figures, figure{
		what: "facts a second in batches, on " + where.name, target: "≥ 15,000",
		value: fmt.Sprintf("%s (rows: %s)", perSecond(best), perSecond(c.total[0].perSecond())), met: best >= 15_000,
	})
	return nil
}

// enterRows enters the alternative: as many rows with one commit.
func (b *bench) enterRows(ctx context.Context, c *contest, where serving) (done func(), err error) {
	if where.base == nil {
		bare, err := openBareSQLite(ctx, filepath.Join(where.folder, "bare.db"))
		if err != nil {
			return nil, err
		}
		c.enter(fmt.Sprintf("%d rows a transaction", factsInBatch), 1, func() time.Duration { return 0 }, func(span time.Duration) (crowding, error) {
			return crowdOf(ctx, 1, span, factsInBatch, func(int) error { return bare.many(ctx, factsInBatch) })
		})
		return func() { bare.db.Close() }, nil
	}
	plain, err := b.newDatabase(ctx)
	if err != nil {
		return nil, err
	}
	if err := execute(ctx, plain.url, fmt.Sprintf(plainRow, "BIGSERIAL PRIMARY KEY", "TEXT")); err != nil {
		return nil, err
	}
	conn, err := pgx.Connect(ctx, plain.url)
	if err != nil {
		return nil, err
	}
	next := int64(0)
	c.enter(fmt.Sprintf("COPY of %d rows", factsInBatch), 1, plain.spent, func(span time.Duration) (crowding, error) {
		return crowdOf(ctx, 1, span, factsInBatch, func(int) error {
			next += factsInBatch
			return copyIn(ctx, conn, next, factsInBatch)
		})
	})
	return func() {
		conn.Close(context.WithoutCancel(ctx))
		_ = plain.drop(context.WithoutCancel(ctx))
	}, nil
}

// enterTellers enters clients that tell facts.
func (s *site) enterTellers(ctx context.Context, c *contest, r *refunds, clients int) {
	bodies := make([][]byte, clients)
	c.enter("deed, POST /v1/facts", clients, s.spent, func(span time.Duration) (crowding, error) {
		peers, done, err := s.dialAll(clients, s.stripe)
		if err != nil {
			return crowding{}, err
		}
		defer done()
		return crowdOf(ctx, clients, span, factsInBatch, func(client int) error {
			first := r.next.Add(factsInBatch) - factsInBatch + 1
			bodies[client] = facts(bodies[client][:0], "succeeded", first, factsInBatch, time.Now())
			_, err := peers[client].must(http.StatusOK, http.MethodPost, "/v1/facts", bodies[client])
			return err
		})
	})
}
