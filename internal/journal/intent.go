package journal

import (
	"database/sql"
	"errors"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// firstDue is how long an intent is left to the recorder that is declaring it.
// It then must have died.
const firstDue = time.Minute

// The states of a row of the outbox.
const (
	StateWaiting       = "waiting"
	StateUndeliverable = "undeliverable"
)

// followIntent keeps the outbox in step with an intent that was just written
// as entry n, within its transaction.
func (w *writer) followIntent(session, n int64, it *item) error {
	e, said := &it.entry, it.extra.declaration
	if said == nil {
		said = &entry.Declaration{}
	}
	switch e.Reason {
	case entry.IntentDeclaring:
		_, err := w.insert.letter.Exec(n, StateWaiting, e.At+firstDue.Microseconds())
		return err
	case entry.IntentRequired, entry.IntentUndeclarable:
		return nil
	}
	about := e.Intent
	if e.Session != entry.OwnSession {
		err := w.insert.findIntent.QueryRow(session, e.Intent).Scan(&about)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // it was given up, when the disk did not take it
		}
		if err != nil {
			return err
		}
	}
	var err error
	switch e.Reason {
	case entry.IntentDeclared, entry.IntentRefused:
		_, err = w.insert.delivered.Exec(about)
	case entry.IntentFailed:
		_, err = w.db.Exec("UPDATE outbox SET tries = tries + 1, due = ?, said = ? WHERE n = ? AND state = ?", said.Again, said.Why, about, StateWaiting)
	case entry.IntentUndeliverable:
		_, err = w.db.Exec("UPDATE outbox SET tries = tries + 1, state = ?, said = ? WHERE n = ?", StateUndeliverable, said.Why, about)
	}
	return err
}

// forgetIntents takes erased entries out of the outbox: what was erased is not
// sent any more.
func forgetIntents(db *sql.DB, numbers string) error {
	_, err := db.Exec("DELETE FROM outbox WHERE n IN (SELECT value FROM json_each(?))", numbers)
	return err
}
