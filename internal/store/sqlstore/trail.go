package sqlstore

import (
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// manyCounts is how many rows of a period are replaced by one.
const manyCounts = 64

var (
	addAudit = tenant("add_audit", `
		INSERT INTO audit_entries (workspace_id, at, actor, event, object, metadata) {rows bigint text text text bytea}`)
	listAudit = tenant("list_audit", `
		SELECT id, at, actor, event, object, metadata FROM audit_entries WHERE workspace_id = $1 AND id < $2 ORDER BY id DESC LIMIT $3`)

	addCount = tenant("add_count", `INSERT INTO declared_counts (workspace_id, period, declared) {rows text bigint}`)
	countOf  = tenant("count_of", `
		SELECT CAST(COALESCE(SUM(declared), 0) AS BIGINT) FROM declared_counts WHERE workspace_id = $1 AND period = $2`)
	crowdedCounts = tenant("crowded_counts", `
		SELECT period, CAST(SUM(declared) AS BIGINT) FROM declared_counts WHERE workspace_id = $1 GROUP BY period HAVING COUNT(*) > $2`)
	dropCounts = tenant("drop_counts", `DELETE FROM declared_counts WHERE workspace_id = $1 AND period = $2`)
)

// Audit implements [store.Trail].
func (u *unit) Audit(entries ...store.AuditEntry) {
	for i := range entries {
		e := &entries[i]
		u.queueRows(addAudit, []any{e.At, e.Actor, e.Event, e.Object, e.Metadata})
	}
}

// ListAudit implements [store.Trail].
func (u *unit) ListAudit(p store.Page) ([]store.AuditEntry, store.Cursor, error) {
	const list = "audit entries"
	after, going, err := readCursor(list, nil, p.After)
	if err != nil {
		return nil, "", err
	}
	if !going {
		after.number = 1<<63 - 1
	}
	var all []store.AuditEntry
	err = u.ask(&query{statement: listAudit, args: []any{after.number, p.Limit + 1}, row: func(r Row) error {
		all = append(all, store.AuditEntry{
			ID: r.Int(), At: value.Instant(r.Int()), Actor: access.Actor(r.Text()), Event: r.Text(), Object: r.Text(), Metadata: r.Bytes(),
		})
		return nil
	}})
	if err != nil {
		return nil, "", fmt.Errorf("read the audit: %w", err)
	}
	if len(all) <= p.Limit {
		return all, "", nil
	}
	all = all[:p.Limit]
	return all, cursor(list, nil, place{number: all[p.Limit-1].ID}), nil
}

// CountDeclared implements [store.Trail].
func (u *unit) CountDeclared(period string, n int) {
	if n != 0 {
		u.queueRows(addCount, []any{period, n})
	}
}

// DeclaredIn implements [store.Trail]. What the unit adds is sent before.
func (u *unit) DeclaredIn(period string) (int64, error) {
	var n int64
	err := u.ask(&query{statement: countOf, args: []any{period}, row: func(r Row) error {
		n = r.Int()
		return nil
	}})
	if err != nil {
		return 0, fmt.Errorf("count what was declared: %w", err)
	}
	return n, nil
}

// gatherCounts replaces the rows of each period that has many by one. Only one unit
// at a time may: the one that has the ledger's lock. What it removes is what it saw
// on its snapshot, so that a row which another unit adds meanwhile stays.
func (u *unit) gatherCounts() error {
	sums := map[string]int64{}
	err := u.ask(&query{statement: crowdedCounts, args: []any{manyCounts}, row: func(r Row) error {
		period := r.Text()
		sums[period] = r.Int()
		return nil
	}})
	if err != nil {
		return fmt.Errorf("gather counts: %w", err)
	}
	// All rows are removed before any is added: those that are added go together, in
	// the place of the first of them.
	for period := range sums {
		u.queue(dropCounts, period)
	}
	for period, n := range sums {
		u.queueRows(addCount, []any{period, n})
	}
	return nil
}
