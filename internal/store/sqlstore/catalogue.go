package sqlstore

import (
	"context"

	"github.com/deed-dev/deed/internal/store"
)

// catalogue is [store.Directory].
type catalogue struct{ store *Store }

var _ store.Directory = (*catalogue)(nil)

// run runs a unit of the directory.
func (c *catalogue) run(ctx context.Context, readOnly bool, fn func(*unit) error) error {
	return c.store.run(ctx, SessionOptions{ReadOnly: readOnly}, fn)
}

// deletions are statements that remove a workspace's rows from its tables.
var deletions = func() []*statement {
	var all []*statement
	for i := range tables {
		if !tables[i].Directory {
			all = append(all, tenant("delete_"+tables[i].Name, "DELETE FROM "+tables[i].Name+" WHERE workspace_id = $1"))
		}
	}
	return all
}()
