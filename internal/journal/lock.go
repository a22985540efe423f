package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync/atomic"
	"time"
)

// fileLock keeps the writers of one home apart. SQLite has a lock of its own,
// but waits for it by sleeping and trying again: twenty writers then stall
// each other for seconds. The system's lock wakes the next one at once.
type fileLock struct {
	file    *os.File
	waiting atomic.Int64 // since when acquire waits, µs since 1970; 0 when it does not
}

func openLock(path string) (*fileLock, error) {
	// Made and opened in two steps, because making one through a link that
	// leads nowhere would make a file there.
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		if err = refuseOdd(path); err == nil {
			file, err = os.OpenFile(path, os.O_RDWR, 0o600)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if err := closeToOthers(path); err != nil {
		file.Close()
		return nil, fmt.Errorf("close lock file to others: %w", err)
	}
	return &fileLock{file: file}, nil
}

// acquire waits until no other process, and no other Journal of this one,
// holds the lock. The system frees it when the process dies.
func (l *fileLock) acquire() error {
	l.waiting.Store(time.Now().UnixMicro())
	err := lockFile(l.file)
	l.waiting.Store(0)
	if err != nil {
		return fmt.Errorf("lock journal: %w", err)
	}
	return nil
}

// acquirePause is how often acquireFor tries.
const acquirePause = 10 * time.Millisecond

// acquireFor is acquire that gives up with a *LockedError after a while.
func (l *fileLock) acquireFor(limit time.Duration) error {
	began := time.Now()
	for {
		free, err := tryLockFile(l.file)
		if err != nil {
			return fmt.Errorf("lock journal: %w", err)
		}
		if free {
			return nil
		}
		waited := time.Since(began)
		if waited >= limit {
			return &LockedError{Path: l.file.Name(), Waited: waited}
		}
		time.Sleep(acquirePause)
	}
}

// waited is how long an acquire has been waiting by now, 0 when none is.
func (l *fileLock) waited() time.Duration {
	since := l.waiting.Load()
	if since == 0 {
		return 0
	}
	return max(1, time.Since(time.UnixMicro(since)))
}

func (l *fileLock) release() error {
	if err := unlockFile(l.file); err != nil {
		return fmt.Errorf("unlock journal: %w", err)
	}
	return nil
}

func (l *fileLock) close() error { return l.file.Close() }
