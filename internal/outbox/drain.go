package outbox

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/journal/entry"
)

// Declarer sends a declaration to one address with one key. [Client] is one.
type Declarer interface {
	// Declare waits for an answer no longer than ctx.
	Declare(ctx context.Context, body []byte) Result
	API() string
	Fingerprint() string
}

// GiveUpAfter is how long a letter is tried.
const GiveUpAfter = 7 * 24 * time.Hour

const (
	firstPause   = 5 * time.Second
	longestPause = 10 * time.Minute
	page         = 50 // letters that are listed at a time
	failuresMost = 3  // in a row, before the rest is left for later
)

// Backoff is how long a letter waits after so many tries, from 1, or longer
// where the server asked for it. It is a little different each time, so that
// many recorders do not all come back at once.
func Backoff(tries int64, asked time.Duration) time.Duration {
	pause := longestPause
	if tries < 8 {
		pause = min(firstPause<<max(tries-1, 0), longestPause)
	}
	return max(time.Duration(float64(pause)*(0.9+0.2*rand.Float64())), asked)
}

// Drain says what of an outbox is sent, and where to.
type Drain struct {
	To      Declarer
	Timeout time.Duration // for each letter

	Early         bool // what is not due yet, too
	Undeliverable bool // what was given up, too
	AnyKey        bool // what was meant for the address with another key, too

	// Tell is told of each letter that was settled; it may be nil.
	Tell func(l journal.Letter, r Result)
}

// Drained says what a drain did.
type Drained struct {
	Declared      int
	Undeliverable int
	Postponed     int
	Others        int // letters for another address or key, which were left alone
	// Stopped says that the server cannot take any at present, and Why.
	Stopped bool
	Why     string
	After   time.Duration // the server asked not to be asked again for so long
}

// ErrBusy says that somebody else is sending what is in the outbox.
var ErrBusy = errors.New("another recorder is sending what is in the outbox")

// Run sends what is in the outbox, in the order of the log, until there is no
// more of it or the server does not take any. It is ErrBusy when somebody else
// does.
func (d *Drain) Run(ctx context.Context, box *journal.Outbox) (Drained, error) {
	r := &draining{Drain: d, box: box, holder: rand.Int64N(1 << 52)}
	err := r.run(ctx)
	if r.leased.IsZero() {
		return r.done, err
	}
	// However it ended, others need not wait for the lease to run out. There is no limit
	// on it: where the journal is long in use, the time is up before it can begin.
	return r.done, errors.Join(err, box.Release(context.WithoutCancel(ctx), r.holder))
}

type draining struct {
	*Drain
	box      *journal.Outbox
	holder   int64
	leased   time.Time
	failures int // in a row
	done     Drained
}

func (d *draining) run(ctx context.Context) error {
	due := time.Now().UnixMicro()
	if d.Early {
		due = math.MaxInt64
	}
	for after := int64(-1); ; {
		if err := d.lease(ctx); err != nil {
			return err
		}
		letters, err := d.list(ctx, after, due)
		if err != nil {
			return err
		}
		for _, letter := range letters {
			after = letter.N
			if err := d.lease(ctx); err != nil {
				return err
			}
			if err := d.send(ctx, letter); err != nil || d.done.Stopped {
				return err
			}
		}
		if len(letters) < page || d.Undeliverable {
			return nil
		}
	}
}

// list is the next letters; with what was given up, all of them at once.
func (d *draining) list(ctx context.Context, after, due int64) ([]journal.Letter, error) {
	if d.Undeliverable {
		return d.box.Letters(ctx)
	}
	return d.box.Waiting(ctx, after, due, page)
}

// leaseSlack is how much longer than one letter a lease is taken for.
const leaseSlack = 5 * time.Second

// LeaseSpan is how long somebody who died keeps others from sending.
func LeaseSpan(timeout time.Duration) time.Duration { return timeout + 2*leaseSlack }

// lease makes sure that nobody else sends for as long as the next letter takes.
func (d *draining) lease(ctx context.Context) error {
	if !d.leased.IsZero() && time.Since(d.leased) < leaseSlack {
		return nil
	}
	now := time.Now()
	held, err := d.box.Lease(ctx, d.holder, LeaseSpan(d.Timeout))
	switch {
	case err != nil:
		return err
	case !held:
		return ErrBusy
	}
	d.leased = now
	return nil
}

func (d *draining) send(ctx context.Context, letter journal.Letter) error {
	if letter.API != d.To.API() || letter.Key != d.To.Fingerprint() && !d.AnyKey {
		d.done.Others++
		return nil
	}
	body, err := d.box.Body(ctx, letter.N)
	switch {
	case errors.Is(err, journal.ErrNoLetter):
		return nil
	case errors.Is(err, journal.ErrBodyAltered):
		return d.settle(ctx, letter, entry.IntentUndeliverable, Result{Class: "altered in the journal", Why: "it was altered in the journal; see deed verify"})
	case err != nil:
		return fmt.Errorf("read the declaration of %s: %w", letter.Action, err)
	}
	limited, cancel := context.WithTimeout(ctx, d.Timeout)
	result := d.To.Declare(limited, body)
	cancel()
	if ctx.Err() != nil && !result.Declared {
		return ctx.Err() // it was broken off by us, which says nothing about the server
	}
	switch {
	case result.Declared:
		d.failures = 0
		return d.settle(ctx, letter, entry.IntentDeclared, result)
	case result.Final:
		d.failures = 0
		return d.settle(ctx, letter, entry.IntentUndeliverable, result)
	case letter.State == journal.StateUndeliverable:
	case time.Since(time.UnixMicro(letter.At)) >= GiveUpAfter:
		result.Class, result.Why = "given up after 7 days: "+result.Class, "given up after 7 days: "+result.Why
		if err := d.settle(ctx, letter, entry.IntentUndeliverable, result); err != nil {
			return err
		}
	default:
		d.done.Postponed++
		due := time.Now().Add(Backoff(letter.Tries+1, result.After)).UnixMicro()
		if err := d.box.Postpone(ctx, letter.N, due, result.Why); err != nil {
			return err
		}
	}
	// One declaration that makes the server fail must not keep the others from
	// it, and a server that is down is not asked for each of them.
	d.failures++
	if result.Status == 0 || result.Status == 429 || d.failures >= failuresMost {
		d.done.Stopped, d.done.Why, d.done.After = true, result.Why, result.After
	}
	return nil
}

func (d *draining) settle(ctx context.Context, letter journal.Letter, reason string, result Result) error {
	// What the server has is settled even when we are told to stop, and however long
	// the journal is in use: else it would be sent once more.
	err := d.box.Settle(context.WithoutCancel(ctx), letter.N, reason, result.Said())
	if errors.Is(err, journal.ErrNoLetter) {
		return nil
	}
	if err != nil {
		return err
	}
	if reason == entry.IntentDeclared {
		d.done.Declared++
	} else {
		d.done.Undeliverable++
	}
	if d.Tell != nil {
		d.Tell(letter, result)
	}
	return nil
}
