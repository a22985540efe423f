package journal

import (
	"context"
	"database/sql"
	"errors"
	"strconv"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/journal/rollup"
)

const (
	// Roll-ups and open calls that a writer remembers between groups. What it
	// forgets it reads again.
	rememberedRollups = 2_000
	rememberedOpen    = 50_000
)

// deriver keeps the derived tables in step with the entries: roll-ups, open
// requests, destinations, what entries take. It belongs to one connection and works inside the
// transaction of the entries, so that both are in or neither is. Whoever rolls
// back must throw it away.
type deriver struct {
	db    *sql.DB
	tally *rollup.Tally
	saver rollupSaver

	usage usageTally

	ask, answer, destination, use, dataVersion *sql.Stmt

	begun      bool   // in this transaction
	version    int64  // of the database, when it was last looked at
	generation string // of the tables, when they were last read
	texts      bool   // something was written that search does not know yet
}

// derived is what hangs off an item for the derived tables.
type derived struct {
	declaration *entry.Declaration // of an intent; for the outbox

	places []string // destinations, as search keeps them
	text   bool     // the detail has text to be searched
}

func newDeriver(db *sql.DB) (*deriver, error) {
	ctx := context.Background()
	d := &deriver{db: db, tally: rollup.NewTally(), usage: make(usageTally), texts: true}
	d.tally.Find = func(place rollup.Place) (rollup.OpenCall, bool, error) { return findOpen(ctx, db, place) }
	d.tally.Load = func(key rollup.Key) (*rollup.Rollup, error) { return findRollup(ctx, db, key) }
	var err error
	if d.saver, err = newRollupSaver(ctx, db); err != nil {
		return nil, err
	}
	for _, one := range []struct {
		statement **sql.Stmt
		query     string
	}{
		{&d.ask, "INSERT INTO unanswered (n, session) VALUES (?, ?)"},
		{&d.answer, "DELETE FROM unanswered WHERE n = ?"},
		{&d.destination, "INSERT INTO destinations (n, place, session, at) VALUES (?, ?, ?, ?)"},
		{&d.use, addUsage},
		{&d.dataVersion, "PRAGMA data_version"},
	} {
		if *one.statement, err = db.Prepare(one.query); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// add derives from entry n, which is in the tables already.
func (d *deriver) add(n, session int64, it *item) error {
	if !d.begun {
		if err := d.begin(); err != nil {
			return err
		}
	}
	for _, place := range it.extra.places {
		if _, err := d.destination.Exec(n, place, session, it.entry.At); err != nil {
			return err
		}
	}
	takes := it.usage()
	d.usage.add(stretchOf(session, n), &takes)
	d.texts = d.texts || it.extra.text
	return d.tally.Add(n, session, &it.derived)
}

// begin forgets what is remembered of the roll-ups that other writers change
// as well, when they wrote, and everything when somebody derived anew, as
// erasing does: names that were erased must not come back from memory.
func (d *deriver) begin() error {
	var version int64
	// It changes when another connection commits, and not with our own commits.
	if err := d.dataVersion.QueryRow().Scan(&version); err != nil {
		return err
	}
	if version != d.version {
		generation, err := readMeta(context.Background(), d.db, metaGeneration)
		if err != nil {
			return err
		}
		if generation != d.generation {
			d.tally.Empty()
		}
		d.tally.EmptyShared()
		d.version, d.generation = version, generation
	}
	d.begun = true
	return nil
}

// flush writes what the entries of a transaction changed.
func (d *deriver) flush() error {
	t := d.tally
	for _, key := range t.Changed {
		if err := d.saver.save(context.Background(), key, t.Rows[key]); err != nil {
			return err
		}
	}
	for place, n := range t.Asked {
		if _, err := d.ask.Exec(n, place.Session); err != nil {
			return err
		}
	}
	for _, n := range t.Answered {
		if _, err := d.answer.Exec(n); err != nil {
			return err
		}
	}
	t.Written()
	if err := d.usage.save(context.Background(), d.use); err != nil {
		return err
	}
	if len(t.Rows) > rememberedRollups {
		clear(t.Rows)
	}
	if len(t.Open) > rememberedOpen {
		clear(t.Open)
	}
	d.begun = false
	return nil
}

// Rows of meta that belong to derived tables.
const (
	metaGeneration = "derived"  // how often something was derived anew
	metaSearched   = "indexed"  // the first entry that the text index does not know
	metaUnmerged   = "unmerged" // there while words of deleted texts may be in the text index
)

func readMeta(ctx context.Context, db database, key string) (string, error) {
	var value string
	err := db.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = ?", key).Scan(&value)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return value, err
}

func writeMeta(ctx context.Context, db database, key, value string) error {
	_, err := db.ExecContext(ctx, "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value", key, value)
	return err
}

func readMetaInteger(ctx context.Context, db database, key string) (int64, error) {
	value, err := readMeta(ctx, db, key)
	if err != nil || value == "" {
		return 0, err
	}
	return strconv.ParseInt(value, 10, 64)
}
