package journal

import "github.com/deed-dev/deed/internal/journal/entry"

// letterState is an intent that should be in the outbox.
type letterState struct {
	session string
	seq     int64
	state   string
}

// checkIntent judges an intent by those before it in its session, and follows
// what it says about the outbox.
func (v *verification) checkIntent(n int64, e *entry.Entry, s *sessionState) {
	if e.Intent == 0 {
		if e.Reason != entry.IntentDeclaring {
			return
		}
		if s.intents == nil {
			s.intents = make(map[int64]int64)
		}
		s.intents[e.Seq] = n
		if v.letters == nil {
			v.letters = make(map[int64]letterState)
		}
		v.letters[n] = letterState{session: e.Session, seq: e.Seq, state: StateWaiting}
		return
	}
	if e.Intent >= int64(len(s.requests)) || s.requests[e.Intent] != anIntent {
		v.report.find(n, "the entry is about entry %d of its session, which is no intent", e.Intent)
		return
	}
	// One that was required is not in the outbox, and one may be settled twice:
	// by its recorder and by whoever took that for dead.
	if about, open := s.intents[e.Intent]; open {
		v.settleIntent(about, e.Reason)
	}
}

// settleIntent notes what became of the intent at a place in the log.
func (v *verification) settleIntent(n int64, reason string) {
	letter, open := v.letters[n]
	if !open {
		return
	}
	switch reason {
	case entry.IntentUndeliverable:
		letter.state = StateUndeliverable
		v.letters[n] = letter
	case entry.IntentDeclared, entry.IntentRefused:
		delete(v.letters, n)
		if s := v.sessions[letter.session]; s != nil {
			delete(s.intents, letter.seq)
		}
	}
}

// checkOutbox compares the outbox with what intents say. One whose declaration
// was erased is not sent any more, and so is not there.
func (v *verification) checkOutbox() error {
	rows, err := v.tx.QueryContext(v.ctx, "SELECT n, state FROM outbox ORDER BY n")
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		var state string
		if err := rows.Scan(&n, &state); err != nil {
			return err
		}
		letter, expected := v.letters[n]
		delete(v.letters, n)
		_, erased := v.known.body(n)
		switch {
		case v.broken || v.derivation.holes: // and so nobody can say what should be there
		case !expected || erased:
			v.report.find(n, "the outbox has an intent that is to be sent no more, or none at all")
		case letter.state != state:
			v.report.find(n, "the outbox calls an intent %q that is %s", state, letter.state)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	for n := range v.letters {
		if _, erased := v.known.body(n); !erased && !v.broken && !v.derivation.holes {
			v.report.find(n, "the outbox lacks an intent that was not declared")
		}
	}
	return nil
}
