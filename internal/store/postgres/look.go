package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/deed-dev/deed/internal/store/migration"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// Look opens the store in a database as [Open] does, if its tables are those of this
// program: a command that only looks must not bring tables up to date under servers
// of an earlier release. Errors: a [migration.VersionError], and those of Open.
func Look(ctx context.Context, url string, options ...sqlstore.Option) (*sqlstore.Store, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errors.New("read the database's URL: it is none") // the cause may hold the password
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = connectTimeout
	}
	db := stdlib.OpenDB(*config)
	defer db.Close()
	if err := db.PingContext(ctx); err != nil {
		return nil, refusal(config, fmt.Errorf("connect to the database: %w", err))
	}
	if err := migration.CheckPostgres(ctx, db); err != nil {
		return nil, refusal(config, err)
	}
	return Open(ctx, url, options...)
}
