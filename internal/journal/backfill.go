package journal

import (
	"context"
	"time"
)

const (
	// softFrames is from how many pages on the WAL is moved into the database
	// file, beside the traffic: 8 MiB.
	softFrames = 2_000
	// hardFrames is from how many pages on writers wait for it: 128 MiB.
	hardFrames = 32_000
	// lookCommits is after how many commits the writer looks how many there
	// are. A commit of many entries counts once more for each entriesPerLook.
	lookCommits    = 16
	entriesPerLook = 100
	// retryAfter is when a WAL is tried again that could not be moved whole.
	retryAfter = time.Second
)

// backfiller moves pages from the WAL into the database file, so that no
// commit has to. It waits for the disk several times, and writers go on
// meanwhile.
//
// Only a WAL that was moved whole, down to the last commit, begins anew from
// its start. Without a pause in the traffic that never happens, and the WAL
// grows. At hardFrames the writers are therefore kept waiting once, with the
// lock, for the rest of it: the one place where a commit waits for the disk.
type backfiller struct {
	folder     folder
	lock       *fileLock
	soft, hard int64
	frames     chan int64 // that the writer has seen in the WAL; holds one
	done       chan struct{}
}

func (b *backfiller) run() {
	defer close(b.done)
	defer b.lock.close()
	due, last := b.soft, int64(0)
	retry := time.NewTimer(0)
	<-retry.C
	defer retry.Stop()
	for {
		frames := last
		select {
		case seen, more := <-b.frames:
			if !more {
				return
			}
			if seen < last {
				due = b.soft // somebody else was here
			}
			if last = seen; seen < due {
				continue
			}
			frames = seen
		case <-retry.C:
		}
		whole := b.move(frames >= b.hard)
		if whole {
			due, last = b.soft, 0
			retry.Stop()
			continue
		}
		due = frames + b.soft
		retry.Reset(retryAfter)
	}
}

func (b *backfiller) stop() {
	if b == nil {
		return
	}
	close(b.frames)
	<-b.done
}

// move returns whether the WAL begins anew. An error here leaves everything in
// the WAL, where it is just as safe, and is not told: what matters to people,
// such as a disk that is full, is told by the writer at its next commit.
func (b *backfiller) move(now bool) (whole bool) {
	frames, copied, err := checkpointWAL(b.folder, "PASSIVE")
	if err != nil || (copied < frames && !now) {
		return false
	}
	if err := b.lock.acquire(); err != nil {
		return false
	}
	defer b.lock.release()
	if now {
		if frames, copied, err = checkpointWAL(b.folder, "PASSIVE"); err != nil || copied < frames {
			return false
		}
	}
	return b.restart() == nil
}

// restart has the next transaction begin the WAL anew, and is that
// transaction. SQLite flushes the header of a WAL that begins anew before it
// writes anything else, and here nobody's entries wait for it.
func (b *backfiller) restart() error {
	db, err := openExisting(b.folder)
	if err != nil {
		return err
	}
	defer db.Close()
	var busy bool
	var frames, copied int64
	if err := db.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint(NOOP)").Scan(&busy, &frames, &copied); err != nil {
		return err
	}
	if copied < frames {
		return nil // the traffic was quicker, and the WAL goes on
	}
	_, err = db.Exec("UPDATE head SET kept_at = kept_at")
	return err
}

// look tells the backfiller now and then how many pages the WAL has.
func (w *writer) look(entries int) {
	w.unlooked += 1 + entries/entriesPerLook
	if w.unlooked < lookCommits || w.db == nil {
		return
	}
	w.unlooked = 0
	var busy bool
	var frames, copied int64
	if err := w.insert.walFrames.QueryRow().Scan(&busy, &frames, &copied); err != nil {
		return // the next commit fails too, and tells
	}
	select {
	case w.backfiller.frames <- frames:
	default:
	}
}

// startHelpers starts the flusher and the backfiller of an open journal.
func (w *writer) startHelpers() error {
	flushLock, err := openLock(w.folder.lock())
	if err != nil {
		return &HomeError{Home: w.folder.path, Err: err}
	}
	moveLock, err := openLock(w.folder.lock())
	if err != nil {
		flushLock.close()
		return &HomeError{Home: w.folder.path, Err: err}
	}
	w.flusher = &flusher{
		folder: w.folder, queue: w.queue, lock: flushLock, tell: w.onTrouble, done: make(chan struct{}),
		flush: func(flush func() error) error { return flush() },
	}
	w.backfiller = &backfiller{
		folder: w.folder, lock: moveLock, soft: softFrames, hard: hardFrames,
		frames: make(chan int64, 1), done: make(chan struct{}),
	}
	if w.faults != nil {
		if w.faults.flush != nil {
			w.flusher.flush = w.faults.flush
		}
		if w.faults.softFrames > 0 {
			w.backfiller.soft, w.backfiller.hard = w.faults.softFrames, w.faults.hardFrames
		}
	}
	if err := w.exec("PRAGMA wal_autocheckpoint = 0"); err != nil {
		flushLock.close()
		moveLock.close()
		return databaseError(w.folder, "prepare to write", err)
	}
	go w.flusher.run()
	go w.backfiller.run()
	return nil
}
