package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/deed-dev/deed/internal/tlog"
)

const (
	keepEvery  = time.Minute // between kept checkpoints while sessions run
	firstPause = 10 * time.Millisecond
	longPause  = 2 * time.Second
)

// writer is the one goroutine that takes entries from the queue to the
// database. Nothing else of a Journal touches the files.
type writer struct {
	folder    folder
	lock      *fileLock
	key       *tlog.Key
	queue     *queue
	onTrouble func(error)
	faults    *faults
	done      chan struct{}

	db       *sql.DB     // nil after a failure, until it is opened again
	file     os.FileInfo // of the database that db has open
	insert   *statements
	sessions map[string]int64 // rows of sessions known to be committed, by uid
	note     string           // the last head whose signature was checked
	keptAt   int64            // when a checkpoint was last kept, µs since 1970
}

// faults lets tests break the writer where a disk would.
type faults struct {
	// commit stands between the writer and the database's own commit.
	commit func(commit func() error) error
	// pages is how big the database may grow.
	pages func() int64
}

func openFiles(f folder) (*writer, error) {
	lock, err := openLock(f.lock())
	if err != nil {
		return nil, &HomeError{Home: f.path, Err: err}
	}
	w := &writer{folder: f, lock: lock, done: make(chan struct{}), sessions: make(map[string]int64)}
	w.db, w.key, err = openWriter(f, lock)
	if err != nil {
		lock.close()
		return nil, err
	}
	err = w.prepare()
	if err == nil {
		err = w.lookAtHead()
	}
	if err != nil {
		w.disconnect()
		lock.close()
		return nil, err
	}
	return w, nil
}

// lookAtHead refuses an altered journal at once rather than at the first entry.
func (w *writer) lookAtHead() error {
	h, err := readHead(context.Background(), w.db)
	if err != nil {
		return databaseError(w.folder, "read head of the log", err)
	}
	_, err = w.checkHead(h)
	return err
}

// run writes groups until the queue is closed and empty, or abandoned.
func (w *writer) run() {
	defer close(w.done)
	defer w.lock.close()
	defer w.disconnect()
	for {
		group, more := w.queue.next()
		if !more {
			return
		}
		if !w.writeUntilDone(group) {
			return
		}
	}
}

// writeUntilDone tries one group again and again, the same entries each time,
// because after a failed commit it is not known whether they are in.
func (w *writer) writeUntilDone(group []*item) bool {
	pause := firstPause
	for tried := false; ; tried = true {
		durable, err := w.write(group, w.queue.mustBeDurable(len(group)), tried)
		if err == nil {
			w.queue.done(len(group), durable)
			return true
		}
		w.disconnect()
		if w.queue.failed(err) && w.onTrouble != nil {
			w.onTrouble(err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-w.queue.gone:
			timer.Stop()
			return false
		}
		pause = min(2*pause, longPause)
	}
}

// write commits one group under the lock. With inDoubt set, an earlier try
// failed and may be in the database all the same. It says whether what it
// committed is durable, which it may be without being asked.
func (w *writer) write(group []*item, durable, inDoubt bool) (bool, error) {
	if err := w.lock.acquire(); err != nil {
		return false, err
	}
	defer w.lock.release()
	select {
	case <-w.queue.gone:
		return false, ErrClosed // given up while we waited for the lock
	default:
	}
	if err := w.connect(); err != nil {
		return false, err
	}
	now := time.Now().UnixMicro()
	ends := hasEnd(group)
	durable = durable || ends || now-w.keptAt >= keepEvery.Microseconds()
	if err := w.commitGroup(group, commitOptions{durable: durable, inDoubt: inDoubt, ends: ends, now: now}); err != nil {
		return false, databaseError(w.folder, "write journal", err)
	}
	return durable, nil
}

type commitOptions struct {
	durable, inDoubt, ends bool
	now                    int64
}

func (w *writer) commitGroup(group []*item, o commitOptions) error {
	level := "NORMAL"
	if o.durable {
		level = "FULL"
	}
	if err := w.exec("PRAGMA synchronous = " + level); err != nil {
		return err
	}
	if w.faults != nil && w.faults.pages != nil {
		if err := w.exec(fmt.Sprintf("PRAGMA max_page_count = %d", w.faults.pages())); err != nil {
			return err
		}
	}
	if err := w.exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			w.exec("ROLLBACK") // the connection is closed anyway when this fails
		}
	}()

	h, err := readHead(context.Background(), w.db)
	if err != nil {
		return err
	}
	frontier, err := w.checkHead(h)
	if err != nil {
		return err
	}
	if o.inDoubt && len(group) > 0 {
		kept, err := w.isWritten(group[len(group)-1])
		if err != nil {
			return err
		}
		if kept {
			group = nil // a transaction is in whole or not at all
		}
	}
	if err := w.insertGroup(group, frontier); err != nil {
		return err
	}
	signed, err := tlog.Checkpoint{Origin: w.key.Name(), Size: frontier.Size(), Root: frontier.Root()}.Sign(w.key)
	if err != nil {
		return err
	}
	keptAt := h.keptAt
	if o.ends || (o.durable && o.now-h.keptAt >= keepEvery.Microseconds()) {
		keptAt = o.now
		if _, err := w.insert.checkpoint.Exec(frontier.Size(), o.now, string(signed)); err != nil {
			return err
		}
	}
	if _, err := w.insert.head.Exec(frontier.Size(), joinPeaks(frontier.Peaks()), string(signed), keptAt); err != nil {
		return err
	}
	commit := func() error { return w.exec("COMMIT") }
	if w.faults != nil && w.faults.commit != nil {
		err = w.faults.commit(commit)
	} else {
		err = commit()
	}
	if err != nil {
		return err
	}
	committed = true
	w.note, w.keptAt = string(signed), keptAt
	return nil
}

func (w *writer) exec(query string) error {
	_, err := w.db.Exec(query)
	return err
}

func (w *writer) insertGroup(group []*item, frontier *tlog.Frontier) error {
	var failed error
	store := func(node tlog.Node) {
		if _, err := w.insert.node.Exec(node.Level, node.Index, node.Hash[:]); err != nil && failed == nil {
			failed = err
		}
	}
	for _, it := range group {
		n := frontier.Size()
		session, err := w.sessionRow(&it.entry)
		if err != nil {
			return err
		}
		c := &it.derived
		if _, err := w.insert.entry.Exec(n, session, c.seq, c.kind, c.at, c.side, c.bytes, c.call, c.took,
			c.outcome, c.method, c.tool, c.err, it.leaf); err != nil {
			return err
		}
		if it.data != nil {
			if _, err := w.insert.detail.Exec(n, it.salt, it.data); err != nil {
				return err
			}
		}
		frontier.Append(tlog.LeafHash(it.leaf), store)
		if failed != nil {
			return failed
		}
	}
	return nil
}

// sessionRow returns the row that stands for an entry's session.
func (w *writer) sessionRow(e *Entry) (int64, error) {
	row, known := w.sessions[e.Session]
	if !known {
		if _, err := w.insert.session.Exec(e.Session); err != nil {
			return 0, err
		}
		if err := w.insert.findSession.QueryRow(e.Session).Scan(&row); err != nil {
			return 0, err
		}
		w.sessions[e.Session] = row
	}
	if e.Kind == KindEnd {
		delete(w.sessions, e.Session)
	}
	return row, nil
}

// isWritten says whether an entry is in the database. Another one in its
// place is an error that no new try can mend.
func (w *writer) isWritten(it *item) (bool, error) {
	var there []byte
	err := w.db.QueryRow(`SELECT leaf FROM entries WHERE session = (SELECT id FROM sessions WHERE uid = ?) AND seq = ?`,
		it.entry.Session, it.entry.Seq).Scan(&there)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	if string(there) != string(it.leaf) {
		return false, &AlteredError{Path: w.folder.database(), Err: fmt.Errorf(
			"entry %d of session %s is there and is not the one that was recorded", it.entry.Seq, it.entry.Session)}
	}
	return true, nil
}

func hasEnd(group []*item) bool {
	for _, it := range group {
		if it.entry.Kind == KindEnd {
			return true
		}
	}
	return false
}

// head is the end of the log as the database has it.
type head struct {
	size   int64
	peaks  []byte
	note   string
	keptAt int64
}

type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

func readHead(ctx context.Context, db queryer) (head, error) {
	var h head
	err := db.QueryRowContext(ctx, "SELECT size, peaks, note, kept_at FROM head").Scan(&h.size, &h.peaks, &h.note, &h.keptAt)
	return h, err
}

// checkHead makes sure that what is about to be extended is what our key
// signed last. Without that, a forged log would be signed by the next entry.
func (w *writer) checkHead(h head) (*tlog.Frontier, error) {
	frontier, err := h.check(w.key.Verifier(), h.note == w.note)
	if err != nil {
		return nil, &AlteredError{Path: w.folder.database(), Err: err}
	}
	w.note, w.keptAt = h.note, h.keptAt
	return frontier, nil
}

// check compares size and peaks with the signed note. A note known from
// before needs no new look at its signature.
func (h head) check(verifier note.Verifier, known bool) (*tlog.Frontier, error) {
	peaks, err := splitPeaks(h.peaks)
	if err != nil {
		return nil, err
	}
	frontier, err := tlog.NewFrontier(h.size, peaks)
	if err != nil {
		return nil, err
	}
	var signed tlog.Checkpoint
	if known {
		signed, err = tlog.ParseSigned([]byte(h.note))
	} else {
		signed, err = tlog.OpenCheckpoint([]byte(h.note), verifier)
	}
	if err != nil {
		return nil, err
	}
	if signed.Size != frontier.Size() || signed.Root != frontier.Root() {
		return nil, fmt.Errorf("the end of the log is not the one in its checkpoint of size %d", signed.Size)
	}
	return frontier, nil
}

func joinPeaks(peaks []tlog.Hash) []byte {
	b := make([]byte, 0, len(peaks)*tlog.HashSize)
	for _, peak := range peaks {
		b = append(b, peak[:]...)
	}
	return b
}

func splitPeaks(b []byte) ([]tlog.Hash, error) {
	if len(b)%tlog.HashSize != 0 {
		return nil, fmt.Errorf("the peaks of the log have %d bytes, not a multiple of %d", len(b), tlog.HashSize)
	}
	peaks := make([]tlog.Hash, len(b)/tlog.HashSize)
	for i := range peaks {
		copy(peaks[i][:], b[i*tlog.HashSize:])
	}
	return peaks, nil
}
