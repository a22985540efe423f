package journal

import (
	"context"
	"database/sql"
	"fmt"
)

// checkSchema compares the tables and indexes of the journal with those that
// a new one gets. An index that says something else than its table makes
// answers lie while each row is right, see wholeness, and a trigger that
// somebody added runs inside of every recorder.
func (v *verification) checkSchema() error {
	want, err := newSchema(v.ctx)
	if err != nil {
		return fmt.Errorf("make a schema to compare with: %w", err)
	}
	rows, err := v.db.QueryContext(v.ctx, schemaQuery)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name, is string
		if err := rows.Scan(&name, &is); err != nil {
			return err
		}
		switch should, known := want[name]; {
		case !known:
			v.report.find(-1, "the database has %q, which no recorder makes", name)
		case should != is:
			v.report.find(-1, "%q of the database is not as recorders make it", name)
		}
		delete(want, name)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for name := range want {
		v.report.find(-1, "%q is missing from the database", name)
	}
	return nil
}

// ofSQLite is true of what SQLite makes by itself. Whoever may write its schema
// directly can give anything a name that begins like those, so that the name
// alone says nothing: a trigger called sqlite_x runs like any other.
const ofSQLite = "(type = 'index' AND name GLOB 'sqlite_autoindex_*' AND sql IS NULL OR type = 'table' AND name IN ('sqlite_stat1', 'sqlite_stat4'))"

const schemaQuery = "SELECT type || ' ' || name, coalesce(sql, '') FROM sqlite_schema WHERE NOT " + ofSQLite

// newSchema is what a new journal has.
func newSchema(ctx context.Context) (map[string]string, error) {
	db, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	if _, err := db.ExecContext(ctx, schema); err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, schemaQuery)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	objects := make(map[string]string)
	for rows.Next() {
		var name, is string
		if err := rows.Scan(&name, &is); err != nil {
			return nil, err
		}
		objects[name] = is
	}
	return objects, rows.Err()
}
