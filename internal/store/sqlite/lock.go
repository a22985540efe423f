package sqlite

import (
	"errors"
	"os"
)

// errTaken says that another process, or another store of this one, has the lock.
var errTaken = errors.New("the lock is taken")

// takeLock makes and takes the lock file.
func takeLock(path string) (*os.File, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := lock(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}
