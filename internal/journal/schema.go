package journal

// schema is what a new database gets, in one transaction.
//
// entries.leaf is the record; the other columns repeat what the leaf and the
// detail say so that questions are answered by index. details can be deleted
// row by row; method, tool and error are then NULL. bodies have their bytes
// in pieces, under id * 2^20 + i. loose has the ids of pieces that belong to
// no entry yet, or no more. erasures have the lists that their entries hash. outbox has the
// intents that are still to be declared, or cannot be. head has one row, written
// again with every commit. peaks are 32 bytes each, biggest first.
// rollups and all tables behind it are derived as well: they answer questions and
// prove nothing. rollups_sums is all of a roll-up but what is big: a question
// about sums reads it alone, where each session's lie together.
//
// entries_apart says OR and not IN, for which SQLite would build a table at
// every insert.
const schema = `
CREATE TABLE meta (
	key   TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE sessions (
	id  INTEGER PRIMARY KEY,
	uid TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE entries (
	n       INTEGER PRIMARY KEY,
	session INTEGER NOT NULL,
	seq     INTEGER NOT NULL,
	kind    TEXT NOT NULL,
	at      INTEGER NOT NULL,
	side    TEXT,
	bytes   INTEGER,
	call    INTEGER,
	took    INTEGER,
	outcome TEXT,
	method  TEXT,
	tool    TEXT,
	error   TEXT,
	leaf    BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX entries_by_place ON entries (session, seq);
CREATE INDEX entries_by_call ON entries (session, call, kind) WHERE call IS NOT NULL;
CREATE INDEX calls_by_tool ON entries (tool) WHERE kind = 'request' AND tool IS NOT NULL;
CREATE INDEX failed_answers ON entries (session, call) WHERE outcome = 'error' OR outcome = 'tool_error';
CREATE INDEX entries_apart ON entries (kind, session, at, bytes)
	WHERE kind = 'session' OR kind = 'tools' OR kind = 'noise' OR kind = 'stderr' OR kind = 'gap' OR kind = 'end';

CREATE INDEX intents ON entries (session, outcome, at) WHERE kind = 'intent';

CREATE TABLE details (
	n    INTEGER PRIMARY KEY,
	salt BLOB NOT NULL,
	data BLOB NOT NULL
) STRICT;

CREATE TABLE definitions (
	sha256 BLOB PRIMARY KEY,
	data   BLOB NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE bodies (
	n      INTEGER PRIMARY KEY,
	salt   BLOB NOT NULL,
	id     INTEGER NOT NULL,
	kept   INTEGER NOT NULL,
	stored INTEGER NOT NULL
) STRICT;

CREATE TABLE pieces (
	key    INTEGER PRIMARY KEY,
	packed INTEGER NOT NULL,
	data   BLOB NOT NULL
) STRICT;

CREATE TABLE loose (
	id    INTEGER PRIMARY KEY,
	mark  INTEGER NOT NULL,
	since INTEGER NOT NULL
) STRICT;

CREATE TABLE erasures (
	n    INTEGER PRIMARY KEY,
	list BLOB NOT NULL
) STRICT;

CREATE TABLE outbox (
	n     INTEGER PRIMARY KEY,
	state TEXT NOT NULL,
	tries INTEGER NOT NULL,
	due   INTEGER NOT NULL,
	said  TEXT NOT NULL
) STRICT;

CREATE TABLE nodes (
	level INTEGER NOT NULL,
	i     INTEGER NOT NULL,
	hash  BLOB NOT NULL,
	PRIMARY KEY (level, i)
) STRICT, WITHOUT ROWID;

CREATE TABLE head (
	id      INTEGER PRIMARY KEY CHECK (id = 1),
	size    INTEGER NOT NULL,
	peaks   BLOB NOT NULL,
	note    TEXT NOT NULL,
	kept_at INTEGER NOT NULL
) STRICT;

CREATE TABLE checkpoints (
	size INTEGER PRIMARY KEY,
	at   INTEGER NOT NULL,
	note TEXT NOT NULL
) STRICT;

CREATE TABLE rollups (
	session     INTEGER NOT NULL,
	side        TEXT NOT NULL,
	method      TEXT NOT NULL,
	tool        TEXT NOT NULL,
	hour        INTEGER NOT NULL,
	calls       INTEGER NOT NULL,
	sent        INTEGER NOT NULL,
	answered    INTEGER NOT NULL,
	ok          INTEGER NOT NULL,
	errors      INTEGER NOT NULL,
	tool_errors INTEGER NOT NULL,
	returned    INTEGER NOT NULL,
	returned_ok INTEGER NOT NULL,
	took        INTEGER NOT NULL,
	longest     INTEGER NOT NULL,
	first       INTEGER NOT NULL,
	last        INTEGER NOT NULL,
	largest     INTEGER NOT NULL,
	worst       INTEGER NOT NULL,
	worst_call  INTEGER NOT NULL,
	extremes    BLOB NOT NULL,
	sizes       BLOB NOT NULL,
	times       BLOB NOT NULL
) STRICT;
CREATE UNIQUE INDEX rollups_by_key ON rollups (session, side, method, tool, hour);
CREATE INDEX rollups_sums ON rollups (session, side, method, tool, hour, calls, sent, answered, ok, errors, tool_errors,
	returned, returned_ok, took, longest, first, last, largest, worst, worst_call);
CREATE INDEX rollups_by_hour ON rollups (hour);
CREATE INDEX rollups_in_trouble ON rollups (session, hour, first, last) WHERE calls > ok;

CREATE TABLE failures (
	session INTEGER NOT NULL,
	side    TEXT NOT NULL,
	method  TEXT NOT NULL,
	tool    TEXT NOT NULL,
	hour    INTEGER NOT NULL,
	outcome TEXT NOT NULL,
	error   TEXT NOT NULL,
	calls   INTEGER NOT NULL,
	last    INTEGER NOT NULL,
	PRIMARY KEY (session, side, method, tool, hour, outcome, error)
) STRICT, WITHOUT ROWID;

CREATE TABLE stale (
	session INTEGER NOT NULL,
	hour    INTEGER NOT NULL,
	PRIMARY KEY (session, hour)
) STRICT, WITHOUT ROWID;

CREATE TABLE unanswered (
	n       INTEGER PRIMARY KEY,
	session INTEGER NOT NULL
) STRICT;
CREATE INDEX unanswered_by_session ON unanswered (session);

CREATE TABLE usage (
	session      INTEGER NOT NULL,
	stretch      INTEGER NOT NULL,
	entries      INTEGER NOT NULL,
	leaf_bytes   INTEGER NOT NULL,
	details      INTEGER NOT NULL,
	detail_bytes INTEGER NOT NULL,
	bodies       INTEGER NOT NULL,
	kept         INTEGER NOT NULL,
	stored       INTEGER NOT NULL,
	newest       INTEGER NOT NULL,
	PRIMARY KEY (session, stretch)
) STRICT, WITHOUT ROWID;

CREATE TABLE destinations (
	n       INTEGER NOT NULL,
	place   TEXT NOT NULL,
	session INTEGER NOT NULL,
	at      INTEGER NOT NULL,
	PRIMARY KEY (n, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX destinations_by_place ON destinations (place, at);
CREATE INDEX destinations_by_session ON destinations (session, place, at);

` + textsTable + `;
`

// textsTable is the text index. It keeps words and no texts. Without the
// letters' marks, "cafe" would find "café" in the index only.
const textsTable = `CREATE VIRTUAL TABLE texts USING fts5 (text, content = '', contentless_delete = 1,
	tokenize = 'unicode61 remove_diacritics 0')`
