package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"github.com/deed-dev/deed/internal/store/migration"
)

// Backup copies the database in a folder into a file that is not there yet, as it
// stands at one moment, beside the process that serves it. The copy is durable on
// return; on an error there is none. Errors: [ErrNoData], [fs.ErrExist].
func Backup(ctx context.Context, folder, into string) (err error) {
	db, err := openThere(filepath.Join(folder, databaseFile), "")
	if err != nil {
		return fmt.Errorf("back up the data in %s: %w", folder, err)
	}
	defer db.Close()
	if err := migration.CheckSQLite(ctx, db); err != nil {
		return damage(err)
	}
	// SQLite writes into an empty file, and would make one that others can read.
	file, err := os.OpenFile(into, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("make the backup: %w", err)
	}
	defer func() {
		if closing := file.Close(); err == nil {
			err = closing
		}
		if err != nil {
			_ = os.Remove(into)
		}
	}()
	if _, err := db.ExecContext(ctx, "VACUUM INTO ?", into); err != nil {
		return fmt.Errorf("copy the database: %w", damage(err))
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("make the backup durable: %w", err)
	}
	return nil
}

// Restore puts a copy that [Backup] made into a folder that has no database yet. What
// has to be done before the copy may be served is for prepare, which gets the folder
// that the copy is in meanwhile; nothing is restored if it fails, and nothing that is
// broken off can be served. On return it is durable. Errors: [fs.ErrExist] where there
// is a database, a [FolderError].
func Restore(ctx context.Context, from, folder string, prepare func(folder string) error) error {
	if err := prepareFolder(folder); err != nil {
		return err
	}
	path := filepath.Join(folder, databaseFile)
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("restore into %s: %w", folder, errors.Join(err, fs.ErrExist))
	}
	if err := whole(ctx, from); err != nil {
		return fmt.Errorf("check the backup: %w", err)
	}
	meanwhile, err := os.MkdirTemp(folder, "restoring-")
	if err != nil {
		return fmt.Errorf("make a folder: %w", err)
	}
	defer func() {
		for _, name := range []string{databaseFile, databaseFile + "-wal", databaseFile + "-shm", lockName} {
			_ = os.Remove(filepath.Join(meanwhile, name))
		}
		_ = os.Remove(meanwhile)
	}()
	if err := copyFile(from, filepath.Join(meanwhile, databaseFile)); err != nil {
		return fmt.Errorf("copy the database: %w", err)
	}
	if err := prepare(meanwhile); err != nil {
		return err
	}
	if err := settle(ctx, filepath.Join(meanwhile, databaseFile)); err != nil {
		return fmt.Errorf("finish the database: %w", err)
	}
	// A link never takes the place of what somebody else put there meanwhile.
	if err := os.Link(filepath.Join(meanwhile, databaseFile), path); err != nil {
		return fmt.Errorf("put the database in its place: %w", err)
	}
	if err := syncFolder(folder); err != nil {
		return fmt.Errorf("make the folder durable: %w", err)
	}
	return nil
}

// settle puts all of a database that nobody has open into its one file.
func settle(ctx context.Context, path string) error {
	db, err := openThere(path, "")
	if err != nil {
		return err
	}
	var busy, frames, moved int
	err = db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&busy, &frames, &moved)
	if err == nil && busy != 0 {
		err = errors.New("somebody has it open")
	}
	return errors.Join(err, db.Close())
}

// whole says whether a copy is a database that nothing is missing from. It may lie
// where nothing can be written beside it.
func whole(ctx context.Context, path string) error {
	if _, err := os.Stat(path); err != nil {
		return err
	}
	name := (&url.URL{Path: filepath.ToSlash(path)}).EscapedPath()
	db, err := sql.Open("sqlite", "file:"+name+"?mode=ro&immutable=1")
	if err != nil {
		return err
	}
	defer db.Close()
	var found string
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&found); err != nil {
		return err
	}
	if found != "ok" {
		return fmt.Errorf("it is damaged: %s", found)
	}
	return nil
}

// copyFile copies a file durably, for nobody else to read.
func copyFile(from, to string) error {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	if _, err := io.Copy(target, source); err != nil {
		return errors.Join(err, target.Close())
	}
	return errors.Join(target.Sync(), target.Close())
}

// syncFolder makes what stands in a folder survive a loss of power. Where a system
// cannot do that with folders, it has no need to.
func syncFolder(path string) error {
	folder, err := os.Open(path)
	if err != nil {
		return err
	}
	defer folder.Close()
	_ = folder.Sync()
	return nil
}
