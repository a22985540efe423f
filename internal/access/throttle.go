package access

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/value"
)

// Rate is a token bucket: so many attempts at once, and one more each time Every
// has passed.
type Rate struct {
	Burst int           // at least 1
	Every time.Duration // more than 0
}

// Bucket is the state of one token bucket: the moment at which it is full again.
// The zero Bucket is full.
type Bucket struct{ full value.Instant }

// Seen is the bucket as it stands at a time: not full in the past, and not further
// from full than an empty one. Keeping what it returns is what gets a bucket over a
// clock that was set back: it is empty then, and fills from there on.
func (b Bucket) Seen(r Rate, at value.Instant) Bucket {
	return Bucket{full: min(max(b.full, at), at.Add(time.Duration(r.Burst)*r.Every))}
}

// Wait is how long it takes until an attempt may be made: zero for now.
func (b Bucket) Wait(r Rate, at value.Instant) time.Duration {
	untilFull := b.Seen(r, at).full.Sub(at)
	return max(0, untilFull-time.Duration(r.Burst-1)*r.Every)
}

// Spend is the bucket after an attempt. One that is empty stays empty: an attacker
// who goes on does not lock anybody out for longer than a whole bucket's time.
func (b Bucket) Spend(r Rate, at value.Instant) Bucket {
	return Bucket{full: b.Seen(r, at).full.Add(r.Every)}.Seen(r, at)
}

// Throttle counts attempts by name (a key's prefix, an address, a client's
// network) in a fixed amount of memory. Each name has one bucket in each of four
// rows, chosen by a hash, and its state is that of the fullest of them: what was
// spent under a name is never forgotten to make room, and a name that nobody
// attacked is held up only if all four of its buckets are also an attacker's.
//
// It is safe for concurrent use.
type Throttle struct {
	rate Rate
	salt []byte

	mu   sync.Mutex
	rows [throttleRows][throttleSlots]Bucket
}

const (
	throttleRows  = 4
	throttleSlots = 1 << 14 // 512 KiB of buckets
)

// NewThrottle makes one. The salt is secret and random, so that nobody can choose
// names that share their buckets with a victim's.
func NewThrottle(r Rate, salt []byte) *Throttle {
	r.Burst, r.Every = max(r.Burst, 1), max(r.Every, time.Microsecond)
	return &Throttle{rate: r, salt: append([]byte(nil), salt...)}
}

// Check says whether an attempt may be made: nil or a [ThrottleError]. It spends
// nothing, and is for attempts of which only the failures count: API keys cannot
// be guessed, and whoever has a right one must never be slowed down.
func (t *Throttle) Check(name string, at value.Instant) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.check(t.buckets(name), at)
}

// Failed counts a failure after [Throttle.Check].
func (t *Throttle) Failed(name string, at value.Instant) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.spend(t.buckets(name), at)
}

// Take checks and spends in one step, and is for attempts that could guess right:
// many at once must not all pass before the first has failed.
func (t *Throttle) Take(name string, at value.Instant) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	buckets := t.buckets(name)
	if err := t.check(buckets, at); err != nil {
		return err
	}
	t.spend(buckets, at)
	return nil
}

func (t *Throttle) check(buckets [throttleRows]*Bucket, at value.Instant) error {
	var waits [throttleRows]time.Duration
	for i, b := range buckets {
		*b = b.Seen(t.rate, at)
		waits[i] = b.Wait(t.rate, at)
	}
	if wait := slices.Min(waits[:]); wait > 0 {
		return &ThrottleError{RetryAfter: wait}
	}
	return nil
}

func (t *Throttle) spend(buckets [throttleRows]*Bucket, at value.Instant) {
	for _, b := range buckets {
		*b = b.Spend(t.rate, at)
	}
}

func (t *Throttle) buckets(name string) [throttleRows]*Bucket {
	hash := sha256.New()
	hash.Write(t.salt)
	hash.Write([]byte(name))
	sum := hash.Sum(nil)
	var buckets [throttleRows]*Bucket
	for row := range buckets {
		slot := binary.BigEndian.Uint64(sum[8*row:]) % throttleSlots
		buckets[row] = &t.rows[row][slot]
	}
	return buckets
}
