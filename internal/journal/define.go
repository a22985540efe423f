package journal

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/deed-dev/deed/internal/journal/entry"
)

// definition is a tool's definition in canonical form.
type definition struct {
	sum  entry.Hash
	data []byte
}

func definitionBytes(list []definition) (n int64) {
	for _, d := range list {
		n += int64(len(d.data))
	}
	return n
}

// defines are definitions that wait for the entry that refers to them.
type defines struct {
	mu      sync.Mutex
	waiting []definition
	known   map[entry.Hash]bool // those that this process has given before
}

// Define keeps a tool's definition under the SHA-256 of its canonical form. It
// is stored with the list of tools that is appended next, and only once. A
// list says of each tool whether its definition was kept.
func (j *Journal) Define(_ context.Context, sum entry.Hash, canonical []byte) error {
	if entry.Hash(sha256.Sum256(canonical)) != sum {
		return &entry.Error{Reason: "a definition is not the one that its hash says"}
	}
	j.defines.mu.Lock()
	defer j.defines.mu.Unlock()
	if j.defines.known[sum] {
		return nil
	}
	if j.defines.known == nil {
		j.defines.known = make(map[entry.Hash]bool)
	}
	j.defines.known[sum] = true
	j.defines.waiting = append(j.defines.waiting, definition{sum, append([]byte(nil), canonical...)})
	return nil
}

// push queues an item with the definitions that wait for it.
func (j *Journal) push(ctx context.Context, it *item) error {
	if it.entry.Kind != entry.KindTools {
		return j.queue.push(ctx, it)
	}
	j.defines.mu.Lock()
	it.defined, j.defines.waiting = j.defines.waiting, nil
	j.defines.mu.Unlock()
	err := j.queue.push(ctx, it)
	if err != nil && it.defined != nil {
		j.defines.mu.Lock()
		j.defines.waiting = append(it.defined, j.defines.waiting...)
		j.defines.mu.Unlock()
	}
	return err
}

// define stores definitions that are not there yet.
func (w *writer) define(list []definition) error {
	for _, d := range list {
		if _, err := w.db.Exec("INSERT INTO definitions (sha256, data) VALUES (?, ?) ON CONFLICT DO NOTHING", d.sum[:], d.data); err != nil {
			return err
		}
	}
	return nil
}

// checkDefinitions finds definitions that are not those of their hashes. The
// hashes themselves stand in the details of tool lists.
func (v *verification) checkDefinitions() error {
	rows, err := v.tx.QueryContext(v.ctx, "SELECT sha256, data FROM definitions")
	if err != nil {
		return err
	}
	defer rows.Close()
	v.definitions = make(map[entry.Hash]definitionState)
	for rows.Next() {
		var sum, data []byte
		if err := rows.Scan(&sum, &data); err != nil {
			return err
		}
		if is := sha256.Sum256(data); string(is[:]) != string(sum) {
			v.report.find(-1, "the definition of a tool under hash %x is not the one that was recorded", sum)
		}
		if len(sum) == len(entry.Hash{}) {
			v.definitions[entry.Hash(sum)] = unused
		}
	}
	return rows.Err()
}
