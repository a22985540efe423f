package main

import (
	"errors"
	"syscall"
)

// errnoNoData is ERROR_NO_DATA, "the pipe is being closed".
const errnoNoData = syscall.Errno(232)

// isClosedPipe says that whoever read our output has gone.
func isClosedPipe(err error) bool {
	return errors.Is(err, syscall.ERROR_BROKEN_PIPE) || errors.Is(err, errnoNoData)
}
