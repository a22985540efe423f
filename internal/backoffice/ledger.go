package backoffice

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"
)

// Kind is what an entry of the ledger tells.
type Kind string

// The kinds of entries.
const (
	Refund   Kind = "refund"
	Approval Kind = "approval"
)

// Entry is something that happened. Entries are never changed.
type Entry struct {
	ID       string    `json:"id"` // re_1, ap_1
	Kind     Kind      `json:"kind"`
	At       time.Time `json:"at"`
	Order    string    `json:"order,omitempty"`
	Amount   string    `json:"amount,omitempty"` // decimal text
	Currency string    `json:"currency,omitempty"`
	Key      string    `json:"key,omitempty"`    // what whoever paid gave as reference
	Action   string    `json:"action,omitempty"` // that is approved
	By       string    `json:"by,omitempty"`
}

// Ledger is the office's book, in a file of JSON lines.
type Ledger struct {
	mu      sync.Mutex
	file    *os.File
	entries []Entry
	now     func() time.Time
}

// OpenLedger begins a new ledger. A file that is there already is an error: it is
// somebody's book.
func OpenLedger(path string, now func() time.Time) (*Ledger, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open the ledger: %w", err)
	}
	return &Ledger{file: file, now: now}, nil
}

// Append gives an entry its id and its time and writes it. On return it is in the
// file.
func (l *Ledger) Append(e Entry) (Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.At = l.time()
	prefix := "re"
	if e.Kind == Approval {
		prefix = "ap"
	}
	e.ID = fmt.Sprintf("%s_%d", prefix, len(l.entries)+1)
	text, err := json.Marshal(e)
	if err == nil {
		_, err = l.file.Write(append(text, '\n'))
	}
	if err != nil {
		return Entry{}, fmt.Errorf("write the ledger: %w", err)
	}
	l.entries = append(l.entries, e)
	return e, nil
}

// time is now, and later than every entry so far: entries of one moment could not
// be told from those that a walk has missed.
func (l *Ledger) time() time.Time {
	now := l.now().UTC().Truncate(time.Microsecond)
	if n := len(l.entries); n > 0 && !now.After(l.entries[n-1].At) {
		now = l.entries[n-1].At.Add(time.Microsecond)
	}
	return now
}

// Since returns the entries from the nth on, and up to when, inclusive, no other
// entry can appear.
func (l *Ledger) Since(n int) (entries []Entry, complete time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Entry(nil), l.entries[n:]...), l.time().Add(-time.Microsecond)
}

// Close closes the file.
func (l *Ledger) Close() error {
	if err := l.file.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return fmt.Errorf("close the ledger: %w", err)
	}
	return nil
}
