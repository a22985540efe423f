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
	if e.Has > e.Wants {
		return fmt.Sprintf("a later release made these tables (step %d, this one knows %d): use that release", e.Has, e.Wants)
	}
	return fmt.Sprintf("an earlier release made these tables (step %d of %d): start deed serve once, which brings them up to date", e.Has, e.Wants)
}

// CheckSQLite says whether a SQLite database has this program's tables: nil or a
// [VersionError]. It changes nothing.
func CheckSQLite(ctx context.Context, db *sql.DB) error {
	return check(ctx, goose.DialectSQLite3, db, written{macros: forSQLite, folders: []string{"sql"}})
}

func check(ctx context.Context, dialect goose.Dialect, db *sql.DB, source fs.FS) error {
	provider, err := goose.NewProvider(dialect, db, source, goose.WithTableName(table), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	has, err := provider.GetDBVersion(ctx)
	if err != nil {
		return fmt.Errorf("read how far the tables are: %w", err)
	}
	wants := int64(0)
	for _, s := range provider.ListSources() {
		wants = max(wants, s.Version)
	}
	if has != wants {
		return &VersionError{Has: has, Wants: wants}
	}
	return nil
}
