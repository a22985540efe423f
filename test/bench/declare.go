package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// measureServer times declarations over HTTP beside plain inserts into the same
// database, in turns.
func measureServer(ctx context.Context, b *bench) (*section, error) {
	s := &section{
		title:  "Declared actions, beside single-row inserts",
		header: []string{"Database", "Way", "Clients", "n", "A second", "To the inserts", "Median", "p99", "On the processor, each"},
	}
	if b.deed == "" {
		s.remark("Nothing is measured without deed.")
		return s, nil
	}
	b.onBoth(ctx, s, b.declareOn)
	s.remark("The inserts are of rows of the same size into one table with a primary key and no other index: for PostgreSQL by `pgbench -M prepared` " +
		"with as many clients, for SQLite by one loop that commits each row with `synchronous=full`. Of Deed, what counts is the answer 201: the action, its verdict under nine " +
		"checks and two rolling limits, and its wakes are durable then. It evaluates what it was told beside that. Time on the processor is that of the database and of Deed, without the clients.")
	return s, nil
}

// onBoth measures on both databases. What fails on one says so and does not keep the
// other from being measured.
func (b *bench) onBoth(ctx context.Context, s *section, take func(context.Context, *section, serving) error) {
	for _, name := range []string{onSQLite, onPostgres} {
		if b.on != "" && !strings.EqualFold(b.on, name) {
			continue
		}
		if err := b.onOne(ctx, s, name, take); err != nil {
			s.fail("on %s: %v", name, err)
		}
	}
}

func (b *bench) onOne(ctx context.Context, s *section, name string, take func(context.Context, *section, serving) error) error {
	folder, err := os.MkdirTemp(b.dir, "serve-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	where := serving{name: name, folder: folder}
	if name == onPostgres {
		if where.base, err = b.newDatabase(ctx); err != nil {
			return err
		}
		defer func() { _ = where.base.drop(context.WithoutCancel(ctx)) }()
	}
	return take(ctx, s, where)
}

// contest is ways that take turns, and what each of them came to.
type contest struct {
	ways    []string
	clients []int
	turn    []func(span time.Duration) (crowding, error)
	cost    []func() time.Duration // on the processor so far
	total   []crowding
	spent   []time.Duration
}

func (c *contest) enter(way string, clients int, cost func() time.Duration, turn func(time.Duration) (crowding, error)) {
	c.ways, c.clients = append(c.ways, way), append(c.clients, clients)
	c.turn, c.cost = append(c.turn, turn), append(c.cost, cost)
	c.total, c.spent = append(c.total, crowding{}), append(c.spent, 0)
}

// run gives each way its turns, after a short one that does not count.
func (c *contest) run(turns int, span time.Duration) error {
	for turn := 0; turn <= turns; turn++ {
		for _, i := range rotate(len(c.ways), turn) {
			length := span
			if turn == 0 {
				length = max(span/5, time.Second)
			}
			before := c.cost[i]()
			done, err := c.turn[i](length)
			if err != nil {
				return fmt.Errorf("%s: %w", c.ways[i], err)
			}
			if turn > 0 {
				c.total[i].add(done)
				c.spent[i] += c.cost[i]() - before
			}
		}
	}
	return nil
}

// rows prints the ways, compared to the first of them.
func (c *contest) rows(s *section, database string) {
	for i, way := range c.ways {
		t := &c.total[i]
		each := "–"
		if t.done > 0 && c.spent[i] > 0 {
			each = micros(c.spent[i] / time.Duration(t.done))
		}
		s.row(database, way, fmt.Sprint(c.clients[i]), fmt.Sprint(t.done), perSecond(t.perSecond()), ratio(t.perSecond(), c.total[0].perSecond()),
			millis(t.answers.median()), millis(t.answers.p99()), each)
	}
}

func (b *bench) declareOn(ctx context.Context, s *section, where serving) error {
	site, err := b.open(ctx, where)
	if err != nil {
		return err
	}
	defer site.end(s)
	var r refunds
	c := &contest{}
	inserts, done, err := b.enterInserts(ctx, c, where, site)
	if err != nil {
		return err
	}
	defer done()
	for _, clients := range []int{b.dose.clients, 4 * b.dose.clients} {
		if err := site.enterDeclarers(ctx, c, &r, clients); err != nil {
			return err
		}
	}
	if err := site.enterBatches(ctx, c, &r, 100); err != nil {
		return err
	}
	if err := c.run(b.dose.turns, b.dose.turn); err != nil {
		return err
	}
	c.rows(s, where.name)
	got, to := c.total[1].perSecond(), c.total[0].perSecond()
	s.figures = append(s.figures, figure{
		what: fmt.Sprintf("declared actions a second on %s with %d clients, to %s", where.name, b.dose.clients, inserts), target: targetOf(where),
		value: fmt.Sprintf("%s (%s to %s)", ratio(got, to), perSecond(got), perSecond(to)), met: got >= to/2,
	})
	return nil
}

// targetOf is what is promised: for PostgreSQL only, and said of SQLite too.
func targetOf(serving) string { return "≥ 0.5×" }

// enterInserts enters the alternative: what the database does by itself.
func (b *bench) enterInserts(ctx context.Context, c *contest, where serving, site *site) (name string, done func(), err error) {
	if where.base == nil {
		bare, err := openBareSQLite(ctx, filepath.Join(where.folder, "bare.db"))
		if err != nil {
			return "", nil, err
		}
		c.enter("single-row inserts", 1, func() time.Duration { return 0 }, func(span time.Duration) (crowding, error) {
			return crowdOf(ctx, 1, span, 1, func(int) error { return bare.one(ctx) })
		})
		return "single-row inserts", func() { bare.db.Close() }, nil
	}
	plain, err := b.newDatabase(ctx)
	if err != nil {
		return "", nil, err
	}
	if err := execute(ctx, plain.url, fmt.Sprintf(plainRow, "BIGSERIAL PRIMARY KEY", "TEXT")); err != nil {
		return "", nil, err
	}
	c.enter("pgbench, single-row inserts", b.dose.clients, plain.spent, func(span time.Duration) (crowding, error) {
		return plain.pgbench(ctx, where.folder, b.dose.clients, span)
	})
	return "pgbench", func() { _ = plain.drop(context.WithoutCancel(ctx)) }, nil
}

// enterDeclarers enters clients that declare one action after the other.
func (s *site) enterDeclarers(ctx context.Context, c *contest, r *refunds, clients int) error {
	bodies := make([][]byte, clients)
	c.enter("deed, one action a request", clients, s.spent, func(span time.Duration) (crowding, error) {
		peers, done, err := s.dialAll(clients, s.agent)
		if err != nil {
			return crowding{}, err
		}
		defer done()
		return crowdOf(ctx, clients, span, 1, func(client int) error {
			bodies[client], _ = r.declaration(bodies[client][:0])
			_, err := peers[client].must(http.StatusCreated, http.MethodPost, "/v1/actions", bodies[client])
			return err
		})
	})
	return nil
}

// enterBatches enters clients that declare many actions with each request.
func (s *site) enterBatches(ctx context.Context, c *contest, r *refunds, size int) error {
	const clients = 4
	bodies := make([][]byte, clients)
	c.enter(fmt.Sprintf("deed, %d actions a request", size), clients, s.spent, func(span time.Duration) (crowding, error) {
		peers, done, err := s.dialAll(clients, s.agent)
		if err != nil {
			return crowding{}, err
		}
		defer done()
		return crowdOf(ctx, clients, span, int64(size), func(client int) error {
			bodies[client] = r.batch(bodies[client][:0], size)
			_, err := peers[client].must(http.StatusOK, http.MethodPost, "/v1/actions:batch", bodies[client])
			return err
		})
	})
	return nil
}

// spent is the time on the processor of the server, and of its PostgreSQL.
func (s *site) spent() time.Duration {
	total := spent(s.cmd.Process.Pid)
	if s.base != nil {
		total += s.base.spent()
	}
	return total
}

// end closes the server; one that does not end well is told of.
func (s *site) end(to *section) {
	if err := s.close(); err != nil {
		to.fail("on %s: %v", s.name, err)
	}
}
