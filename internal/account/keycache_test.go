package account

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

const noon = value.Instant(1_793_620_800_000_000)

// oneKey is a directory that knows one key, and counts who asks.
type oneKey struct {
	store.Directory
	mu    sync.Mutex
	key   access.Key
	asked atomic.Int32
	wait  chan struct{} // until it is closed; nil: at once
}

func (d *oneKey) KeyByPrefix(ctx context.Context, p access.Prefix) (access.Key, store.Workspace, error) {
	d.asked.Add(1)
	d.mu.Lock()
	key := d.key
	d.mu.Unlock()
	if d.wait != nil {
		select {
		case <-d.wait:
		case <-ctx.Done():
			return access.Key{}, store.Workspace{}, ctx.Err()
		}
	}
	if p != key.Prefix {
		return access.Key{}, store.Workspace{}, store.ErrNotFound
	}
	return key, store.Workspace{Workspace: access.Workspace{ID: key.Workspace}}, nil
}

func (d *oneKey) revoke(at value.Instant) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.key.RevokedAt = at
}

type testClock struct{ now atomic.Int64 }

func newTestClock() *testClock {
	c := &testClock{}
	c.now.Store(int64(noon))
	return c
}
func (c *testClock) Now() value.Instant      { return value.Instant(c.now.Load()) }
func (c *testClock) advance(d time.Duration) { c.now.Add(d.Microseconds()) }

func newOneKey(t testing.TB) (*oneKey, access.Secret) {
	t.Helper()
	order := access.KeyOrder{ID: "key_1", Name: "a key", Scopes: access.ScopesOf(access.ActionsRead)}
	key, secret, err := access.MintKey(order, access.Workspace{ID: "ws_1"}, rand.Reader, noon)
	if err != nil {
		t.Fatal(err)
	}
	return &oneKey{key: key}, secret
}

func TestAKeyIsLookedUpOnceASecond(t *testing.T) {
	t.Parallel()
	d, secret := newOneKey(t)
	clock := newTestClock()
	cache := newKeyCache(d, clock.Now)
	for range 1000 {
		if _, err := cache.get(t.Context(), secret.Prefix()); err != nil {
			t.Fatal(err)
		}
	}
	if n := d.asked.Load(); n != 1 {
		t.Errorf("a thousand requests at once are %d look-ups", n)
	}
	d.revoke(noon)
	clock.advance(time.Second - time.Microsecond)
	e, err := cache.get(t.Context(), secret.Prefix())
	if err != nil || e.key.RevokedAt != noon {
		t.Errorf("within a second of its revocation elsewhere it is taken as %v, %v", e, err)
	}
}

func TestAClockThatWasSetBackKeepsNoKeyAlive(t *testing.T) {
	t.Parallel()
	d, secret := newOneKey(t)
	clock := newTestClock()
	cache := newKeyCache(d, clock.Now)
	if _, err := cache.get(t.Context(), secret.Prefix()); err != nil {
		t.Fatal(err)
	}
	d.revoke(noon)
	clock.advance(-time.Hour)
	if e, err := cache.get(t.Context(), secret.Prefix()); err != nil || e.key.RevokedAt == 0 {
		t.Errorf("an hour back it is taken as it was: %v", err)
	}
}

// Somebody reads the key, it is revoked here, and only then the reading ends. What was
// read must not be taken by whoever asks after the revocation.
func TestWhatWasReadBeforeARevocationIsNotKeptAfterIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, secret := newOneKey(t)
		d.wait = make(chan struct{})
		cache := newKeyCache(d, newTestClock().Now)
		done := make(chan *keyEntry, 1)
		go func() {
			e, _ := cache.get(t.Context(), secret.Prefix())
			done <- e
		}()
		synctest.Wait()
		d.revoke(noon)
		cache.forget("ws_1")
		late := make(chan *keyEntry, 1)
		go func() { // begins after the revocation, while the first still reads
			e, _ := cache.get(t.Context(), secret.Prefix())
			late <- e
		}()
		synctest.Wait()
		close(d.wait)
		if e := <-done; e == nil || e.key.RevokedAt != 0 {
			t.Fatal("the first did not read the key as it was, so the test proves nothing")
		}
		if e := <-late; e == nil || e.key.RevokedAt != noon {
			t.Error("who asked after the revocation got the key of before")
		}
		if e, err := cache.get(t.Context(), secret.Prefix()); err != nil || e.key.RevokedAt != noon {
			t.Error("the key of before was kept")
		}
	})
}

func TestManyWhoAskAtOnceWaitForOneReading(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, secret := newOneKey(t)
		d.wait = make(chan struct{})
		cache := newKeyCache(d, newTestClock().Now)
		// The first gives up; the others get their answer all the same.
		first, giveUp := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := cache.get(first, secret.Prefix()); !errors.Is(err, context.Canceled) {
				t.Errorf("who gives up gets %v", err)
			}
		})
		synctest.Wait()
		for range 50 {
			all.Go(func() {
				if e, err := cache.get(t.Context(), secret.Prefix()); err != nil || e == nil {
					t.Errorf("%v", err)
				}
			})
		}
		synctest.Wait()
		giveUp()
		synctest.Wait()
		close(d.wait)
		all.Wait()
		if n := d.asked.Load(); n != 2 {
			t.Errorf("%d look-ups, 2 are needed", n)
		}
	})
}

func TestTheCacheHasABound(t *testing.T) {
	t.Parallel()
	d, _ := newOneKey(t)
	clock := newTestClock()
	cache := newKeyCache(d, clock.Now)
	for i := range keptKeys + 100 {
		cache.mu.Lock()
		cache.keep(access.Prefix(fmt.Sprintf("%08d", i)), &keyEntry{readAt: clock.Now()})
		cache.mu.Unlock()
	}
	if n := len(cache.entries); n > keptKeys {
		t.Errorf("it holds %d keys", n)
	}
}
