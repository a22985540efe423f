package account

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

const (
	// fresh is how long a key is taken as it was read. With the time of one read on
	// top it stays below a second, in which a revocation is to work everywhere.
	fresh = 700 * time.Millisecond
	// keptKeys bounds the memory: an entry takes about half a KiB.
	keptKeys = 20_000
)

// keyCache remembers the keys that were asked for, so that a recorder that declares a
// thousand actions a second costs one look a second.
type keyCache struct {
	directory store.Directory
	clock     func() value.Instant

	mu      sync.Mutex
	entries map[access.Prefix]*keyEntry
	loads   map[access.Prefix]*keyLoad
	// forgets counts how often something was forgotten: what was read before that is
	// not kept after it.
	forgets uint64
}

type keyEntry struct {
	key       access.Key
	workspace store.Workspace
	readAt    value.Instant // before the read began
}

// keyLoad is a read that others wait for.
type keyLoad struct {
	done  chan struct{}
	entry *keyEntry
	err   error
}

func newKeyCache(d store.Directory, clock func() value.Instant) *keyCache {
	return &keyCache{directory: d, clock: clock, entries: map[access.Prefix]*keyEntry{}, loads: map[access.Prefix]*keyLoad{}}
}

// get returns a key and its workspace as they were at most [fresh] ago. Of many who
// ask at once one reads. Error: [store.ErrNotFound], and what the store fails with.
func (c *keyCache) get(ctx context.Context, p access.Prefix) (*keyEntry, error) {
	for {
		now := c.clock()
		c.mu.Lock()
		// A clock that was set back makes an entry of the future: it counts as old.
		if e := c.entries[p]; e != nil && e.readAt <= now && now.Sub(e.readAt) < fresh {
			c.mu.Unlock()
			return e, nil
		}
		load := c.loads[p]
		if load == nil {
			load = &keyLoad{done: make(chan struct{})}
			c.loads[p] = load
			forgets := c.forgets
			c.mu.Unlock()
			c.load(ctx, p, load, now, forgets)
			return load.entry, load.err
		}
		c.mu.Unlock()
		select {
		case <-load.done:
		case <-ctx.Done():
			return nil, fmt.Errorf("find the API key: %w", ctx.Err())
		}
		// Who read it may have given up, which is no answer for the others.
		if !errors.Is(load.err, context.Canceled) && !errors.Is(load.err, context.DeadlineExceeded) {
			return load.entry, load.err
		}
	}
}

// load reads a key for all who ask for it at this time.
func (c *keyCache) load(ctx context.Context, p access.Prefix, load *keyLoad, at value.Instant, forgets uint64) {
	load.err = context.Canceled // what the others find if the store panics
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.loads[p] == load {
			delete(c.loads, p)
		}
		switch {
		case missing(load.err):
			delete(c.entries, p)
		case load.err == nil && c.forgets == forgets:
			c.keep(p, load.entry)
		}
		close(load.done)
	}()
	key, workspace, err := c.directory.KeyByPrefix(ctx, p)
	if err == nil {
		load.entry = &keyEntry{key: key, workspace: workspace, readAt: at}
	}
	load.err = err
}

// keep makes room first. The keys that were asked for within the last second stay,
// unless there are more of them than there is room.
func (c *keyCache) keep(p access.Prefix, e *keyEntry) {
	if len(c.entries) >= keptKeys && c.entries[p] == nil {
		for other, old := range c.entries {
			if e.readAt.Sub(old.readAt) > time.Second {
				delete(c.entries, other)
			}
		}
		for other := range c.entries {
			if len(c.entries) < keptKeys {
				break
			}
			delete(c.entries, other)
		}
	}
	c.entries[p] = e
}

// forget takes effect at once: reads that began before are for those who began to
// wait before, and are not kept.
func (c *keyCache) forget(w access.WorkspaceID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.forgets++
	clear(c.loads)
	for p, e := range c.entries {
		if e.key.Workspace == w {
			delete(c.entries, p)
		}
	}
}
