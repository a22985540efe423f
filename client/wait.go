package client

import (
	"context"
	"fmt"
	"time"
)

// Goal says when [Actions.Wait] has waited enough.
type Goal uint8

// The goals.
const (
	// UntilSettled waits for a final verdict.
	UntilSettled Goal = iota
	// UntilDecided waits until no new fact can change the result, which may be
	// earlier than it settles.
	UntilDecided
)

// How often Wait asks: soon at first, since much is decided within seconds, then
// more and more seldom.
const (
	firstLook   = 250 * time.Millisecond
	longestLook = 30 * time.Second
)

// WaitError says that the context ended before the goal was reached, and what
// the verdict was then.
type WaitError struct {
	Last *Declared // nil if it could not be read at all
	Err  error
}

func (e *WaitError) Error() string {
	if e.Last == nil {
		return fmt.Sprintf("wait for the verdict: %v", e.Err)
	}
	return fmt.Sprintf("wait for the verdict, which is %s and %s: %v", e.Last.Verification.Badge, e.Last.Verification.Status, e.Err)
}

func (e *WaitError) Unwrap() error { return e.Err }

// Wait reads an action until its verdict is settled, or decided, or the context
// ends ([*WaitError]). It takes a server that is away for a while; an action that
// does not exist and a key that may not read it are errors at once.
func (a *Actions) Wait(ctx context.Context, ref string, goal Goal) (*Declared, error) {
	var last *Declared
	for pause := firstLook; ; pause = min(pause*3/2, longestLook) {
		declared, err := a.Get(ctx, ref)
		switch {
		case err == nil:
			last = declared
			if v := &declared.Verification; v.IsSettled() || goal == UntilDecided && v.Decided {
				return declared, nil
			}
		case ctx.Err() != nil:
			return last, &WaitError{Last: last, Err: context.Cause(ctx)}
		case !passing(err):
			return last, err
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return last, &WaitError{Last: last, Err: context.Cause(ctx)}
		case <-timer.C:
		}
	}
}

// passing says that an error may be gone later.
func passing(err error) bool {
	switch e := err.(type) {
	case *Error:
		return e.Status == 429 || e.Status >= 500
	case *UnreachableError:
		return true
	}
	return false
}
