package sqlstore

import (
	"context"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// AddLimits adds entries of a limit without their action.
func AddLimits(tx store.Tx, ref store.Ref, received value.Instant, entries []store.LimitEntry) {
	tx.(*unit).addLimits(ref, received, entries)
}

// Written is a statement as a database gets it.
type Written struct{ Name, SQL string }

// Book is every statement in a dialect.
func Book(d Dialect) []Written {
	var all []Written
	for _, s := range book {
		all = append(all, Written{Name: s.name, SQL: s.in(d).text})
	}
	return all
}

var groupsOf = tenant("groups_of", "SELECT DISTINCT limit_key, grp FROM limit_entries WHERE workspace_id = $1")

// SumUp adds up what a workspace's limits have before a time, as if they had been read
// often: those of one group, or of all if it is empty.
func SumUp(ctx context.Context, s store.Store, w access.WorkspaceID, group string, until value.Instant) error {
	var groups []crowd
	if err := s.View(ctx, w, func(tx store.Tx) error {
		groups = nil
		return tx.(*unit).ask(&query{statement: groupsOf, row: func(r Row) error {
			c := crowd{workspace: w, sum: sumKey{limit: r.Text(), group: r.Text()}}
			c.until = int64(until) &^ (spans[len(spans)-1] - 1)
			if group == "" || group == c.sum.group {
				groups = append(groups, c)
			}
			return nil
		}})
	}); err != nil {
		return err
	}
	for len(groups) > 0 {
		if err := s.(*Store).run(ctx, SessionOptions{Workspace: w}, func(u *unit) (err error) {
			groups, err = u.sumUp(groups)
			return err
		}); err != nil {
			return err
		}
	}
	return nil
}

// Summed says how many entries of a limit's group are read one by one, and how many rows
// of sums there are, where its window is.
func Summed(tx store.Tx, limit, group string, from, to value.Instant) (open, sums int, err error) {
	u := tx.(*unit)
	o := &query{statement: openWithin, row: func(Row) error { open++; return nil }}
	o.keys = append(o.keys, []any{limit, group, from, to})
	s := &query{statement: sumsWithin, row: func(Row) error { sums++; return nil }}
	for _, width := range spans {
		s.keys = append(s.keys, []any{limit, group, width, 0, to})
	}
	return open, sums, u.ask(o, s)
}
