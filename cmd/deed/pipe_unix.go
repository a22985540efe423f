//go:build !windows

package main

import (
	"errors"
	"syscall"
)

// isClosedPipe says that whoever read our output has gone, as head does when
// it has seen enough.
func isClosedPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }
