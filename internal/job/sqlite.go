package job

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
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
