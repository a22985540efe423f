package journal

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

const (
	// inlineBytes is how much a body may have, as it is stored, to go into the
	// transaction of its entry. A bigger one is staged before.
	inlineBytes = 1 << 20
	// batchBytes and batchPieces bound one transaction that stages: how long
	// others wait for the lock, and how much of a body is in memory.
	batchBytes  = 2 << 20
	batchPieces = 8
	// looseFor is how long staged pieces wait for their entry before they are
	// taken for those of a recorder that was killed.
	looseFor = 24 * time.Hour
)

// staged says how far a body has come into the database ahead of its entry.
type staged struct {
	mark   int64   // random; finds our pieces again when a commit is in doubt
	id     int64   // of its pieces; 0 until the first ones are committed
	next   int64   // the first piece that is not committed
	stored int64   // bytes of the committed ones
	read   int64   // bytes of the body that are in batches made so far
	batch  []piece // made and not committed
	done   bool
}

// needsStaging says whether pieces must go ahead of the entry.
func (b *keptBody) needsStaging() bool {
	if b == nil || b.staged.done {
		return false
	}
	if b.spill != nil {
		return true
	}
	var stored int
	for _, p := range b.pieces {
		stored += len(p.data)
	}
	return stored > inlineBytes
}

// stageBodies brings the bodies that are too big for a group into the
// database, a batch at a time, and lets others write between.
func (w *writer) stageBodies(group []*item) error {
	for _, it := range group {
		for it.body.needsStaging() {
			if w.queue.isDropped(it) {
				return errGivenUp
			}
			if err := w.stageBatch(it.body); err != nil {
				return databaseError(w.folder, "write body", err)
			}
			w.look(lookCommits * entriesPerLook) // it fills the WAL as a thousand entries do
		}
	}
	return nil
}

// nextBatch reads and packs what the next transaction takes. After a failure
// the batch is still there, and is written again as it is.
func (w *writer) nextBatch(b *keptBody) error {
	s := &b.staged
	if s.batch != nil {
		return nil
	}
	if b.spill == nil {
		s.batch = b.pieces[s.next:min(int64(len(b.pieces)), s.next+2)]
		return nil
	}
	buffer := make([]byte, min(pieceBytes, b.kept-s.read))
	for stored := 0; s.read < b.kept && stored < batchBytes && len(s.batch) < batchPieces; {
		part := buffer[:min(pieceBytes, b.kept-s.read)]
		if err := b.spill.readAt(part, s.read); err != nil {
			return err
		}
		p := w.packer.pack(part)
		s.batch = append(s.batch, p)
		s.read += int64(len(part))
		stored += len(p.data)
	}
	return nil
}

func (w *writer) stageBatch(b *keptBody) error {
	if err := w.nextBatch(b); err != nil { // before the lock: it takes its time
		return err
	}
	s := &b.staged
	id, stored := s.id, s.stored
	err := w.transact("NORMAL", func() error {
		var err error
		if id == 0 {
			if id, err = w.beginStage(s); err != nil {
				return err
			}
		}
		for i, p := range s.batch {
			if err := w.insertPiece(id, s.next+int64(i), p); err != nil {
				return err
			}
			stored += int64(len(p.data))
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.id, s.stored, s.next, s.batch = id, stored, s.next+int64(len(s.batch)), nil
	if b.spill != nil {
		s.done = s.read == b.kept
	} else {
		s.done = s.next == int64(len(b.pieces))
	}
	return nil
}

// beginStage gives the pieces of a body their number, or finds the one that
// an earlier try has given them.
func (w *writer) beginStage(s *staged) (int64, error) {
	if s.mark == 0 {
		s.mark = rand.Int64() | 1
	} else {
		var id int64
		err := w.db.QueryRow("SELECT id FROM loose WHERE mark = ?", s.mark).Scan(&id)
		if !errors.Is(err, sql.ErrNoRows) {
			return id, err
		}
	}
	id, err := w.freeBody()
	if err != nil {
		return 0, err
	}
	_, err = w.db.Exec("INSERT INTO loose (id, mark, since) VALUES (?, ?, ?)", id, s.mark, time.Now().UnixMicro())
	return id, err
}

// freeBody returns a number that no pieces have. They are given in order, so
// that pieces are always added at the end of their table.
func (w *writer) freeBody() (int64, error) {
	var last int64
	err := w.insert.lastPiece.QueryRow().Scan(&last)
	return last>>pieceShift + 1, err
}

func (w *writer) insertPiece(id, i int64, p piece) error {
	if i >= 1<<pieceShift {
		return fmt.Errorf("a body has more than %d pieces", 1<<pieceShift)
	}
	_, err := w.insert.piece.Exec(id<<pieceShift|i, p.packed, p.data)
	return err
}

// errNotStaged sends a group back to be tried again, which stages first.
var errNotStaged = errors.New("the body of an entry is not in the database yet")

// linkBody makes a body belong to entry n, within the entry's transaction.
func (w *writer) linkBody(n int64, b *keptBody) error {
	id, stored := b.staged.id, b.staged.stored
	if b.needsStaging() {
		return errNotStaged
	}
	if b.staged.done {
		result, err := w.db.Exec("DELETE FROM loose WHERE id = ? AND mark = ?", id, b.staged.mark)
		if err != nil {
			return err
		}
		if found, err := result.RowsAffected(); err != nil || found == 0 {
			b.staged = staged{} // swept, because a day went by; begin again
			return errors.Join(errNotStaged, err)
		}
	} else if len(b.pieces) > 0 { // an empty body has none, under number 0
		var err error
		if id, err = w.freeBody(); err != nil {
			return err
		}
		stored = 0
		for i, p := range b.pieces {
			if err := w.insertPiece(id, int64(i), p); err != nil {
				return err
			}
			stored += int64(len(p.data))
		}
	}
	b.linked = stored
	_, err := w.insert.body.Exec(n, b.salt, id, b.kept, stored)
	return err
}

// transact runs one small transaction of ours under the lock.
func (w *writer) transact(level string, change func() error) error {
	if err := w.lock.acquire(); err != nil {
		return err
	}
	defer w.lock.release()
	if err := w.connect(); err != nil {
		return err
	}
	if err := w.setLevel(level); err != nil {
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
	err := w.checkForeign()
	if err == nil {
		err = change()
	}
	if err == nil {
		tried := w.tried // says whether a group may be in, which this is not
		err = w.commit()
		w.tried = tried
	}
	if err != nil {
		w.exec("ROLLBACK") // the connection is closed anyway when this fails
	}
	return err
}
