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

// RightsError says that the URL's role may not make what the jobs are kept in.
type RightsError struct {
	Role, Database string // as a statement names them
	err            error
}

func (e *RightsError) Error() string {
	return fmt.Sprintf("the role %s may not make the schema %s in the database %s: %v", e.Role, schema, e.Database, e.err)
}

func (e *RightsError) Unwrap() error { return e.err }

// PreparePostgres makes what jobs are kept in, so that a server which could not is
// told at its start and not each time that it tries. Error: [RightsError].
func PreparePostgres(ctx context.Context, url string, log *slog.Logger) error {
	pool, err := connect(ctx, url)
	if err != nil {
		return err
	}
	defer pool.Close()
	if err := inTurn(ctx, pool, log); err != nil {
		return fmt.Errorf("prepare the jobs: %w", err)
	}
	return nil
}

func connect(ctx context.Context, url string) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("start the jobs: the address of the database cannot be read") // it may hold a password
	}
	config.MaxConns = connections
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("start the jobs: %w", err)
	}
	return pool, nil
}

// OnPostgres runs tasks on a PostgreSQL database, in a schema deed_jobs, which it
// makes. Every instance runs the same tasks. Error: [RightsError].
func OnPostgres(ctx context.Context, url string, tasks []Task, log *slog.Logger) (*Queue, error) {
	if err := check(tasks); err != nil {
		return nil, err
	}
	pool, err := connect(ctx, url)
	if err != nil {
		return nil, err
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
	// To make it only if it is not there takes the right to make it even if it is.
	var there bool
	if err := lock.QueryRow(ctx, "SELECT to_regnamespace($1) IS NOT NULL", schema).Scan(&there); err != nil {
		return err
	}
	if !there {
		if _, err := lock.Exec(ctx, "CREATE SCHEMA "+schema); err != nil {
			return refusal(lock.Conn().Config(), fmt.Errorf("make the schema %s: %w", schema, err))
		}
	}
	return refusal(lock.Conn().Config(), migrate(ctx, riverpgxv5.New(pool), schema, log))
}

// refusal is a [RightsError] where an error means that.
func refusal(config *pgx.ConnConfig, err error) error {
	answer, is := errors.AsType[*pgconn.PgError](err)
	if !is || answer.Code != "42501" { // insufficient_privilege
		return err
	}
	return &RightsError{Role: pgx.Identifier{config.User}.Sanitize(), Database: pgx.Identifier{config.Database}.Sanitize(), err: errors.New(answer.Message)}
}
