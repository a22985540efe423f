package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"sync"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

// driver is the database of one folder.
type driver struct {
	db      *sql.DB
	lock    *os.File
	writer  chan *connection // holds the one that writes while nobody does
	readers chan *connection
	opened  map[chan *connection]int // how many connections have a home there
	written value.Instant            // the latest time in it when it was opened to be served

	once  sync.Once
	ended chan struct{}
}

// connection keeps what it has prepared.
type connection struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
	home     chan *connection
}

var errClosed = &store.UnavailableError{Err: errors.New("the store is closed")}

func (d *driver) connect(ctx context.Context, home chan *connection) error {
	conn, err := d.db.Conn(ctx)
	if err != nil {
		return err
	}
	if d.opened == nil {
		d.opened = map[chan *connection]int{}
	}
	d.opened[home]++
	home <- &connection{conn: conn, prepared: map[string]*sql.Stmt{}, home: home}
	return nil
}

// Name implements [sqlstore.Driver].
func (d *driver) Name() string { return "sqlite" }

// Dialect implements [sqlstore.Driver].
func (d *driver) Dialect() sqlstore.Dialect { return sqlstore.SQLite }

// Serial implements [sqlstore.Driver].
func (d *driver) Serial() bool { return true }

// Told implements [sqlstore.Driver]: there is no other process.
func (d *driver) Told() <-chan access.WorkspaceID { return nil }

// Tell implements [sqlstore.Driver].
func (d *driver) Tell(context.Context, []access.WorkspaceID) error { return nil }

// Begin implements [sqlstore.Driver]. Whoever waits for the connection that writes
// gets it in the order of coming.
func (d *driver) Begin(ctx context.Context, o sqlstore.SessionOptions) (sqlstore.Session, error) {
	from, begin := d.writer, "BEGIN IMMEDIATE"
	if o.ReadOnly {
		from, begin = d.readers, "BEGIN"
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	select {
	case <-d.ended:
		return nil, errClosed
	default:
	}
	select {
	case c := <-from:
		s := &session{connection: c}
		if err := s.run(ctx, begin, nil, nil); err != nil {
			c.home <- c
			return nil, kind(ctx, err)
		}
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-d.ended:
		return nil, errClosed
	}
}

// Ping implements [sqlstore.Driver].
func (d *driver) Ping(ctx context.Context) error {
	s, err := d.Begin(ctx, sqlstore.SessionOptions{ReadOnly: true})
	if err != nil {
		return err
	}
	s.Rollback()
	return nil
}

// Times implements [sqlstore.Driver]: SQLite has no clock of its own.
func (d *driver) Times() (written, clock value.Instant) { return d.written, 0 }

// latest is the latest time among the rows that were written last. Leaves stand for
// declarations, verdicts and contracts. The tally that stands last may be an older one
// that was added up, which is why several are looked at.
const latest = `SELECT max(at) FROM (
	SELECT COALESCE((SELECT at FROM leaves ORDER BY id DESC LIMIT 1), 0) AS at
	UNION ALL SELECT COALESCE((SELECT at FROM audit_entries ORDER BY id DESC LIMIT 1), 0)
	UNION ALL SELECT COALESCE((SELECT max(last_at) FROM (SELECT last_at FROM source_tallies ORDER BY id DESC LIMIT 64)), 0))`

// Close implements [sqlstore.Driver]. It waits for the sessions that are open, and
// ends as well where opening broke off half way.
func (d *driver) Close() error {
	var err error
	d.once.Do(func() {
		close(d.ended)
		if d.db != nil {
			d.drain(d.writer)
			d.drain(d.readers)
			err = d.db.Close()
		}
		err = errors.Join(err, d.lock.Close())
	})
	return err
}

func (d *driver) drain(home chan *connection) {
	for range d.opened[home] {
		c := <-home
		for _, s := range c.prepared {
			_ = s.Close() // closed with the connection in any case
		}
		_ = c.conn.Close()
	}
}
