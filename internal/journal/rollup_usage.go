package journal

import (
	"context"
	"database/sql"
	"errors"
)

// stretchShift is how many low bits of an entry's number a stretch of the log
// leaves out.
const stretchShift = 12

// stretchKey is a stretch of the log, 4,096 entries, and those of one session
// in it.
type stretchKey struct{ session, stretch int64 }

func stretchOf(session, n int64) stretchKey { return stretchKey{session, n >> stretchShift} }

// stretchUsage is how many bytes there are. It is kept as entries come and as
// their details and bodies go, because to count the pages of a long journal
// takes seconds, and so does a look at every body.
type stretchUsage struct {
	entries, leafBytes   int64
	details, detailBytes int64 // with their salts
	bodies, kept, stored int64 // bytes without salts, before compression and after it
	newest               int64 // time of the newest entry, µs since 1970
}

func (u *stretchUsage) merge(o *stretchUsage) {
	u.entries += o.entries
	u.leafBytes += o.leafBytes
	u.details += o.details
	u.detailBytes += o.detailBytes
	u.bodies += o.bodies
	u.kept += o.kept
	u.stored += o.stored
	u.newest = max(u.newest, o.newest)
}

// usageColumns are those behind the key, in the order of the fields.
const usageColumns = "entries, leaf_bytes, details, detail_bytes, bodies, kept, stored, newest"

func (u *stretchUsage) targets() []any {
	return []any{&u.entries, &u.leafBytes, &u.details, &u.detailBytes, &u.bodies, &u.kept, &u.stored, &u.newest}
}

// addUsage adds to what is stored, so that writers need not know of each other.
const addUsage = `INSERT INTO usage (session, stretch, ` + usageColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET entries = entries + excluded.entries, leaf_bytes = leaf_bytes + excluded.leaf_bytes,
		details = details + excluded.details, detail_bytes = detail_bytes + excluded.detail_bytes,
		bodies = bodies + excluded.bodies, kept = kept + excluded.kept, stored = stored + excluded.stored,
		newest = max(newest, excluded.newest)`

// usageTally adds up what is to be added to the table.
type usageTally map[stretchKey]*stretchUsage

func (t usageTally) add(key stretchKey, u *stretchUsage) {
	if sum := t[key]; sum != nil {
		sum.merge(u)
		return
	}
	sum := *u
	t[key] = &sum
}

// save adds to the table what was added up, and forgets it.
func (t usageTally) save(ctx context.Context, statement *sql.Stmt) error {
	for key, u := range t {
		_, err := statement.ExecContext(ctx, key.session, key.stretch,
			u.entries, u.leafBytes, u.details, u.detailBytes, u.bodies, u.kept, u.stored, u.newest)
		if err != nil {
			return err
		}
	}
	clear(t)
	return nil
}

// usage is what an item takes. Its body must be in the tables already.
func (it *item) usage() stretchUsage {
	u := stretchUsage{entries: 1, leafBytes: int64(len(it.leaf)), newest: it.entry.At}
	if it.data != nil {
		u.details, u.detailBytes = 1, int64(len(it.salt)+len(it.data))
	}
	if it.body != nil {
		u.bodies, u.kept, u.stored = 1, it.body.kept, it.body.linked
	}
	return u
}

// forgetUsage takes what was deleted off the table, in the transaction that
// deletes it. Details come with their bytes.
func forgetUsage(ctx context.Context, db database, numbers string, details map[int64]int64, bodies map[int64]erasedBody) error {
	rows, err := db.QueryContext(ctx, "SELECT n, session FROM entries WHERE n IN (SELECT value FROM json_each(?))", numbers)
	if err != nil {
		return err
	}
	defer rows.Close()
	gone := make(usageTally)
	for rows.Next() {
		var n, session int64
		if err := rows.Scan(&n, &session); err != nil {
			return err
		}
		var u stretchUsage
		if bytes, had := details[n]; had {
			u.details, u.detailBytes = -1, -bytes
		}
		if body, had := bodies[n]; had {
			u.bodies, u.kept, u.stored = -1, -body.kept, -body.stored
		}
		if u != (stretchUsage{}) {
			gone.add(stretchOf(session, n), &u)
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil || len(gone) == 0 {
		return err
	}
	statement, err := db.PrepareContext(ctx, addUsage)
	if err != nil {
		return err
	}
	return errors.Join(gone.save(ctx, statement), statement.Close())
}
