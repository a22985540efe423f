package outbox

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/journal"
)

const (
	firstLook = 2 * time.Second // after the start, so that a server's start does not pay for it
	idleLook  = time.Minute     // between two looks at an outbox in which nothing is due
	busyLook  = 10 * time.Second
	closeTime = 2 * time.Second
)

// Keeper sends what is in the outbox of a home while a recorder runs, beside
// it and beside those of other recorders.
type Keeper struct {
	home   string
	drain  Drain
	warn   func(string)
	kick   chan struct{}
	cancel context.CancelFunc
	done   chan struct{}
	once   sync.Once

	failures int64 // passes in a row that the server took nothing in
}

// NewKeeper starts a keeper. What a person should hear goes to warn, a line
// each, which must not block. Close it.
func NewKeeper(home string, to Declarer, timeout time.Duration, warn func(string)) *Keeper {
	ctx, cancel := context.WithCancel(context.Background())
	k := &Keeper{home: home, warn: warn, kick: make(chan struct{}, 1), cancel: cancel, done: make(chan struct{})}
	k.drain = Drain{To: to, Timeout: timeout, Tell: k.tell}
	go k.run(ctx)
	return k
}

// Kick says that something was put into the outbox.
func (k *Keeper) Kick() {
	select {
	case k.kick <- struct{}{}:
	default:
	}
}

// Close ends the keeper. What it has not sent is sent by the next one.
func (k *Keeper) Close() {
	k.once.Do(k.cancel)
	select {
	case <-k.done:
	case <-time.After(closeTime): // somebody holds the journal's lock
	}
}

func (k *Keeper) run(ctx context.Context) {
	defer close(k.done)
	timer := time.NewTimer(firstLook)
	defer timer.Stop()
	for {
		longest := idleLook
		select {
		case <-ctx.Done():
			return
		case <-k.kick:
			// When it is due may not be in the journal yet.
			longest = firstPause
		case <-timer.C:
		}
		timer.Reset(min(k.pass(ctx), longest))
	}
}

// pass sends what is due, and says when to look again. Errors of the journal
// are told by those who record; here they only mean to try again later.
func (k *Keeper) pass(ctx context.Context) (wait time.Duration) {
	defer func() {
		if r := recover(); r != nil { // a fault here must not end the server that runs beside it
			k.warn(fmt.Sprintf("sending from the outbox failed (please report: %v)", r))
			wait = longestPause
		}
	}()
	wait, err := k.untilDue(ctx)
	if err != nil || wait > 0 {
		return min(max(wait, time.Second), idleLook)
	}
	box, err := journal.OpenOutbox(k.home)
	if err != nil {
		return idleLook
	}
	defer box.Close() // all that it did is committed
	drained, err := k.drain.Run(ctx, box)
	switch {
	case errors.Is(err, ErrBusy):
		return busyLook
	case err != nil:
		return idleLook
	case drained.Stopped:
		k.failures++
		return min(Backoff(k.failures, drained.After), idleLook)
	}
	k.failures = 0
	if drained.Others > 0 && drained.Declared+drained.Undeliverable+drained.Postponed == 0 {
		return idleLook // what is due is for others to send
	}
	return time.Second
}

// untilDue is how long nothing is due.
func (k *Keeper) untilDue(ctx context.Context) (time.Duration, error) {
	reader, err := journal.OpenReader(k.home)
	if err != nil {
		return idleLook, err
	}
	defer reader.Close() // it was only read
	due, err := reader.NextDue(ctx)
	if err != nil || due == 0 {
		return idleLook, err
	}
	return time.Until(time.UnixMicro(due)), nil
}

func (k *Keeper) tell(letter journal.Letter, r Result) {
	late := time.Since(time.UnixMicro(letter.At)).Round(time.Second)
	if r.Declared {
		k.warn(fmt.Sprintf("declared %s late, %s after its call", line(letter.Action), late))
		return
	}
	k.warn(fmt.Sprintf("%s cannot be declared and is kept as undeliverable: %s (see deed flush)", line(letter.Action), r.Why))
}
