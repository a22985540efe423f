package settlement

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/store"
)

// naming are the ids of the contracts of which any version names a source, in one
// order.
func naming(versions []store.ContractVersion, source string) ([]string, error) {
	var ids []string
	for i := range versions {
		v := &versions[i]
		if v.From == 0 || slices.Contains(ids, v.ContractID) || !strings.Contains(v.Text, source) {
			continue
		}
		k, err := contract.Parse([]byte(v.Text))
		if err != nil {
			return nil, fmt.Errorf("compile version %d of contract %s: %w", v.Version, v.ContractID, err)
		}
		if slices.ContainsFunc(k.Sources, func(s contract.Source) bool { return s.Name == source }) {
			ids = append(ids, v.ContractID)
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// progress reads how far a wake about a whole source has come: how many contracts
// are done, and where the list of the next one goes on.
func progress(text string) (contracts int, after store.Cursor) {
	count, cursor, _ := strings.Cut(text, " ")
	contracts, _ = strconv.Atoi(count) // nothing is the beginning
	return contracts, store.Cursor(cursor)
}

// using finds the unsettled actions of the contracts that name a source, after
// something about the source itself was changed.
func (u *unit) using(w store.Wake) error {
	versions, err := u.tx.ContractVersions("", true)
	if err != nil {
		return fmt.Errorf("read the contracts that name %s: %w", w.Source, err)
	}
	contracts, err := naming(versions, w.Source)
	if err != nil {
		return err
	}
	at, after := progress(string(w.Ref))
	if at >= len(contracts) {
		return nil
	}
	most := u.e.options.Batch
	listed, next, err := u.tx.ListPending(store.Filter{ContractID: contracts[at]}, store.Page{After: after, Limit: most})
	if err != nil {
		return fmt.Errorf("list what is not settled under contract %s: %w", contracts[at], err)
	}
	for i := range listed {
		u.target(listed[i].Action.Ref).covered = true
	}
	if next == "" {
		at++
	}
	if at < len(contracts) {
		w.Ref, w.Due = store.Ref(fmt.Sprintf("%d %s", at, next)), 0
		u.tx.Wake(w)
	}
	return nil
}
