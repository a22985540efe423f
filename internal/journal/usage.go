package journal

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// Usage says what takes how much room in a home. All sizes are bytes.
type Usage struct {
	File int64 // the database's file, as the file system has it
	WAL  int64 // its side file; it shrinks by itself

	// Database is how long the file is when it has all that is in its side
	// file now. What it consists of adds up to that.
	Database int64
	Entries  int64 // leaves, the bytes that the log hashes
	Details  int64 // with their salts
	Bodies   int64 // as stored, with their salts
	Other    int64 // what SQLite needs around those: indexes, columns, hashes of the tree, and what was derived
	Free     int64 // pages that are used again

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

// UsageOf looks at what a journal takes. It reads sums that are kept as
// entries are written and erased, and changes nothing.
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
	for _, part := range []func(context.Context, *sql.Tx) error{u.addSums, u.addPages, u.addSessions, u.addLimits} {
		if err := part(ctx, tx); err != nil {
			return Usage{}, databaseError(r.folder, "look at the usage", err)
		}
	}
	for size, path := range map[*int64]string{&u.File: r.folder.database(), &u.WAL: r.folder.database() + "-wal"} {
		info, err := os.Stat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return Usage{}, &HomeError{Home: home, Err: err}
		}
		if err == nil {
			*size = info.Size()
		}
	}
	return u, nil
}

func (u *Usage) addSums(ctx context.Context, tx *sql.Tx) error {
	err := tx.QueryRowContext(ctx, `SELECT coalesce(sum(leaf_bytes), 0), coalesce(sum(detail_bytes), 0), coalesce(sum(bodies), 0),
		coalesce(sum(kept), 0), coalesce(sum(stored), 0) FROM usage`).
		Scan(&u.Entries, &u.Details, &u.BodyCount, &u.BodyOriginal, &u.BodyStored)
	u.Bodies = u.BodyStored + u.BodyCount*entry.SaltBytes
	return err
}

// addPages takes what the sums do not know for what SQLite needs.
func (u *Usage) addPages(ctx context.Context, tx *sql.Tx) error {
	var pages, size, free int64
	err := tx.QueryRowContext(ctx, `SELECT (SELECT page_count FROM pragma_page_count), (SELECT page_size FROM pragma_page_size),
		(SELECT freelist_count FROM pragma_freelist_count)`).Scan(&pages, &size, &free)
	u.Database, u.Free = pages*size, free*size
	u.Other = u.Database - u.Free - u.Entries - u.Details - u.Bodies
	return err
}

func (u *Usage) addSessions(ctx context.Context, tx *sql.Tx) error {
	rows, err := tx.QueryContext(ctx, `
		SELECT s.uid, t.bodies, t.kept, t.stored FROM (
			SELECT session, sum(bodies) AS bodies, sum(kept) AS kept, sum(stored) AS stored
			FROM usage GROUP BY session HAVING sum(bodies) > 0 ORDER BY 4 DESC, session LIMIT ?
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

// addLimits goes over the oldest bodies as Prune would, a stretch of the log at
// a time where all of it must go, and else body by body.
func (u *Usage) addLimits(ctx context.Context, tx *sql.Tx) error {
	err := tx.QueryRowContext(ctx, "SELECT coalesce(max(CAST(value AS INTEGER)), 0) FROM meta WHERE key = ?", prunedAtKey).Scan(&u.PrunedAt)
	if err != nil {
		return err
	}
	over := newLimits(u.Policy, u.BodyStored, time.Now())
	stretches, err := storedStretches(ctx, tx)
	if err != nil {
		return err
	}
	for _, one := range stretches {
		if over.takeAll(one.usage) {
			u.Over.Bodies += one.usage.bodies
			u.Over.Stored += one.usage.stored
			continue
		}
		bodies, err := oldestBodies(ctx, tx, one.stretch<<stretchShift-1, int(min(one.usage.bodies, 1<<stretchShift)))
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
		}
	}
	return nil
}

// takeAll says whether every body of a stretch must go, and counts on that. A
// no says nothing.
func (l *limits) takeAll(u stretchUsage) bool {
	if u.newest >= l.cutoff && l.excess <= u.stored {
		return false
	}
	l.excess -= u.stored
	return true
}

// bodyStretch is a stretch of the log with what all sessions have in it.
type bodyStretch struct {
	stretch int64
	usage   stretchUsage
}

// storedStretches lists those with bodies, the oldest first.
func storedStretches(ctx context.Context, tx *sql.Tx) ([]bodyStretch, error) {
	rows, err := tx.QueryContext(ctx, `SELECT stretch, sum(bodies), sum(stored), max(newest) FROM usage
		GROUP BY stretch HAVING sum(bodies) > 0 ORDER BY stretch`)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var list []bodyStretch
	for rows.Next() {
		var one bodyStretch
		if err := rows.Scan(&one.stretch, &one.usage.bodies, &one.usage.stored, &one.usage.newest); err != nil {
			return nil, err
		}
		list = append(list, one)
	}
	return list, rows.Err()
}
