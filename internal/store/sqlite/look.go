package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/deed-dev/deed/internal/store/migration"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// ErrNoData says that a folder has no database in it.
var ErrNoData = errors.New("there is no database in it")

// Look opens the store in a folder for reading, beside the process that serves it.
// Units that write fail. It makes nothing and brings nothing up to date. Errors:
// [ErrNoData], a [migration.VersionError], a [DamagedError].
func Look(ctx context.Context, folder string, options ...sqlstore.Option) (*sqlstore.Store, error) {
	d, err := look(ctx, folder)
	if err != nil {
		return nil, fmt.Errorf("look at the data in %s: %w", folder, damage(err))
	}
	s, err := sqlstore.New(d, options...)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return s, nil
}

func look(ctx context.Context, folder string) (_ *driver, err error) {
	path := filepath.Join(folder, databaseFile)
	db, err := openThere(path, "&_pragma=query_only(ON)")
	if err != nil {
		return nil, err
	}
	// The lock is looked at and not taken.
	file, err := os.Open(path)
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	d := &driver{db: db, lock: file, writer: make(chan *connection, 1), readers: make(chan *connection, 1), ended: make(chan struct{})}
	if err := migration.CheckSQLite(ctx, db); err != nil {
		return nil, errors.Join(err, db.Close(), file.Close())
	}
	for _, home := range []chan *connection{d.writer, d.readers} {
		if err := d.connect(ctx, home); err != nil {
			return nil, errors.Join(err, db.Close(), file.Close())
		}
	}
	return d, nil
}

// openThere opens a database that is there already.
func openThere(path, settings string) (*sql.DB, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoData
	} else if err != nil {
		return nil, err
	}
	return sql.Open("sqlite", source(path)+settings)
}
