// Package migration holds the tables of both databases and brings them up to date.
//
// A file in sql/ is for both databases; one in sql/postgres is for PostgreSQL
// alone. A file that was released is never changed: what comes later is another
// file with a higher number. Macros stand for what the databases spell differently:
//
//	{text}    text that is compared byte by byte
//	{bytes}   bytes
//	{serial}  a number that the database gives, in the order of insertion
//
// The package must not know what the tables mean, and it never takes anything
// away: there is no way down.
//
// # Life of a table
//
// A new version of Deed needs a column. Its file has a number of its own; the
// first instance that starts takes the database's lock and runs the file in a
// transaction, the others wait and find it done.
package migration

import (
	"bytes"
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"
)

//go:embed sql
var files embed.FS

// table is where goose keeps which files were run.
const table = "deed_migrations"

var (
	forSQLite = strings.NewReplacer(
		"{text}", "TEXT", "{bytes}", "BLOB", "{serial}", "INTEGER PRIMARY KEY AUTOINCREMENT")
	forPostgres = strings.NewReplacer(
		"{text}", `TEXT COLLATE "C"`, "{bytes}", "BYTEA", "{serial}", "BIGINT GENERATED ALWAYS AS IDENTITY")
)

// SQLite brings a SQLite database up to date. The caller has it for itself.
func SQLite(ctx context.Context, db *sql.DB) error {
	return up(ctx, goose.DialectSQLite3, db, written{macros: forSQLite, folders: []string{"sql"}})
}

// Postgres brings a PostgreSQL database up to date, one instance at a time.
func Postgres(ctx context.Context, db *sql.DB) error {
	// Tried each second, for five minutes: as long as another instance's migration
	// may take.
	one, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return fmt.Errorf("make the migration's lock: %w", err)
	}
	return up(ctx, goose.DialectPostgres, db,
		written{macros: forPostgres, folders: []string{"sql", "sql/postgres"}}, goose.WithSessionLocker(one))
}

func up(ctx context.Context, dialect goose.Dialect, db *sql.DB, source fs.FS, options ...goose.ProviderOption) error {
	provider, err := goose.NewProvider(dialect, db, source, append(options,
		goose.WithTableName(table), goose.WithDisableGlobalRegistry(true))...)
	if err != nil {
		return fmt.Errorf("read the migrations: %w", err)
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bring the tables up to date: %w", err)
	}
	return nil
}

// written is the files of one database in one folder, with their macros written
// out.
type written struct {
	macros  *strings.Replacer
	folders []string
}

// Open implements [fs.FS].
func (w written) Open(name string) (fs.File, error) {
	if name == "." {
		return &folder{of: w}, nil
	}
	for _, in := range w.folders {
		text, err := files.ReadFile(in + "/" + name)
		if err == nil {
			rendered := []byte(w.macros.Replace(string(text)))
			return &file{name: name, size: int64(len(rendered)), Reader: bytes.NewReader(rendered)}, nil
		}
	}
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// Glob implements [fs.GlobFS].
func (w written) Glob(pattern string) ([]string, error) {
	var names []string
	for _, in := range w.folders {
		found, err := fs.Glob(files, in+"/"+pattern)
		if err != nil {
			return nil, err
		}
		for _, path := range found {
			names = append(names, strings.TrimPrefix(path, in+"/"))
		}
	}
	return names, nil
}

type file struct {
	*bytes.Reader
	name string
	size int64
}

func (f *file) Stat() (fs.FileInfo, error) { return info{name: f.name, size: f.size}, nil }
func (f *file) Close() error               { return nil }

type folder struct{ of written }

func (f *folder) Stat() (fs.FileInfo, error) { return info{name: ".", folder: true}, nil }
func (f *folder) Close() error               { return nil }
func (f *folder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: ".", Err: fs.ErrInvalid}
}

type info struct {
	name   string
	size   int64
	folder bool
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.size }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.folder }
func (i info) Sys() any           { return nil }
func (i info) Mode() fs.FileMode {
	if i.folder {
		return fs.ModeDir | 0o500
	}
	return 0o400
}
