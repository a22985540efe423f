package account

import (
	"sync"

	"github.com/deed-dev/deed/internal/store"
)

// keptFamiliar bounds the memory: an entry takes about 50 bytes.
const keptFamiliar = 50_000

// familiar remembers sessions that were right before. They are let through from an
// address that others send wrong credentials from, such as that of an office.
type familiar struct {
	mu   sync.Mutex
	seen map[store.TokenHash]struct{}
}

func newFamiliar() *familiar { return &familiar{seen: map[store.TokenHash]struct{}{}} }

func (f *familiar) has(h store.TokenHash) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	_, has := f.seen[h]
	return has
}

func (f *familiar) add(h store.TokenHash) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.seen) >= keptFamiliar {
		for other := range f.seen { // any of them
			delete(f.seen, other)
			break
		}
	}
	f.seen[h] = struct{}{}
}
