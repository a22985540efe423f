package journal

import (
	"fmt"
	"os"
)

// fileLock keeps the writers of one home apart. SQLite has a lock of its own,
// but waits for it by sleeping and trying again: twenty writers then stall
// each other for seconds. The system's lock wakes the next one at once.
type fileLock struct{ file *os.File }

func openLock(path string) (*fileLock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	if err := closeToOthers(path); err != nil {
		file.Close()
		return nil, fmt.Errorf("close lock file to others: %w", err)
	}
	return &fileLock{file}, nil
}

// acquire waits until no other process, and no other Journal of this one,
// holds the lock. The system frees it when the process dies.
func (l *fileLock) acquire() error {
	if err := lockFile(l.file); err != nil {
		return fmt.Errorf("lock journal: %w", err)
	}
	return nil
}

func (l *fileLock) release() error {
	if err := unlockFile(l.file); err != nil {
		return fmt.Errorf("unlock journal: %w", err)
	}
	return nil
}

func (l *fileLock) close() error { return l.file.Close() }
