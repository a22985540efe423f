package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"runtime"

	_ "modernc.org/sqlite" // the driver "sqlite"

	"github.com/deed-dev/deed/internal/mount"
	"github.com/deed-dev/deed/internal/store/migration"
	"github.com/deed-dev/deed/internal/store/sqlstore"
)

// What is in the folder.
const (
	databaseFile = "deed.db"
	lockName     = "deed.lock"
)

// InUseError says that another process serves the folder.
type InUseError struct{ Folder string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("another process serves the data in %s; stop it first, or give this one another folder", e.Folder)
}

// Open opens the store in a folder and makes both if they are not there. Errors:
// an [InUseError], a [FolderError], a [DamagedError], a [sqlstore.ClockError], and
// whatever else the file system or the database says.
func Open(ctx context.Context, folder string, options ...sqlstore.Option) (*sqlstore.Store, error) {
	d, err := open(ctx, folder)
	if errors.As(err, new(*FolderError)) {
		return nil, err // it names the folder itself
	}
	if err != nil {
		return nil, fmt.Errorf("open the data in %s: %w", folder, err)
	}
	s, err := sqlstore.New(d, options...)
	if err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return s, nil
}

func open(ctx context.Context, folder string) (_ *driver, err error) {
	if err := prepareFolder(folder); err != nil {
		return nil, err
	}
	whole, err := filepath.Abs(folder)
	if err != nil {
		return nil, err
	}
	if system := mount.Network(whole); system != "" {
		return nil, fmt.Errorf("it is on a network file system (%s), where a database can be damaged; use a folder of this machine", system)
	}
	lock, err := takeLock(filepath.Join(folder, lockName))
	if errors.Is(err, errTaken) {
		return nil, &InUseError{Folder: folder}
	}
	if err != nil {
		return nil, &FolderError{Folder: folder, Problem: "nothing can be written in it: " + bare(err).Error()}
	}
	d := &driver{lock: lock, writer: make(chan *connection, 1), ended: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(damage(err), d.Close())
		}
	}()
	path := filepath.Join(folder, databaseFile)
	if err := private(path); err != nil {
		return nil, err
	}
	if d.db, err = sql.Open("sqlite", source(path)); err != nil {
		return nil, err
	}
	if err := readable(ctx, d.db); err != nil {
		return nil, err
	}
	if err := migration.SQLite(ctx, d.db); err != nil {
		return nil, err
	}
	if err := d.db.QueryRowContext(ctx, latest).Scan(&d.written); err != nil {
		return nil, fmt.Errorf("find the latest time: %w", err)
	}
	readers := max(4, runtime.NumCPU())
	d.readers = make(chan *connection, readers)
	d.db.SetMaxOpenConns(readers + 1)
	d.db.SetMaxIdleConns(readers + 1)
	if err := d.connect(ctx, d.writer); err != nil {
		return nil, err
	}
	for range readers {
		if err := d.connect(ctx, d.readers); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// source is how the database is opened. FULL makes each commit survive a loss of
// power; the cache is 64 MiB for each connection at most.
func source(path string) string {
	settings := url.Values{"_pragma": {
		"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(ON)",
		"cache_size(-65536)", "temp_store(MEMORY)", "mmap_size(0)", "journal_size_limit(67108864)",
	}}
	return (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath(), RawQuery: settings.Encode()}).String()
}
