package journal

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"time"
)

// Usage says what takes how much room in a home. All sizes are bytes.
type Usage struct {
	Database int64 // the file, without its side file
	WAL      int64 // the side file; it shrinks by itself

	// What the database consists of. They add up to Database.
	Entries int64
	Details int64
	Bodies  int64 // with what their pages leave free
	Other   int64 // indexes, hashes of the tree, and what was derived
	Free    int64 // pages that are used again

	BodyCount    int64
	BodyOriginal int64 // what bodies had before compression
	BodyStored   int64 // and after it

	Sessions []SessionUsage // those with the biggest bodies, biggest first
	Policy   Policy         // that the following is about
	Over     OverLimit      // what retention removes when it runs next
	Next     NextLimit      // what comes after that
	PrunedAt int64          // when retention ran last, µs since 1970; 0 if never
}

// SessionUsage is what the bodies of one session take.
type SessionUsage struct {
	Session          string
	Bodies           int64
	Original, Stored int64 // bytes
}

// OverLimit are bodies that are over the limits now.
type OverLimit struct {
	Bodies, Stored int64 // how many, and bytes
}

// NextLimit is the oldest body that may still stay.
type NextLimit struct {
	N  int64 // of its entry; -1 without one
	At int64 // when its age takes it, µs since 1970; 0 without a limit of age
}

// usageSessions is how many sessions are named.
const usageSessions = 20

// UsageOf looks at what a journal takes. It reads every entry's row once and
// no body, and changes nothing.
func UsageOf(ctx context.Context, home string, policy Policy) (Usage, error) {
	r, err := OpenReader(home)
	if err != nil {
		return Usage{}, err
	}
	defer r.Close()
	tx, err := r.db.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return Usage{}, databaseError(r.folder, "look at the usage", err)
	}
	defer tx.Rollback()
	u := Usage{Policy: policy.orDefault(), Next: NextLimit{N: -1}}
	for _, part := range []func(context.Context, *sql.Tx) error{u.addPages, u.addBodies, u.addSessions, u.addLimits} {
		if err := part(ctx, tx); err != nil {
			return Usage{}, databaseError(r.folder, "look at the usage", err)
		}
	}
	info, err := os.Stat(r.folder.database() + "-wal")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Usage{}, &HomeError{Home: home, Err: err}
	}
	if err == nil {
		u.WAL = info.Size()
	}
	return u, nil
}

// addPages asks for the pages of every table but the biggest, whose size is
// what remains: counting its pages would read all bodies.
func (u *Usage) addPages(ctx context.Context, tx *sql.Tx) error {
	var pages, size, free int64
	err := tx.QueryRowContext(ctx, `SELECT (SELECT page_count FROM pragma_page_count), (SELECT page_size FROM pragma_page_size),
		(SELECT freelist_count FROM pragma_freelist_count)`).Scan(&pages, &size, &free)
	if err != nil {
		return err
	}
	u.Database, u.Free = pages*size, free*size
	rows, err := tx.QueryContext(ctx, `
		SELECT name, pgsize FROM dbstat WHERE aggregate = TRUE AND name IN (
			SELECT name FROM sqlite_schema WHERE rootpage > 0 AND name <> 'pieces' UNION SELECT 'sqlite_schema')`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		var bytes int64
		if err := rows.Scan(&name, &bytes); err != nil {
			return err
		}
		switch name {
		case "entries":
			u.Entries = bytes
		case "details":
			u.Details = bytes
		case "bodies":
			u.Bodies = bytes
		default:
			u.Other += bytes
		}
	}
	// With automatic vacuum, one page in size/5 says where the others belong.
	u.Other += pages / (size/5 + 1) * size
	u.Bodies += u.Database - u.Free - u.Entries - u.Details - u.Bodies - u.Other
	return rows.Err()
}

func (u *Usage) addBodies(ctx context.Context, tx *sql.Tx) error {
	return tx.QueryRowContext(ctx, "SELECT count(*), coalesce(sum(kept), 0), coalesce(sum(stored), 0) FROM bodies").
		Scan(&u.BodyCount, &u.BodyOriginal, &u.BodyStored)
}

func (u *Usage) addSessions(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `
		SELECT s.uid, t.bodies, t.original, t.stored FROM (
			SELECT e.session, count(*) AS bodies, sum(b.kept) AS original, sum(b.stored) AS stored
			FROM bodies b JOIN entries e ON e.n = b.n GROUP BY e.session ORDER BY stored DESC LIMIT ?
		) t JOIN sessions s ON s.id = t.session ORDER BY t.stored DESC, s.id`, usageSessions)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var s SessionUsage
		if err := rows.Scan(&s.Session, &s.Bodies, &s.Original, &s.Stored); err != nil {
			return err
		}
		u.Sessions = append(u.Sessions, s)
	}
	return rows.Err()
}

// addLimits walks over the oldest bodies as Prune would.
func (u *Usage) addLimits(ctx context.Context, tx *sql.Tx) error {
	err := tx.QueryRowContext(ctx, "SELECT coalesce(max(CAST(value AS INTEGER)), 0) FROM meta WHERE key = ?", prunedAtKey).Scan(&u.PrunedAt)
	if err != nil {
		return err
	}
	over := newLimits(u.Policy, u.BodyStored, time.Now())
	last := int64(-1)
	for {
		bodies, err := oldestBodies(ctx, tx, last, stepEntries)
		if err != nil {
			return err
		}
		for _, b := range bodies {
			if !over.take(b) {
				u.Next.N = b.n
				if u.Policy.MaxAge >= 0 {
					u.Next.At = b.at + u.Policy.MaxAge.Microseconds()
				}
				return nil
			}
			u.Over.Bodies++
			u.Over.Stored += b.stored
			last = b.n
		}
		if len(bodies) < stepEntries {
			return nil
		}
	}
}
