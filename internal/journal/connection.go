package journal

import (
	"database/sql"
	"errors"
	"os"
)

// statements are prepared once for each connection.
type statements struct {
	session, findSession, entry, detail, node, checkpoint, head, body, piece, lastPiece *sql.Stmt

	// Of the outbox: what nearly every mapped call needs.
	letter, findIntent, delivered *sql.Stmt

	begin, commit, readHead, walFrames, schemaVersion *sql.Stmt

	schema int64 // version of the database's schema that was looked at last
	looked bool

	derive *deriver
}

func prepareStatements(db *sql.DB) (*statements, error) {
	var s statements
	for _, one := range []struct {
		statement **sql.Stmt
		query     string
	}{
		{&s.session, "INSERT INTO sessions (uid) VALUES (?) ON CONFLICT DO NOTHING"},
		{&s.findSession, "SELECT id FROM sessions WHERE uid = ?"},
		{&s.entry, `INSERT INTO entries (n, session, seq, kind, at, side, bytes, call, took, outcome, method, tool, error, leaf)
			VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&s.detail, "INSERT INTO details (n, salt, data) VALUES (?, ?, ?)"},
		{&s.body, "INSERT INTO bodies (n, salt, id, kept, stored) VALUES (?, ?, ?, ?, ?)"},
		{&s.piece, "INSERT OR REPLACE INTO pieces (key, packed, data) VALUES (?, ?, ?)"},
		{&s.lastPiece, "SELECT coalesce(max(key), 0) FROM pieces"},
		{&s.node, "INSERT INTO nodes (level, i, hash) VALUES (?, ?, ?)"},
		{&s.checkpoint, "INSERT INTO checkpoints (size, at, note) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET at = excluded.at"},
		{&s.letter, "INSERT INTO outbox (n, state, tries, due, said) VALUES (?, ?, 0, ?, '')"},
		{&s.findIntent, "SELECT n FROM entries WHERE session = ? AND seq = ?"},
		{&s.delivered, "DELETE FROM outbox WHERE n = ?"},
		{&s.begin, "BEGIN IMMEDIATE"},
		{&s.commit, "COMMIT"},
		{&s.readHead, headQuery},
		{&s.walFrames, "PRAGMA wal_checkpoint(NOOP)"},
		{&s.schemaVersion, "PRAGMA schema_version"},
		{&s.head, "UPDATE head SET size = ?, peaks = ?, note = ?, kept_at = ?"},
	} {
		var err error
		if *one.statement, err = db.Prepare(one.query); err != nil {
			return nil, err
		}
	}
	var err error
	s.derive, err = newDeriver(db)
	return &s, err
}

// prepare makes an open database ready to be written to.
func (w *writer) prepare() error {
	file, err := os.Stat(w.folder.database())
	if err != nil {
		return &HomeError{Home: w.folder.path, Err: err}
	}
	insert, err := prepareStatements(w.db)
	if err != nil {
		return databaseError(w.folder, "prepare to write", err)
	}
	w.file, w.insert, w.level = file, insert, ""
	if w.backfiller == nil {
		return nil
	}
	if err := w.exec("PRAGMA wal_autocheckpoint = 0"); err != nil {
		return databaseError(w.folder, "prepare to write", err)
	}
	return nil
}

// connect opens the database again after a failure. It also notices that the
// file is not the one that was opened: SQLite would go on writing into a
// deleted file as if nothing had happened.
func (w *writer) connect() error {
	if w.db != nil {
		now, err := os.Stat(w.folder.database())
		if err == nil && os.SameFile(now, w.file) {
			return nil
		}
		w.disconnect()
	}
	if err := w.folder.refuseOddFiles(); err != nil {
		return err
	}
	if !isWritten(w.folder.database()) {
		return &HomeError{Home: w.folder.path, Err: errRemoved}
	}
	db, err := openExisting(w.folder)
	if err != nil {
		return err
	}
	w.db = db
	if err := w.prepare(); err != nil {
		w.disconnect()
		return err
	}
	return nil
}

// disconnect forgets everything that belongs to the connection. What a closed
// transaction had written is gone, so that session rows must be looked up again.
func (w *writer) disconnect() {
	if w.db != nil {
		w.db.Close() // there is nothing left to lose by an error here
	}
	w.db, w.insert, w.file = nil, nil, nil
	clear(w.sessions)
	w.note = ""
}

var errRemoved = errors.New("the journal was removed while it was in use")
