package journal

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/mod/sumdb/note"

	"github.com/deed-dev/deed/internal/journal/entry"
	"github.com/deed-dev/deed/internal/tlog"
)

const (
	keepEvery  = time.Minute // between kept checkpoints while sessions run
	firstPause = 10 * time.Millisecond
	longPause  = 2 * time.Second
)

// writer is the one goroutine that takes entries from the queue to the
// database. It never waits for the disk to have anything: that is the
// flusher's part, and moving pages from the WAL is the backfiller's.
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
	level    string           // what PRAGMA synchronous is set to
	tried    bool             // COMMIT was tried, so that the group may be in

	flusher    *flusher
	backfiller *backfiller // nil where SQLite itself moves pages, as it commits
	unlooked   int         // commits since the size of the WAL was looked at

	packer packer
	pruner *pruner
}

// faults lets tests break the writer where a disk would.
type faults struct {
	// commit stands between the writer and the database's own commit.
	commit func(commit func() error) error
	// pages is how big the database may grow.
	pages func() int64
	// flush stands between the flusher and the disk.
	flush func(flush func() error) error
	// softFrames and hardFrames replace the limits of the WAL.
	softFrames, hardFrames int64
}

func openFiles(f folder) (*writer, error) {
	if err := f.refuseOddFiles(); err != nil {
		return nil, err
	}
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
	if err := w.checkForeign(); err != nil {
		return databaseError(w.folder, "look at the schema", err)
	}
	h, err := readHead(context.Background(), w.db)
	if err != nil {
		return databaseError(w.folder, "read head of the log", err)
	}
	_, err = w.checkHead(h)
	return err
}

// run writes groups until the queue is closed and empty. A group that could
// not be written comes again, the same entries where it is not known whether
// they are in.
func (w *writer) run() {
	defer close(w.done)
	defer w.lock.close()
	defer w.disconnect()
	defer w.queue.discard()
	defer w.settle()
	pause := firstPause
	for {
		w.catchUp()
		group, more := w.queue.next()
		if !more {
			return
		}
		err := w.write(group)
		w.queue.discardDropped()
		if err == nil || errors.Is(err, errGivenUp) {
			pause = firstPause
			w.look(len(group))
			w.lookAfter()
			continue
		}
		w.disconnect()
		if w.queue.failed(err, w.tried) && w.onTrouble != nil {
			w.onTrouble(err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-w.queue.hurry:
			timer.Stop()
		}
		pause = min(2*pause, longPause)
	}
}

// settle waits until the disk has everything, before the files are closed.
func (w *writer) settle() {
	<-w.flusher.done
	w.backfiller.stop()
}

// write commits one group under the lock. What may be committed from an
// earlier try is looked for first.
func (w *writer) write(group []*item) error {
	w.tried = false
	if err := w.stageBodies(group); err != nil {
		return err
	}
	if err := w.lock.acquire(); err != nil {
		return err
	}
	defer w.lock.release()
	group, inDoubt := w.queue.take()
	if len(group) == 0 {
		return errGivenUp // while we waited for the lock
	}
	if err := w.connect(); err != nil {
		return err
	}
	now, ends := time.Now().UnixMicro(), hasEnd(group)
	if err := w.commitGroup(group, commitOptions{inDoubt: inDoubt, ends: ends, now: now}); err != nil {
		return databaseError(w.folder, "write journal", err)
	}
	w.pruner.ended = w.pruner.ended || ends
	w.queue.done(len(group), w.keptAt == now)
	return nil
}

type commitOptions struct {
	durable bool // on the disk when the commit returns; recorders flush instead
	inDoubt bool
	ends    bool // a session ends, so that a checkpoint is kept
	now     int64

	// change runs first, within the transaction. It is told the number of the
	// next entry and returns that entry, or nil when nothing is to be written.
	change func(n int64) (*item, error)
}

func (w *writer) commitGroup(group []*item, o commitOptions) error {
	level := "NORMAL"
	if o.durable {
		level = "FULL"
	}
	if err := w.setLevel(level); err != nil {
		return err
	}
	if w.faults != nil && w.faults.pages != nil {
		if err := w.exec(fmt.Sprintf("PRAGMA max_page_count = %d", w.faults.pages())); err != nil {
			return err
		}
	}
	if _, err := w.insert.begin.Exec(); err != nil {
		return err
	}
	committed := false
	defer func() {
		if !committed {
			w.exec("ROLLBACK") // the connection is closed anyway when this fails
		}
	}()

	if err := w.checkForeign(); err != nil {
		return err
	}
	var h head
	if err := h.scan(w.insert.readHead.QueryRow()); err != nil {
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
	if o.change != nil {
		own, err := o.change(frontier.Size())
		if err != nil || own == nil {
			return err
		}
		group = []*item{own}
	}
	if err := w.insertGroup(group, frontier); err != nil {
		return err
	}
	signed, err := tlog.Checkpoint{Origin: w.key.Name(), Size: frontier.Size(), Root: frontier.Root()}.Sign(w.key)
	if err != nil {
		return err
	}
	keptAt := h.keptAt
	if o.ends || o.now-h.keptAt >= keepEvery.Microseconds() {
		keptAt = o.now
		if _, err := w.insert.checkpoint.Exec(frontier.Size(), o.now, string(signed)); err != nil {
			return err
		}
	}
	if _, err := w.insert.head.Exec(frontier.Size(), joinPeaks(frontier.Peaks()), string(signed), keptAt); err != nil {
		return err
	}
	if err := w.commit(); err != nil {
		return err
	}
	committed = true
	w.note, w.keptAt = string(signed), keptAt
	return nil
}

func (w *writer) commit() error {
	w.tried = true
	commit := func() error {
		_, err := w.insert.commit.Exec()
		return err
	}
	if w.faults != nil && w.faults.commit != nil {
		return w.faults.commit(commit)
	}
	return commit()
}

// setLevel says whether a commit waits for the disk (FULL) or not (NORMAL).
func (w *writer) setLevel(level string) error {
	if w.level == level {
		return nil
	}
	if err := w.exec("PRAGMA synchronous = " + level); err != nil {
		return err
	}
	w.level = level
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
		if _, err := w.insert.entry.Exec(n, session, c.Seq, c.Kind, c.At, c.Side, c.Bytes, c.Call, c.Took,
			c.Outcome, c.Method, c.Tool, c.Error, it.leaf); err != nil {
			return err
		}
		if it.data != nil {
			if _, err := w.insert.detail.Exec(n, it.salt, it.data); err != nil {
				return err
			}
		}
		if it.body != nil {
			if err := w.linkBody(n, it.body); err != nil {
				return err
			}
		}
		if err := w.define(it.defined); err != nil {
			return err
		}
		if it.erased != nil {
			if _, err := w.db.Exec("INSERT INTO erasures (n, list) VALUES (?, ?)", n, it.erased); err != nil {
				return err
			}
		}
		if it.entry.Kind == entry.KindIntent {
			if err := w.followIntent(session, n, it); err != nil {
				return err
			}
		}
		if err := w.insert.derive.add(n, session, it); err != nil {
			return err
		}
		frontier.Append(tlog.LeafHash(it.leaf), store)
		if failed != nil {
			return failed
		}
	}
	return w.insert.derive.flush()
}

// sessionRow returns the row that stands for an entry's session.
func (w *writer) sessionRow(e *entry.Entry) (int64, error) {
	if e.Session == entry.OwnSession {
		return 0, nil // it needs no row, and so is never listed among the others
	}
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
	if e.Kind == entry.KindEnd {
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
		if it.entry.Kind == entry.KindEnd {
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
	err := h.scan(db.QueryRowContext(ctx, headQuery))
	return h, err
}

const headQuery = "SELECT size, peaks, note, kept_at FROM head"

func (h *head) scan(row *sql.Row) error { return row.Scan(&h.size, &h.peaks, &h.note, &h.keptAt) }

// checkHead makes sure that what is about to be extended is what our key
// signed last. Without that, a forged log would be signed by the next entry.
func (w *writer) checkHead(h head) (*tlog.Frontier, error) {
	frontier, err := h.check(w.key.Verifier(), h.note == w.note || w.signs(h.note))
	if err != nil {
		return nil, &AlteredError{Path: w.folder.database(), Err: err}
	}
	w.note, w.keptAt = h.note, h.keptAt
	return frontier, nil
}

// signs says whether our key signs a note just as it is. Ed25519 gives the
// same signature each time, and signing takes half the time of verifying,
// which counts where many recorders take turns. A no says nothing.
func (w *writer) signs(signed string) bool {
	c, err := tlog.ParseSigned([]byte(signed))
	if err != nil {
		return false
	}
	again, err := c.Sign(w.key)
	return err == nil && string(again) == signed
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
