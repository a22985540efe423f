package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// DamagedError says that the file of the database is not one any more, or not whole.
type DamagedError struct {
	File string // without its folder
	Err  error
}

func (e *DamagedError) Error() string {
	return fmt.Sprintf("the database %s is damaged: %v", e.File, e.Err)
}

func (e *DamagedError) Unwrap() error { return e.Err }

// damage is the error itself, or a [DamagedError] where that is what it means.
func damage(err error) error {
	failure, is := errors.AsType[*sqlite.Error](err)
	if !is || errors.As(err, new(*DamagedError)) {
		return err
	}
	switch failure.Code() & 0xff {
	case lib.SQLITE_CORRUPT, lib.SQLITE_NOTADB:
		return &DamagedError{File: databaseFile, Err: failure}
	}
	return err
}

// readable reads a little of each table, so that a damaged database is told before
// anything is done to it. Whether all of it is whole would take as long as reading it.
func readable(ctx context.Context, db *sql.DB) error {
	names, err := tables(ctx, db)
	if err != nil {
		return damage(err)
	}
	for _, name := range names {
		var one int
		err := db.QueryRowContext(ctx, `SELECT 1 FROM "`+strings.ReplaceAll(name, `"`, `""`)+`" LIMIT 1`).Scan(&one)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return damage(err)
		}
	}
	return nil
}

func tables(ctx context.Context, db *sql.DB) (names []string, err error) {
	rows, err := db.QueryContext(ctx, "SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}
