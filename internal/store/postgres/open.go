package postgres

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store/migration"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
)

// What a connection is set to, where the URL does not say otherwise. A statement
// that takes longer than these is broken off, and a session that stands still in
// a unit is ended, since it would keep what was deleted from being swept.
var settings = map[string]string{
	"application_name":                    "deed",
	"statement_timeout":                   "30000",
	"lock_timeout":                        "10000",
	"idle_in_transaction_session_timeout": "60000",
	// Each statement has its indexes and goes from few rows to few. The planner finds
	// another way while its statistics are behind a table that grows fast, and then
	// walks through it; so the other ways are closed, and the plan made once.
	"jit":              "off",
	"plan_cache_mode":  "force_generic_plan",
	"enable_seqscan":   "off",
	"enable_hashjoin":  "off",
	"enable_mergejoin": "off",
}

const (
	connectTimeout = 5 * time.Second
	usualConns     = 16 // where the URL does not say pool_max_conns
)

// Open opens the store in a database and brings its tables up to date. Errors: a
// [ConnectError], a [RightsError], a [sqlstore.ClockError], and what else the URL or the database says.
func Open(ctx context.Context, url string, options ...sqlstore.Option) (*sqlstore.Store, error) {
	d, err := open(ctx, url)
	if err != nil {
		return nil, err
	}
	s, err := sqlstore.New(d, options...)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return s, nil
}

func open(ctx context.Context, url string) (*driver, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("read the database's URL: it is none") // the cause may hold the password
	}
	begun, err := prepare(ctx, config.ConnConfig)
	if err != nil {
		return nil, refusal(config.ConnConfig, err)
	}
	for name, v := range settings {
		if _, given := config.ConnConfig.RuntimeParams[name]; !given {
			config.ConnConfig.RuntimeParams[name] = v
		}
	}
	if config.ConnConfig.ConnectTimeout == 0 {
		config.ConnConfig.ConnectTimeout = connectTimeout
	}
	if !givesConns(url) {
		config.MaxConns = usualConns
	}
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, "SET ROLE "+pgx.Identifier{begun.role}.Sanitize())
		return err
	}
	if begun.role == "" {
		config.AfterConnect = nil
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the database: %w", err)
	}
	d := &driver{pool: pool, me: rand.Text(), told: make(chan access.WorkspaceID, 256), growth: newGrowth(), written: begun.written, clock: begun.clock, overview: begun.overview}
	d.start(config.ConnConfig.Copy())
	return d, nil
}

// beginning is how a database was found when it was opened.
type beginning struct {
	role           string // of units; empty if the database's user may not make one
	overview       bool   // there is another one for looking over all workspaces
	written, clock value.Instant
}

// times are the latest time that was kept, and the database's.
const times = `SELECT COALESCE((SELECT taken FROM turns WHERE name = '` + sqlstore.TimeTurn + `'), 0),
	(extract(epoch FROM clock_timestamp()) * 1000000)::bigint`

// prepare brings the tables up to date and guards them, with a connection of its
// own that has the time it needs.
func prepare(ctx context.Context, config *pgx.ConnConfig) (beginning, error) {
	none := beginning{}
	own := config.Copy()
	if own.ConnectTimeout == 0 {
		own.ConnectTimeout = connectTimeout
	}
	db := stdlib.OpenDB(*own)
	defer db.Close()
	if err := db.PingContext(ctx); err != nil {
		return none, fmt.Errorf("connect to the database: %w", err)
	}
	if err := migration.Postgres(ctx, db); err != nil {
		return none, err
	}
	conn, err := pgx.ConnectConfig(ctx, own)
	if err != nil {
		return none, fmt.Errorf("connect to the database: %w", err)
	}
	defer conn.Close(context.WithoutCancel(ctx))
	role, overview, err := guard(ctx, conn)
	if err != nil {
		return none, fmt.Errorf("guard the tables: %w", err)
	}
	b := beginning{role: role, overview: overview}
	if err := conn.QueryRow(ctx, times).Scan(&b.written, &b.clock); err != nil {
		return none, fmt.Errorf("find the latest time: %w", err)
	}
	return b, nil
}
