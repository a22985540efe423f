package journal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"
)

// flusher makes durable what the writer has committed, on a goroutine of its
// own: a disk that is busy may take a second for it, and entries that wait in
// memory meanwhile would be lost with the process.
//
// It is as safe as a commit with synchronous = FULL, which does the same in
// another order: write the pages of a transaction to the WAL, flush the WAL,
// and only then call them durable. Between our commit and our flush:
//
// The WAL may be restarted, so that the pages we mean are overwritten. SQLite
// does that only after they were copied into the database file and that file
// was flushed, by whichever process, and flushes the new header before it
// overwrites anything.
//
// The WAL may be deleted by the last connection that closes, and another one
// made under its name. Deleting, too, comes after copying and flushing. So a
// WAL that is missing means that all is in the database file, and one that is
// another file than before holds only what came later. Both are flushed by name.
//
// A new WAL may have no durable name yet. SQLite flushes the folder when it
// flushes a WAL for the first time, and so do we.
//
// A flush may fail. The system then takes the pages for clean, and the next
// flush succeeds without them. FULL fails the commit and writes them again.
// We have the database file take them instead, see mend.
type flusher struct {
	folder folder
	queue  *queue
	lock   *fileLock
	tell   func(error)
	flush  func(flush func() error) error
	done   chan struct{}

	wal        *os.File // kept open: a failed write-back is told to each open file once
	info       os.FileInfo
	distrusted bool // a flush failed, and the WAL was not copied since
}

// run ends when the writer has ended and all that it committed is durable.
func (f *flusher) run() {
	defer close(f.done)
	defer f.lock.close()
	defer f.letGo()
	pause := firstPause
	for {
		committed, more := f.queue.nextFlush()
		if !more {
			return
		}
		err := f.makeDurable()
		if err == nil {
			f.queue.flushed(committed)
			pause = firstPause
			continue
		}
		if f.queue.flushFailed(err) && f.tell != nil {
			f.tell(err)
		}
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-f.queue.flushes:
			timer.Stop() // somebody waits
		}
		pause = min(2*pause, longPause)
	}
}

// makeDurable flushes what is committed when it is called.
func (f *flusher) makeDurable() error {
	if f.distrusted {
		if err := f.mend(); err != nil {
			return err
		}
		f.distrusted = false
		return nil
	}
	fresh, err := f.openWAL()
	if err != nil || f.wal == nil {
		return err
	}
	if err := f.flush(func() error { return syncData(f.wal) }); err != nil {
		f.distrusted = true
		f.letGo()
		return fmt.Errorf("flush journal to the disk: %w", err)
	}
	if fresh {
		syncFolder(f.folder.path)
	}
	return nil
}

// openWAL makes wal the file that has the name now, or nil when there is none
// and needs to be none. No lock is lost when we close a WAL: SQLite keeps its
// locks on the two other files, which must never be opened and closed here.
func (f *flusher) openWAL() (fresh bool, err error) {
	path := f.folder.database() + "-wal"
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		f.letGo()
		if !isWritten(f.folder.database()) {
			return false, &HomeError{Home: f.folder.path, Err: errRemoved}
		}
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("flush journal to the disk: %w", err)
	}
	if f.wal != nil && os.SameFile(info, f.info) {
		return false, nil
	}
	f.letGo()
	wal, err := os.OpenFile(path, os.O_RDWR, 0) // Windows flushes only what may be written
	if errors.Is(err, os.ErrNotExist) {
		return false, nil // deleted since we looked, as above
	}
	if err != nil {
		return false, fmt.Errorf("flush journal to the disk: %w", err)
	}
	if f.info, err = wal.Stat(); err != nil {
		wal.Close()
		return false, fmt.Errorf("flush journal to the disk: %w", err)
	}
	f.wal = wal
	return true, nil
}

func (f *flusher) letGo() {
	if f.wal != nil {
		f.wal.Close() // it was only flushed, so that there is nothing to lose
	}
	f.wal, f.info = nil, nil
}

// mend copies the whole WAL into the database file and flushes that: then it
// no longer matters which pages of the WAL the disk has.
func (f *flusher) mend() error {
	return f.flush(func() error {
		if err := f.lock.acquire(); err != nil {
			return err
		}
		defer f.lock.release()
		frames, copied, err := checkpointWAL(f.folder, "FULL")
		if err != nil {
			return fmt.Errorf("flush journal to the disk: %w", err)
		}
		if copied < frames {
			return fmt.Errorf("flush journal to the disk: %d of %d pages wait for a program that reads the journal", frames-copied, frames)
		}
		return nil
	})
}

// checkpointWAL copies pages from the WAL to the database file on a
// connection of its own. It says how many pages the WAL has and how many of
// them are in the database file by now; 0 and -1 when another process is at it.
func checkpointWAL(f folder, mode string) (frames, copied int64, err error) {
	db, err := openExisting(f)
	if err != nil {
		return 0, 0, err
	}
	defer db.Close() // nothing was written through it
	var busy bool
	if err := db.QueryRowContext(context.Background(), "PRAGMA wal_checkpoint("+mode+")").Scan(&busy, &frames, &copied); err != nil {
		return 0, 0, databaseError(f, "move journal from the WAL", err)
	}
	if busy || frames < 0 {
		return max(0, frames), -1, nil
	}
	return frames, copied, nil
}

// syncFolder makes the names in a folder durable. Windows has no such call,
// and some file systems refuse it, so that an error says nothing.
func syncFolder(path string) {
	if runtime.GOOS == "windows" {
		return
	}
	folder, err := os.Open(path)
	if err != nil {
		return
	}
	defer folder.Close()
	_ = folder.Sync()
}
