package job

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"

	"github.com/riverqueue/river/riverdriver/riversqlite"
	_ "modernc.org/sqlite" // the driver "sqlite"
)

// sqliteFile is in the folder of the store, and no part of a backup.
const sqliteFile = "jobs.db"

// OnSQLite runs tasks on a file jobs.db in a folder that one process has.
func OnSQLite(ctx context.Context, folder string, tasks []Task, log *slog.Logger) (*Queue, error) {
	if err := check(tasks); err != nil {
		return nil, err
	}
	// What a power cut takes comes round again, so that no commit waits for the disk.
	pragmas := url.Values{"_pragma": {"journal_mode(WAL)", "synchronous(NORMAL)", "busy_timeout(10000)"}, "_txlock": {"immediate"}}
	path := (&url.URL{Path: filepath.ToSlash(filepath.Join(folder, sqliteFile))}).EscapedPath()
	file := url.URL{Scheme: "file", Opaque: path, RawQuery: pragmas.Encode()}
	if err := private(filepath.Join(folder, sqliteFile)); err != nil {
		return nil, fmt.Errorf("start the jobs: %w", err)
	}
	db, err := sql.Open("sqlite", file.String())
	if err != nil {
		return nil, fmt.Errorf("start the jobs: %w", err)
	}
	db.SetMaxOpenConns(1) // River works in many goroutines, and SQLite lets one write
	driver := riversqlite.New(db)
	err = migrate(ctx, driver, "", log)
	if err == nil {
		var q *Queue
		if q, err = start(ctx, driver, "", tasks, log); err == nil {
			q.close = db.Close
			return q, nil
		}
	}
	_ = db.Close()
	return nil, fmt.Errorf("start the jobs: %w", err)
}

// private makes the file for its owner alone before SQLite would make it for all.
// The files that SQLite makes beside it get its permissions; those that were made
// for all are closed.
func private(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	for _, part := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Chmod(path+part, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
