package migration

import (
	"context"
	"database/sql"
	"fmt"
	"io/fs"

	"github.com/pressly/goose/v3"
)

// VersionError says that a database's tables are not those of this program.
type VersionError struct{ Has, Wants int64 }

func (e *VersionError) Error() string {
	switch {
	case e.Has == 0:
		return "it has no tables of Deed: start deed serve once, which makes them, or name another database"
	case e.Has > e.Wants:
		return fmt.Sprintf("a later release made these tables (step %d, this one knows %d): use that release", e.Has, e.Wants)
	}
	return fmt.Sprintf("an earlier release made these tables (step %d of %d): start deed serve once, which brings them up to date", e.Has, e.Wants)
}

// CheckSQLite says whether a SQLite database has this program's tables: nil or a
// [VersionError]. It changes nothing.
func CheckSQLite(ctx context.Context, db *sql.DB) error {
	const there = "SELECT COUNT(*) FROM sqlite_master WHERE type = 'table' AND name = '" + table + "'"
	return check(ctx, goose.DialectSQLite3, db, there, written{macros: forSQLite, folders: []string{"sql"}})
}

// CheckPostgres is [CheckSQLite] for a PostgreSQL database.
func CheckPostgres(ctx context.Context, db *sql.DB) error {
	const there = "SELECT COUNT(*) FROM pg_tables WHERE schemaname = ANY (current_schemas(false)) AND tablename = '" + table + "'"
	return check(ctx, goose.DialectPostgres, db, there, written{macros: forPostgres, folders: []string{"sql", "sql/postgres"}})
}

// check asks itself how far the tables are: goose would make its table to find out.
func check(ctx context.Context, dialect goose.Dialect, db *sql.DB, there string, source fs.FS) error {
	provider, err := goose.NewProvider(dialect, db, source, goose.WithTableName(table), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	wants := int64(0)
	for _, s := range provider.ListSources() {
		wants = max(wants, s.Version)
	}
	has := int64(0)
	if err := db.QueryRowContext(ctx, there).Scan(&has); err != nil {
		return fmt.Errorf("read how far the tables are: %w", err)
	}
	if has > 0 {
		if err := db.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM "+table).Scan(&has); err != nil {
			return fmt.Errorf("read how far the tables are: %w", err)
		}
	}
	if has != wants {
		return &VersionError{Has: has, Wants: wants}
	}
	return nil
}
