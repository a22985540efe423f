package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"
)

const (
	// schema holds River's tables, apart from those of the store.
	schema = "deed_jobs"
	// migrationLock is by what instances that start at once take turns.
	migrationLock = 0x64656564_6a6f6273
	// connections: one listens for as long as the queue runs, the others work.
	connections = 4
)

// OnPostgres runs tasks on a PostgreSQL database, in a schema deed_jobs, which it
// makes. Every instance runs the same tasks.
func OnPostgres(ctx context.Context, url string, tasks []Task, log *slog.Logger) (*Queue, error) {
	if err := check(tasks); err != nil {
		return nil, err
	}
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("start the jobs: the address of the database cannot be read") // it may hold a password
	}
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("start the jobs: %w", err)
	}
	q, err := onPool(ctx, pool, tasks, log)
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("start the jobs: %w", err)
	}
	q.close = func() error {
		pool.Close()
		return nil
	}
	return q, nil
}

func onPool(ctx context.Context, pool *pgxpool.Pool, tasks []Task, log *slog.Logger) (*Queue, error) {
	if err := inTurn(ctx, pool, log); err != nil {
		return nil, err
	}
	return start(ctx, riverpgxv5.New(pool), schema, tasks, log)
}

// inTurn makes the schema and its tables, one instance at a time.
func inTurn(ctx context.Context, pool *pgxpool.Pool, log *slog.Logger) error {
	lock, err := pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer lock.Release()
	if _, err := lock.Exec(ctx, "SELECT pg_advisory_lock($1)", int64(migrationLock)); err != nil {
		return err
	}
	// Closing the connection would free the lock as well; this keeps the connection.
	defer func() {
		_, _ = lock.Exec(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", int64(migrationLock))
	}()
	if _, err := lock.Exec(ctx, "CREATE SCHEMA IF NOT EXISTS "+schema); err != nil {
		return schemaError(lock.Conn().Config(), err)
	}
	return migrate(ctx, riverpgxv5.New(pool), schema, log)
}

// schemaError says which right is missing, if it is that: the log is all that an
// operator sees of it.
func schemaError(config *pgx.ConnConfig, err error) error {
	answer, is := errors.AsType[*pgconn.PgError](err)
	if !is || answer.Code != "42501" { // insufficient_privilege
		return fmt.Errorf("make the schema %s: %w", schema, err)
	}
	return fmt.Errorf("make the schema %s: %w; let a superuser run: GRANT CREATE ON DATABASE %s TO %s",
		schema, err, pgx.Identifier{config.Database}.Sanitize(), pgx.Identifier{config.User}.Sanitize())
}
