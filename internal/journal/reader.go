package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// Reader answers questions about a journal. It never writes to it, and sees
// what was committed when each question was asked. It may be used by many
// goroutines.
type Reader struct {
	folder folder
	db     *sql.DB
}

var _ History = (*Reader)(nil)

// readerConnections is enough for one scan on each of a few cores, and for
// what a verification does beside its scans.
const readerConnections = 5

// OpenReader opens the journal in home for reading. It makes nothing and
// changes nothing, but for SQLite's own side files. Without a journal the error wraps ErrNoJournal; others are
// *HomeError, *NewerFormatError and *CorruptError. A home on a network file
// system can be read, because no harm comes from it.
func OpenReader(home string) (*Reader, error) {
	f, err := findFolder(home, true)
	if err != nil {
		return nil, err
	}
	db, err := openReadOnly(f, "mode=ro")
	if cannotOpen(err) && noSideFile(f) {
		// The home itself cannot be written, so that SQLite cannot make its
		// side files. Then nobody else writes the journal either.
		db, err = openReadOnly(f, "mode=ro", "immutable=1")
	}
	if err != nil {
		return nil, err
	}
	return &Reader{folder: f, db: db}, nil
}

// readerCache bounds what a connection holds of the file, to 1 MiB. Nearly
// every page is read once for an answer, and to make room for one takes ten
// times longer than to read it.
const readerCache = "_pragma=cache_size(-1024)"

func openReadOnly(f folder, parameters ...string) (*sql.DB, error) {
	db, err := openDatabase(f.database(), append(parameters, "_pragma=busy_timeout(5000)", "_pragma=query_only(1)", readerCache)...)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(readerConnections)
	db.SetMaxIdleConns(readerConnections)
	if err := checkVersion(context.Background(), db, f); err != nil {
		db.Close()
		return nil, err
	}
	return db, nil
}

func cannotOpen(err error) bool {
	var failed *sqlite.Error
	return errors.As(err, &failed) && (failed.Code()&0xff == sqlite3.SQLITE_CANTOPEN || failed.Code()&0xff == sqlite3.SQLITE_READONLY)
}

func noSideFile(f folder) bool {
	_, err := os.Stat(f.database() + "-wal")
	return errors.Is(err, fs.ErrNotExist)
}

// Close ends the use of the reader.
func (r *Reader) Close() error {
	if err := r.db.Close(); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

// Checkpoint returns the journal's last checkpoint, a signed note over
// everything that is committed. Kept by somebody else, it is what Verify can
// hold the journal against later.
func (r *Reader) Checkpoint(ctx context.Context) ([]byte, error) {
	h, err := readHead(ctx, r.db)
	if err != nil {
		return nil, databaseError(r.folder, "read checkpoint", err)
	}
	return []byte(h.note), nil
}

// VerifierKey is the public key that the journal says its checkpoints are
// signed with.
func (r *Reader) VerifierKey(ctx context.Context) (string, error) {
	var key string
	if err := r.db.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = 'verifier_key'").Scan(&key); err != nil {
		return "", databaseError(r.folder, "read verifier key", err)
	}
	return key, nil
}

// Runs lists sessions, newest first. A prefix that two sessions share returns
// both: with Limit 2 the caller learns that it is ambiguous.
func (r *Reader) Runs(ctx context.Context, filter RunFilter) ([]Run, error) {
	query := `
		SELECT s.uid, (SELECT max(uid) FROM sessions WHERE uid < s.uid), (SELECT min(uid) FROM sessions WHERE uid > s.uid),
			b.leaf, d.data, l.at, CASE WHEN l.kind = 'end' THEN l.leaf END
		FROM sessions s
		LEFT JOIN entries b ON b.session = s.id AND b.seq = 0 AND b.kind = 'session'
		LEFT JOIN details d ON d.n = b.n
		JOIN entries l ON l.session = s.id AND l.seq = (SELECT max(seq) FROM entries WHERE session = s.id)
		WHERE l.at >= ?`
	args := []any{filter.Since}
	if filter.Since == 0 {
		args[0] = int64(-1)
	}
	if filter.Prefix != "" {
		// Hex digits are below "g", so that this is exactly the prefix's range.
		prefix := strings.ToLower(filter.Prefix)
		query += " AND s.uid >= ? AND s.uid < ?"
		args = append(args, prefix, prefix+"g")
	}
	query += " ORDER BY s.id DESC"
	if filter.Limit > 0 {
		query += " LIMIT ?"
		args = append(args, filter.Limit)
	}
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, databaseError(r.folder, "list sessions", err)
	}
	defer rows.Close()
	var runs []Run
	told := make(map[string]*entry.Detail) // most sessions say what one before has said
	for rows.Next() {
		var run Run
		var before, behind sql.NullString
		var begin, detail, end sql.RawBytes
		if err := rows.Scan(&run.ID, &before, &behind, &begin, &detail, &run.Last, &end); err != nil {
			return nil, databaseError(r.folder, "list sessions", err)
		}
		run.Shared = max(sharedDigits(run.ID, before.String), sharedDigits(run.ID, behind.String))
		if err := run.fill(begin, detail, end, told); err != nil {
			return nil, fmt.Errorf("list sessions: session %s: %w", run.ID, err)
		}
		runs = append(runs, run)
	}
	if err := rows.Err(); err != nil {
		return nil, databaseError(r.folder, "list sessions", err)
	}
	return runs, nil
}

// sharedDigits is how much two ids have in common. Of all others, those next
// to an id in the alphabet have the most.
func sharedDigits(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func (run *Run) fill(begin, detail, end []byte, told map[string]*entry.Detail) error {
	if begin != nil {
		l, err := entry.DecodeLeaf(begin)
		if err != nil {
			return err
		}
		run.Started, run.Capture = l.At, l.Capture
		run.Erased = detail == nil && l.Detail != entry.Hash{}
	}
	if detail != nil {
		d := told[string(detail)]
		if d == nil {
			var err error
			if d, err = entry.OpenDetail(detail); err != nil {
				return err
			}
			told[string(detail)] = d
		}
		run.Label, run.Program, run.Transport, run.Version = d.Label, d.Program, d.Transport, d.Version
	}
	if end != nil {
		l, err := entry.DecodeLeaf(end)
		if err != nil {
			return err
		}
		run.End = &l.Entry
	}
	return nil
}
