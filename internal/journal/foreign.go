package journal

import (
	"context"
	"fmt"
	"strings"
)

// ForeignError says that the database has something in it that no recorder
// makes and that could act when an entry is written.
type ForeignError struct {
	Path       string
	Kind, Name string // a trigger, a view or a table, and how it is called
}

func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s has a %s %q that no recorder makes, so that nothing is added to it; have it taken out by whoever put it there (DROP %s), or move the journal aside to begin a new one",
		e.Path, e.Kind, e.Name, strings.ToUpper(e.Kind))
}

// ownTables are all tables that a journal has. A table of another kind under
// one of these names is foreign too.
var ownTables = func() map[string]bool {
	own := make(map[string]bool)
	for _, line := range strings.Split(schema, "\n") {
		for _, begin := range []string{"CREATE TABLE ", "CREATE VIRTUAL TABLE "} {
			if rest, found := strings.CutPrefix(line, begin); found {
				name, _, _ := strings.Cut(rest, " ")
				own[name] = true
			}
		}
	}
	for _, part := range []string{"data", "idx", "docsize", "config"} { // what a text index consists of
		own["texts_"+part] = true
	}
	return own
}()

// refuseForeign finds triggers, views and tables that no recorder makes. A
// trigger runs inside of every recorder, and could change what was recorded a
// moment before it is signed. An index can do nothing of the kind: it is left
// to verify.
func refuseForeign(ctx context.Context, db rowsQueryer, f folder) error {
	rows, err := db.QueryContext(ctx, "SELECT type, name FROM sqlite_schema WHERE type <> 'index' AND NOT "+ofSQLite)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var kind, name string
		if err := rows.Scan(&kind, &name); err != nil {
			return err
		}
		if kind != "table" || !ownTables[name] {
			return &ForeignError{Path: f.database(), Kind: kind, Name: name}
		}
	}
	return rows.Err()
}

// checkForeign looks for what is foreign when the database's schema is not
// the one that was looked at last. It is asked within each transaction: a
// trigger may come while a session runs.
func (w *writer) checkForeign() error {
	var version int64
	if err := w.insert.schemaVersion.QueryRow().Scan(&version); err != nil {
		return err
	}
	if w.insert.looked && version == w.insert.schema {
		return nil
	}
	if err := refuseForeign(context.Background(), w.db, w.folder); err != nil {
		return err
	}
	w.insert.schema, w.insert.looked = version, true
	return nil
}
