package sqlstore_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store/conformance"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// rowsIn counts the rows of a workspace in each table that the database itself says
// has workspaces, whatever this package thinks its tables are.
type rowsIn func(t *testing.T, w access.WorkspaceID) map[string]int

func TestADeletedWorkspaceHasNoRowInAnyTable(t *testing.T) {
	t.Parallel()
	t.Run("on SQLite", func(t *testing.T) {
		t.Parallel()
		folder := t.TempDir()
		s, err := sqlite.Open(t.Context(), folder)
		deletes(t, kept(t, s, err).(*sqlstore.Store), func(t *testing.T, w access.WorkspaceID) map[string]int {
			t.Helper()
			db, err := sql.Open("sqlite", filepath.Join(folder, "deed.db"))
			if err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			rows, err := db.QueryContext(t.Context(), `SELECT m.name FROM sqlite_schema m JOIN pragma_table_info(m.name) c
				WHERE m.type = 'table' AND c.name = 'workspace_id'`)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			counts := map[string]int{}
			for rows.Next() {
				var name string
				if err := rows.Scan(&name); err != nil {
					t.Fatal(err)
				}
				counts[name] = 0
			}
			for name := range counts {
				n := 0
				if err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM "+name+" WHERE workspace_id = ?", string(w)).Scan(&n); err != nil {
					t.Fatal(err)
				}
				counts[name] = n
			}
			return counts
		})
	})
	t.Run("on PostgreSQL", func(t *testing.T) {
		t.Parallel()
		url := pgtest.Start(t).Database(t)
		s, err := postgres.Open(t.Context(), url)
		deletes(t, kept(t, s, err).(*sqlstore.Store), func(t *testing.T, w access.WorkspaceID) map[string]int {
			t.Helper()
			conn, err := pgx.Connect(t.Context(), url) // a superuser, who sees every row
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close(context.WithoutCancel(t.Context()))
			rows, err := conn.Query(t.Context(), `SELECT c.relname FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid
				WHERE c.relkind IN ('r', 'p') AND c.relnamespace = current_schema()::regnamespace AND a.attname = 'workspace_id'`)
			if err != nil {
				t.Fatal(err)
			}
			names, err := pgx.CollectRows(rows, pgx.RowTo[string])
			if err != nil {
				t.Fatal(err)
			}
			counts := map[string]int{}
			for _, name := range names {
				n := 0
				if err := conn.QueryRow(t.Context(), "SELECT COUNT(*) FROM "+name+" WHERE workspace_id = $1", string(w)).Scan(&n); err != nil {
					t.Fatal(err)
				}
				counts[name] = n
			}
			return counts
		})
	})
}

func deletes(t *testing.T, s *sqlstore.Store, count rowsIn) {
	t.Helper()
	gone, stays := conformance.Furnish(t, s, 1), conformance.Furnish(t, s, 2)
	for _, w := range []access.WorkspaceID{gone, stays} {
		if err := sqlstore.SumUp(t.Context(), s, w, "", 1<<52); err != nil {
			t.Fatal(err)
		}
	}
	before := count(t, gone)
	for name, n := range before {
		if n == 0 {
			t.Errorf("%s has no row of a furnished workspace, so that nothing is shown of it", name)
		}
	}
	for _, table := range sqlstore.Tables() {
		if _, there := before[table.Name]; !there && !slices.Contains([]string{"people", "installation", "turns"}, table.Name) {
			t.Errorf("%s has no workspaces", table.Name)
		}
	}
	others := count(t, stays)
	if err := s.Directory().DeleteWorkspace(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	for name, n := range count(t, gone) {
		if n != 0 {
			t.Errorf("%s still has %d rows of the workspace", name, n)
		}
	}
	for name, n := range count(t, stays) {
		if n != others[name] {
			t.Errorf("%s had %d rows of another workspace and has %d", name, others[name], n)
		}
	}
}
