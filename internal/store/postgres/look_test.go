package postgres_test

import (
	"context"
	"errors"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/deed-dev/deed/internal/store/migration"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
)

func TestLookingBringsNoTablesUpToDate(t *testing.T) {
	t.Parallel()
	url := pgtest.Start(t).Database(t)
	var other *migration.VersionError
	if _, err := postgres.Look(t.Context(), url); !errors.As(err, &other) || other.Has != 0 {
		t.Errorf("an empty database: %v", err)
	}
	if n := tables(t, url); n != 0 {
		t.Errorf("looking made %d tables", n)
	}
	s, err := postgres.Open(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	looking, err := postgres.Look(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	if err := looking.Ping(t.Context()); err != nil {
		t.Error(err)
	}
	looking.Close()
	execute(t, url, "INSERT INTO deed_migrations (version_id, is_applied) VALUES (99999, true)")
	if _, err := postgres.Look(t.Context(), url); !errors.As(err, &other) || other.Has != 99999 {
		t.Errorf("the tables of a later release: %v", err)
	}
}

func tables(t *testing.T, url string) (n int) {
	t.Helper()
	conn := connected(t, url)
	defer conn.Close(context.WithoutCancel(t.Context()))
	if err := conn.QueryRow(t.Context(), "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'").Scan(&n); err != nil {
		t.Fatal(err)
	}
	return n
}

func execute(t *testing.T, url, statement string) {
	t.Helper()
	conn := connected(t, url)
	defer conn.Close(context.WithoutCancel(t.Context()))
	if _, err := conn.Exec(t.Context(), statement); err != nil {
		t.Fatal(err)
	}
}

func connected(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return conn
}
