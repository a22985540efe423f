package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"
)

// The reasons of an intent. The first three begin one, the others say how one
// went. One that is declaring is in the outbox until an entry says otherwise:
// both are written at once, so that no crash parts them.
const (
	IntentDeclaring    = "declaring"    // it is being declared, and will be later if that fails now
	IntentRequired     = "required"     // likewise, and its call waits for it: what fails is never tried again
	IntentUndeclarable = "undeclarable" // a mapped call that cannot be declared; its detail says why

	IntentDeclared      = "declared"      // the server has it
	IntentFailed        = "failed"        // not now; it stays in the outbox
	IntentUndeliverable = "undeliverable" // the server will not take it, or the time is up; it stays for people to see
	IntentRefused       = "refused"       // its call was kept from the server, so that there is nothing to declare
)

// Declaration is what the detail of an intent says.
type Declaration struct {
	// Of an intent that begins.
	Action   string `json:"action,omitempty"`   // id of the action
	Contract string `json:"contract,omitempty"` // its id
	Subject  string `json:"subject,omitempty"`  // its id
	API      string `json:"api,omitempty"`      // the address that it is declared to
	Key      string `json:"key,omitempty"`      // a fingerprint of the key that it is declared with

	// Of one that cannot be declared.
	Path string `json:"path,omitempty"` // where in the params

	// Of one that says how another went.
	Status   int64  `json:"status,omitempty"`   // of the answer; 0 where there was none
	Recorded string `json:"recorded,omitempty"` // new, replayed or changed
	Again    int64  `json:"again,omitempty"`    // when it is tried again, µs since 1970

	Why string `json:"why,omitempty"` // a word or a sentence, without anything of a credential
}

// firstDue is how long an intent is left to the recorder that is declaring it.
// It then must have died.
const firstDue = time.Minute

// checkIntentValues checks what must hold between the members of an intent.
func checkIntentValues(e *Entry) error {
	if e.Kind != KindIntent {
		return nil
	}
	begins := slices.Contains(intentReasons[:3], e.Reason)
	switch {
	case begins != (e.Intent == 0):
		return &EntryError{Reason: fmt.Sprintf("an intent that is %s is about intent %d", e.Reason, e.Intent)}
	case (e.Reason == IntentDeclaring || e.Reason == IntentRequired) != (e.Body != Hash{}):
		return &EntryError{Reason: "an intent has the declaration as its body when it begins, and only then"}
	case e.Session == OwnSession && e.Reason != IntentDeclared && e.Reason != IntentUndeliverable:
		return &EntryError{Reason: fmt.Sprintf("an intent that is %s cannot belong to session %s", e.Reason, e.Session)}
	case e.Session != OwnSession && e.Intent >= e.Seq && e.Intent != 0:
		return &EntryError{Reason: fmt.Sprintf("entry %d is about intent %d, which comes later", e.Seq, e.Intent)}
	}
	return nil
}

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
		said = &Declaration{}
	}
	switch e.Reason {
	case IntentDeclaring:
		_, err := w.db.Exec("INSERT INTO outbox (n, state, tries, due, said) VALUES (?, ?, 0, ?, '')",
			n, StateWaiting, e.At+firstDue.Microseconds())
		return err
	case IntentRequired, IntentUndeclarable:
		return nil
	}
	about := e.Intent
	if e.Session != OwnSession {
		err := w.db.QueryRow("SELECT n FROM entries WHERE session = ? AND seq = ?", session, e.Intent).Scan(&about)
		if errors.Is(err, sql.ErrNoRows) {
			return nil // it was given up, when the disk did not take it
		}
		if err != nil {
			return err
		}
	}
	var err error
	switch e.Reason {
	case IntentDeclared, IntentRefused:
		_, err = w.db.Exec("DELETE FROM outbox WHERE n = ?", about)
	case IntentFailed:
		_, err = w.db.Exec("UPDATE outbox SET tries = tries + 1, due = ?, said = ? WHERE n = ? AND state = ?", said.Again, said.Why, about, StateWaiting)
	case IntentUndeliverable:
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
