package journal

import (
	"context"
	"crypto/rand"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/deed-dev/deed/internal/tlog"
)

// originPrefix begins the name of every journal's log. Random digits follow,
// so that two homes are never taken for one log.
const originPrefix = "deed.dev/journal/"

// openDatabase opens one connection pool. It does not touch the file yet.
// Parameters are those of an SQLite URI (mode, immutable, _pragma).
func openDatabase(path string, parameters ...string) (*sql.DB, error) {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a Windows drive
	}
	name := "file://" + (&url.URL{Path: path}).EscapedPath() + "?" + strings.Join(parameters, "&")
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	return db, nil
}

// writerParameters wait long for SQLite's own lock: our writers are kept
// apart by the file lock, so that only a foreign program can hold it.
var writerParameters = []string{
	"mode=rw", "_pragma=busy_timeout(5000)", "_pragma=synchronous(NORMAL)",
	"_pragma=fullfsync(1)", "_pragma=checkpoint_fullfsync(1)", "_pragma=secure_delete(FAST)",
}

// openWriter opens the database for writing, and makes it and its key if this
// home has neither. The caller holds no lock.
func openWriter(f folder, lock *fileLock) (*sql.DB, *tlog.Key, error) {
	if isWritten(f.database()) {
		db, err := openExisting(f)
		if err == nil {
			key, err := loadKey(f)
			if err != nil {
				db.Close()
				return nil, nil, err
			}
			return db, key, nil
		}
		if !errors.Is(err, ErrNoJournal) {
			return nil, nil, err
		}
	}

	// Two processes may come here at once; the second finds all done.
	if err := lock.acquireFor(createWait); err != nil {
		return nil, nil, err
	}
	defer lock.release()
	return createDatabase(f)
}

// createWait is how long a journal that must be made waits for its turn.
// Making one takes milliseconds.
const createWait = 2 * time.Second

func isWritten(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Size() > 0
}

// openExisting opens a database that is there. The error is ErrNoJournal when
// its tables are not made yet.
func openExisting(f folder) (*sql.DB, error) {
	if err := closeToOthers(f.database()); err != nil {
		return nil, &HomeError{Home: f.path, Err: err}
	}
	db, err := openDatabase(f.database(), writerParameters...)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	if err := checkVersion(context.Background(), db, f); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

// checkVersion finds out whether the file is a journal that we can read.
func checkVersion(ctx context.Context, db *sql.DB, f folder) error {
	version, err := readVersion(ctx, db, f)
	if err != nil {
		return err
	}
	if version == 0 {
		var tables int
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema").Scan(&tables); err != nil {
			return databaseError(f, "read schema", err)
		}
		if tables == 0 {
			return fmt.Errorf("home %s: %w", f.path, ErrNoJournal)
		}
		// Between the two questions a journal may have been made, whose tables and
		// version come at once.
		if version, err = readVersion(ctx, db, f); err != nil {
			return err
		}
	}
	switch {
	case version == 0:
		return &CorruptError{Path: f.database(), Err: errors.New("it is the database of another program")}
	case version > formatVersion:
		return &NewerFormatError{Path: f.database(), Version: version}
	case version < 0:
		return &CorruptError{Path: f.database(), Err: fmt.Errorf("its format is %d", version)}
	}
	return nil
}

func readVersion(ctx context.Context, db *sql.DB, f folder) (version int, err error) {
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, databaseError(f, "read format version", err)
	}
	return version, nil
}

func loadKey(f folder) (*tlog.Key, error) {
	key, err := tlog.LoadKey(f.key())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &KeyMissingError{Path: f.key()}
	}
	return key, err
}

// createDatabase makes key and database. The caller holds the lock.
func createDatabase(f folder) (*sql.DB, *tlog.Key, error) {
	if isWritten(f.database()) {
		db, err := openExisting(f)
		if err == nil {
			key, err := loadKey(f)
			if err != nil {
				db.Close()
				return nil, nil, err
			}
			return db, key, nil
		}
		if !errors.Is(err, ErrNoJournal) {
			return nil, nil, err
		}
	}
	key, err := tlog.LoadKey(f.key())
	if errors.Is(err, fs.ErrNotExist) {
		var id [16]byte
		rand.Read(id[:]) // never fails
		key, err = tlog.CreateKey(f.key(), originPrefix+hex.EncodeToString(id[:]))
	}
	if err != nil {
		return nil, nil, &HomeError{Home: f.path, Err: err}
	}
	// SQLite would make the file readable by everybody.
	file, err := os.OpenFile(f.database(), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return nil, nil, &HomeError{Home: f.path, Err: err}
	}
	db, err := openDatabase(f.database(), writerParameters...)
	if err != nil {
		return nil, nil, err
	}
	db.SetMaxOpenConns(1)
	if err := createTables(db, key); err != nil {
		db.Close()
		return nil, nil, databaseError(f, "create journal", err)
	}
	return db, key, nil
}

func createTables(db *sql.DB, key *tlog.Key) error {
	note, err := tlog.Checkpoint{Origin: key.Name(), Size: 0, Root: tlog.Empty}.Sign(key)
	if err != nil {
		return err
	}
	// Before anything else is written, or it would come too late: what is
	// erased is to give its pages back.
	if _, err := db.Exec("PRAGMA auto_vacuum = INCREMENTAL"); err != nil {
		return err
	}
	if _, err := db.Exec("PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	tx, err := db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback()
	if _, err := tx.Exec(schema); err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO meta VALUES ('origin', ?), ('verifier_key', ?)", key.Name(), key.VerifierKey()); err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO head VALUES (1, 0, x'', ?, 0)", string(note)); err != nil {
		return err
	}
	if _, err := tx.Exec(fmt.Sprintf("PRAGMA user_version = %d", formatVersion)); err != nil {
		return err
	}
	return tx.Commit()
}

// databaseError gives an error of SQLite its place among ours.
func databaseError(f folder, attempt string, err error) error {
	var failed *sqlite.Error
	if !errors.As(err, &failed) {
		return fmt.Errorf("%s: %w", attempt, err)
	}
	switch failed.Code() & 0xff {
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return &CorruptError{Path: f.database(), Err: fmt.Errorf("%s: %w", attempt, err)}
	case sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN:
		return &HomeError{Home: f.path, Err: fmt.Errorf("%s: %w", attempt, err)}
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED:
		return fmt.Errorf("%s: another program holds %s; end it, or set DEED_HOME to another folder: %w", attempt, f.database(), err)
	case sqlite3.SQLITE_FULL:
		return fmt.Errorf("%s: the disk of %s is full; make room on it: %w", attempt, f.path, err)
	}
	return fmt.Errorf("%s: %w", attempt, err)
}
