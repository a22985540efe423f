package postgres

import (
	"context"
	"strings"
	"sync"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

// driver is one database.
type driver struct {
	pool *pgxpool.Pool
	me   string // names this process among those that tell each other
	told chan access.WorkspaceID

	growth *growth

	written, clock value.Instant // when it was opened
	overview       bool          // there is a role that may look over all workspaces

	stop context.CancelFunc
	done sync.WaitGroup
}

// Name implements [sqlstore.Driver].
func (d *driver) Name() string { return "postgres" }

// Dialect implements [sqlstore.Driver].
func (d *driver) Dialect() sqlstore.Dialect { return sqlstore.Postgres }

// Serial implements [sqlstore.Driver].
func (d *driver) Serial() bool { return false }

// Told implements [sqlstore.Driver].
func (d *driver) Told() <-chan access.WorkspaceID { return d.told }

// Begin implements [sqlstore.Driver]. It takes a connection and sends nothing.
func (d *driver) Begin(ctx context.Context, o sqlstore.SessionOptions) (sqlstore.Session, error) {
	if o.Overview && !d.overview {
		return nil, store.ErrNoOverview
	}
	conn, err := d.pool.Acquire(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &store.UnavailableError{Err: err}
	}
	return &session{conn: conn, options: o, growth: d.growth}, nil
}

// Ping implements [sqlstore.Driver].
func (d *driver) Ping(ctx context.Context) error {
	if err := d.pool.Ping(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &store.UnavailableError{Err: err}
	}
	return nil
}

// Times implements [sqlstore.Driver].
func (d *driver) Times() (written, clock value.Instant) { return d.written, d.clock }

// Close implements [sqlstore.Driver].
func (d *driver) Close() error {
	d.stop()
	d.done.Wait()
	d.pool.Close()
	return nil
}

// channel is where processes tell each other which workspaces have wakes.
const channel = "deed_wakes"

// maxPayload is how long what is told may be; PostgreSQL takes 8000 bytes.
const maxPayload = 7000

// Tell implements [sqlstore.Driver].
func (d *driver) Tell(ctx context.Context, workspaces []access.WorkspaceID) error {
	for len(workspaces) > 0 {
		payload, n := d.me, 0
		for _, w := range workspaces {
			if n > 0 && len(payload)+1+len(w) > maxPayload {
				break
			}
			payload += " " + string(w)
			n++
		}
		if _, err := d.pool.Exec(ctx, "SELECT pg_notify($1, $2)", channel, payload); err != nil {
			return err
		}
		workspaces = workspaces[n:]
	}
	return nil
}

// start begins what goes on beside the units until the driver is closed.
func (d *driver) start(config *pgx.ConnConfig) {
	ctx, stop := context.WithCancel(context.Background())
	d.stop = stop
	d.done.Go(func() { d.listen(ctx, config) })
	d.done.Go(func() { d.tend(ctx) })
}

// listen receives what other processes tell, on a connection of its own, which is
// opened again when it breaks.
func (d *driver) listen(ctx context.Context, config *pgx.ConnConfig) {
	wait := backoff{}
	for ctx.Err() == nil {
		conn, err := pgx.ConnectConfig(ctx, config)
		if err == nil {
			if _, err = conn.Exec(ctx, "LISTEN "+channel); err == nil {
				wait = backoff{}
				d.hear(ctx, conn)
			}
			_ = conn.Close(context.WithoutCancel(ctx))
		}
		wait.pause(ctx)
	}
}

// hear passes on what is told until the connection breaks. What does not fit is
// left out: whoever listens looks by itself as well.
func (d *driver) hear(ctx context.Context, conn *pgx.Conn) {
	for {
		n, err := conn.WaitForNotification(ctx)
		if err != nil {
			return
		}
		names := strings.Fields(n.Payload)
		if len(names) == 0 || names[0] == d.me {
			continue
		}
		for _, name := range names[1:] {
			select {
			case d.told <- access.WorkspaceID(name):
			default:
			}
		}
	}
}
