package journal

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// Letter is an intent that is still to be declared, or that cannot be.
type Letter struct {
	N       int64 // of its entry in the log
	Session string
	Seq     int64
	At      int64 // when the call was seen, µs since 1970
	Tool    string
	entry.Declaration

	State string // StateWaiting or StateUndeliverable
	Tries int64
	Due   int64 // when it is tried next, µs since 1970
	Said  string
	Bytes int64 // of the declaration
}

const letterColumns = `
	SELECT o.n, s.uid, e.seq, e.at, coalesce(e.tool, ''), d.data, o.state, o.tries, o.due, o.said, coalesce(b.kept, 0)
	FROM outbox o JOIN entries e ON e.n = o.n JOIN sessions s ON s.id = e.session
		LEFT JOIN details d ON d.n = o.n LEFT JOIN bodies b ON b.n = o.n`

// Letters lists what is in the outbox, oldest first.
func (r *Reader) Letters(ctx context.Context) ([]Letter, error) {
	letters, err := r.letters(ctx, letterColumns+" ORDER BY o.n")
	if err != nil {
		return nil, databaseError(r.folder, "read the outbox", err)
	}
	return letters, nil
}

func (r *Reader) letters(ctx context.Context, query string, args ...any) ([]Letter, error) {
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var letters []Letter
	for rows.Next() {
		var l Letter
		var data []byte
		if err := rows.Scan(&l.N, &l.Session, &l.Seq, &l.At, &l.Tool, &data, &l.State, &l.Tries, &l.Due, &l.Said, &l.Bytes); err != nil {
			return nil, err
		}
		if data != nil {
			d, err := entry.OpenDetail(data)
			if err != nil {
				return nil, fmt.Errorf("entry %d: %w", l.N, err)
			}
			if d.Declaration != nil {
				l.Declaration = *d.Declaration
			}
		}
		letters = append(letters, l)
	}
	return letters, rows.Err()
}

// Outbox is the part of a journal that is worked on: what waits is taken from
// it, sent, and settled. It may be open beside recorders and other outboxes of
// the same home; a lease keeps two from sending at once. It is for one
// goroutine.
type Outbox struct {
	w      *writer
	reader *Reader
}

// OpenOutbox opens the outbox of a journal that is there; it makes none.
// Errors are those of Open, and ErrNoJournal.
func OpenOutbox(home string) (*Outbox, error) {
	e, err := openEraser(home, nil)
	if err != nil {
		return nil, err
	}
	r, err := OpenReader(home)
	if err != nil {
		e.close()
		return nil, err
	}
	return &Outbox{w: e.writer, reader: r}, nil
}

// Close ends the use of the outbox.
func (o *Outbox) Close() error {
	o.w.disconnect()
	o.w.lock.close()
	return o.reader.Close()
}

// Rows of meta that say who may send, and until when.
const (
	leaseHolder = "outbox_holder"
	leaseUntil  = "outbox_until"
)

// Lease makes holder the one who may send for so long, and says whether it is:
// somebody else may be. Whoever holds it may ask again, to keep it longer.
func (o *Outbox) Lease(ctx context.Context, holder int64, span time.Duration) (bool, error) {
	now, held := time.Now(), false
	err := o.w.transact("NORMAL", func() error {
		by, err := readMetaInteger(ctx, o.w.db, leaseHolder)
		if err != nil {
			return err
		}
		until, err := readMetaInteger(ctx, o.w.db, leaseUntil)
		if err != nil {
			return err
		}
		// An end that lies too far ahead was written by another clock.
		if by != holder && until > now.UnixMicro() && until <= now.Add(maxLease).UnixMicro() {
			return nil
		}
		held = true
		return o.writeLease(ctx, holder, now.Add(min(span, maxLease)).UnixMicro())
	})
	if err != nil {
		o.w.disconnect()
		return false, databaseError(o.w.folder, "take the lease of the outbox", err)
	}
	return held, nil
}

// maxLease is the longest that a lease can be taken for at a time.
const maxLease = 2 * time.Hour

// Release gives the lease back, if holder has it.
func (o *Outbox) Release(ctx context.Context, holder int64) error {
	err := o.w.transact("NORMAL", func() error {
		by, err := readMetaInteger(ctx, o.w.db, leaseHolder)
		if err != nil || by != holder {
			return err
		}
		return o.writeLease(ctx, holder, 0)
	})
	if err != nil {
		o.w.disconnect()
		return databaseError(o.w.folder, "give back the lease of the outbox", err)
	}
	return nil
}

func (o *Outbox) writeLease(ctx context.Context, holder, until int64) error {
	if err := writeMeta(ctx, o.w.db, leaseHolder, strconv.FormatInt(holder, 10)); err != nil {
		return err
	}
	return writeMeta(ctx, o.w.db, leaseUntil, strconv.FormatInt(until, 10))
}

// Waiting lists what waits behind entry after and is due by a time (µs since
// 1970), oldest first, at most so many.
func (o *Outbox) Waiting(ctx context.Context, after, due int64, limit int) ([]Letter, error) {
	letters, err := o.reader.letters(ctx, letterColumns+" WHERE o.state = ? AND o.n > ? AND o.due <= ? ORDER BY o.n LIMIT ?", StateWaiting, after, due, limit)
	if err != nil {
		return nil, databaseError(o.w.folder, "read the outbox", err)
	}
	return letters, nil
}

// Letters lists everything that is in the outbox, oldest first.
func (o *Outbox) Letters(ctx context.Context) ([]Letter, error) { return o.reader.Letters(ctx) }

// NextDue is when the next letter that waits is due, µs since 1970; 0 when
// none waits.
func (r *Reader) NextDue(ctx context.Context) (int64, error) {
	var due int64
	err := r.db.QueryRowContext(ctx, "SELECT coalesce(min(due), 0) FROM outbox WHERE state = ?", StateWaiting).Scan(&due)
	if err != nil {
		return 0, databaseError(r.folder, "read the outbox", err)
	}
	return due, nil
}

// ErrNoLetter says that something is not in the outbox any more: it was
// declared meanwhile, or erased.
var ErrNoLetter = errors.New("it is not in the outbox any more")

// Body is the declaration of a letter, byte for byte as it was sent before.
// Errors: ErrNoLetter, and ErrBodyAltered, after which it must not be sent.
func (o *Outbox) Body(ctx context.Context, n int64) ([]byte, error) {
	body, info, err := o.reader.Body(ctx, n)
	if errors.Is(err, ErrErased) || errors.Is(err, ErrNotFound) {
		return nil, ErrNoLetter
	}
	if err != nil {
		return nil, err
	}
	defer body.Close() // it is only read
	text := make([]byte, 0, info.Kept)
	for {
		if len(text) == cap(text) {
			text = append(text, 0)[:len(text)]
		}
		got, err := body.Read(text[len(text):cap(text)])
		text = text[:len(text)+got]
		switch {
		case errors.Is(err, io.EOF):
			return text, nil
		case errors.Is(err, ErrErased):
			return nil, ErrNoLetter
		case err != nil:
			return nil, err
		}
	}
}

// Settle records that a letter was declared or is undeliverable. It appends an
// entry of the journal's own, and takes the letter out of the outbox or marks
// it, at once. It returns ErrNoLetter, and appends nothing, when the letter is
// not there any more, or is undeliverable already.
func (o *Outbox) Settle(ctx context.Context, n int64, reason string, said entry.Declaration) error {
	gone, now := false, time.Now().UnixMicro()
	change := func(int64) (*item, error) {
		var state string
		err := o.w.db.QueryRowContext(ctx, "SELECT coalesce((SELECT state FROM outbox WHERE n = ?), '')", n).Scan(&state)
		if err != nil {
			return nil, err
		}
		if state == "" || state == reason {
			gone = true
			return nil, nil
		}
		seq, err := o.w.nextOwn()
		if err != nil {
			return nil, err
		}
		return newItem(&entry.Entry{
			Kind: entry.KindIntent, Session: entry.OwnSession, Seq: seq, At: now, Call: -1, Took: -1, ExitCode: -1,
			Reason: reason, Intent: n,
		}, &entry.Detail{Declaration: &said})
	}
	if err := o.append(change, now); err != nil {
		return databaseError(o.w.folder, "settle a letter of the outbox", err)
	}
	if gone {
		return ErrNoLetter
	}
	return nil
}

func (o *Outbox) append(change func(int64) (*item, error), now int64) error {
	if err := o.w.lock.acquire(); err != nil {
		return err
	}
	defer o.w.lock.release()
	if err := o.w.connect(); err != nil {
		return err
	}
	if err := o.w.commitGroup(nil, commitOptions{now: now, change: change}); err != nil {
		o.w.disconnect()
		return err
	}
	return nil
}

// nextOwn is the place of the next entry that the journal writes of itself.
// The caller is within a transaction.
func (w *writer) nextOwn() (int64, error) {
	var seq int64
	err := w.db.QueryRow("SELECT coalesce(max(seq) + 1, 0) FROM entries WHERE session = 0").Scan(&seq)
	return seq, err
}

// Postpone notes that a letter was tried, to be tried again at due (µs since
// 1970), and what the try met.
func (o *Outbox) Postpone(ctx context.Context, n, due int64, said string) error {
	err := o.w.transact("NORMAL", func() error {
		_, err := o.w.db.ExecContext(ctx, "UPDATE outbox SET tries = tries + 1, due = ?, said = ? WHERE n = ?", due, said, n)
		return err
	})
	if err != nil {
		o.w.disconnect()
		return databaseError(o.w.folder, "postpone a letter of the outbox", err)
	}
	return nil
}
