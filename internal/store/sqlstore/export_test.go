package sqlstore

import (
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
