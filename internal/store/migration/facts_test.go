package migration

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"
	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
)

// before is the last step before facts lost two of their indexes.
const before = 5

// told are rows of a workspace as they were then.
var told = []string{
	`INSERT INTO facts (workspace_id, identity, ordinal, digest, source, external_id, fact_type, subject_id, occurred_at, moved, kept_by, form, body)
		VALUES ('ws_one', 'a', 1, 'd', 'stripe', 're_1', 'refund.created', 'o-1', 1, false, 'key', '{}', '')`,
	`INSERT INTO facts (workspace_id, identity, ordinal, digest, source, external_id, fact_type, subject_id, occurred_at, moved, kept_by, form, body)
		VALUES ('ws_one', 'a', 2, 'e', 'stripe', 're_1', 'refund.succeeded', 'o-1', 1, true, 'key', '{}', '')`,
	`INSERT INTO wakes (workspace_id, kind, due_at, ref, fact_source, family, external_id, source, fact_type, watermark)
		VALUES ('ws_one', 4, 1, '', 'stripe', 'refund', 're_1', '', '', 0)`,
}

// What was stored before is there afterwards, and is found.
func keeps(t *testing.T, db *sql.DB, dialect goose.Dialect, files written, up func() error) {
	t.Helper()
	provider, err := goose.NewProvider(dialect, db, files, goose.WithTableName(table), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := provider.UpTo(t.Context(), before); err != nil {
		t.Fatal(err)
	}
	for _, statement := range told {
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := up(); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(t.Context(), `SELECT source || ' ' || fact_type FROM fact_kinds WHERE workspace_id = 'ws_one' ORDER BY fact_type`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var kinds []string
	for rows.Next() {
		var kind string
		if err := rows.Scan(&kind); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, kind)
	}
	if want := []string{"stripe refund.created", "stripe refund.succeeded"}; rows.Err() != nil || !slices.Equal(kinds, want) {
		t.Errorf("what sources told is %q (%v), want %q", kinds, rows.Err(), want)
	}
	var facts, wakes, holds int
	if err := db.QueryRowContext(t.Context(), `SELECT COUNT(*), (SELECT COUNT(*) FROM wakes), (SELECT MAX(holds) FROM wakes) FROM facts`).Scan(&facts, &wakes, &holds); err != nil {
		t.Fatal(err)
	}
	if facts != 2 || wakes != 1 || holds != 1 {
		t.Errorf("there are %d revisions of facts and %d wakes of %d facts each, want 2 and 1 of 1", facts, wakes, holds)
	}
}

func TestWhatSourcesToldBeforeIsFoundAfterwardsOnSQLite(t *testing.T) {
	t.Parallel()
	db, err := sql.Open("sqlite", filepath.Join(t.TempDir(), "deed.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	keeps(t, db, goose.DialectSQLite3, written{macros: forSQLite, folders: []string{"sql"}},
		func() error { return SQLite(t.Context(), db) })
}

// The tables' owner is bound by the policy of workspaces, as everybody is.
func TestWhatSourcesToldBeforeIsFoundAfterwardsOnPostgreSQL(t *testing.T) {
	t.Parallel()
	cluster := pgtest.StartOwn(t, "fsync=off")
	cluster.Exec(t, "CREATE ROLE plain LOGIN", "CREATE DATABASE plain OWNER plain")
	db, err := sql.Open("pgx", cluster.URL("plain", "plain"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(2) // goose keeps one for its lock
	files := written{macros: forPostgres, folders: []string{"sql", "sql/postgres"}}
	keeps(t, db, goose.DialectPostgres, files, func() error {
		for _, statement := range []string{
			"CREATE POLICY deed_workspace ON facts USING (workspace_id = current_setting('deed.workspace', true))",
			"ALTER TABLE facts ENABLE ROW LEVEL SECURITY", "ALTER TABLE facts FORCE ROW LEVEL SECURITY",
		} {
			if _, err := db.ExecContext(t.Context(), statement); err != nil {
				return err
			}
		}
		if err := Postgres(t.Context(), db); err != nil {
			return err
		}
		var forced bool
		if err := db.QueryRowContext(t.Context(), "SELECT relforcerowsecurity FROM pg_class WHERE relname = 'facts'").Scan(&forced); err != nil {
			return err
		}
		if !forced {
			t.Error("the owner sees the facts of all workspaces")
		}
		_, err := db.ExecContext(t.Context(), "ALTER TABLE facts NO FORCE ROW LEVEL SECURITY") // to count them
		return err
	})
}
