package sqlstore

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
)

// Parameters of all lists of facts: $2 is where the list goes on, $3 how many, the
// rest the filter.
const (
	fromFacts = `SELECT f.seq, f.kept_by, f.form, f.body FROM facts f WHERE f.workspace_id = $1 AND f.seq < $2` + narrowed
	// Where others narrow a list more than its order does, the number is reckoned with,
	// lest SQLite walks through all facts in their order.
	fromFew = `SELECT f.seq, f.kept_by, f.form, f.body FROM facts f WHERE f.workspace_id = $1 AND f.seq + 0 < $2` + narrowed
	// Of those that occurred at any time the newest are found by their numbers alone. An
	// index of times would be read as a whole, and is out of the question where the time is
	// reckoned with.
	whenever = ` AND f.occurred_at + 0 >= $8 AND f.occurred_at + 0 < $9`
	within   = ` AND f.occurred_at >= $8 AND f.occurred_at < $9`
	narrowed = `
		AND ($4 = '' OR f.source = $4) AND ($5 = '' OR f.fact_type = $5) AND ($6 = '' OR f.subject_id = $6)
		AND ($7 = '' OR f.external_id = $7)
		AND ($10 = '' OR EXISTS (SELECT 1 FROM fact_refs r
			WHERE r.workspace_id = $1 AND r.name = $10 AND r.value = $11 AND r.identity = f.identity))`
	ofType      = ` AND f.source = $4 AND f.fact_type = $5`
	newestFacts = ` ORDER BY f.seq DESC LIMIT $3`
	newestOfFew = ` ORDER BY f.seq + 0 DESC LIMIT $3`
)

var (
	listFacts = tenant("list_facts", fromFacts+whenever+newestFacts)
	factKinds = tenant("fact_kinds_of", `
		SELECT source, fact_type FROM fact_kinds WHERE workspace_id = $1 AND ($2 = '' OR source = $2)`)
	// Each key is an identity that the external id may have; where the statement runs for
	// each of them, so does the limit.
	listFactsByExternal = tenant("list_facts_by_external_id", `SELECT f.seq, f.kept_by, f.form, f.body FROM {keys bytea}
		{join facts f: f.workspace_id = $1 AND f.identity = k.k1} WHERE f.seq + 0 < $2`+narrowed+within+newestOfFew)
	listFactsBySubject = tenant("list_facts_by_subject", fromFew+within+` AND f.subject_id = $6 AND f.subject_id <> ''`+newestOfFew)
	listFactsByType    = tenant("list_facts_by_type", fromFacts+whenever+ofType+newestFacts)
	listFactsByTime    = tenant("list_facts_by_type_and_time", fromFew+within+ofType+newestOfFew)
	listFactsByRef     = tenant("list_facts_by_ref", fromFew+within+` AND f.identity IN (
		SELECT i.identity FROM fact_refs i WHERE i.workspace_id = $1 AND i.name = $10 AND i.value = $11)`+newestOfFew)
)

// ListFacts implements [store.Evidence].
func (u *unit) ListFacts(f store.FactFilter, p store.Page) ([]store.Fact, store.Cursor, error) {
	const name = "facts"
	from, there, err := readCursor(name, f, p.After)
	if err != nil {
		return nil, "", err
	}
	if !there {
		from.number = math.MaxInt64
	}
	to := f.To
	if to == 0 {
		to = math.MaxInt64
	}
	var all []store.Fact
	args := []any{
		from.number, p.Limit + 1, key(f.Source), key(f.Type), key(f.SubjectID), key(f.ExternalID), f.From, to, key(f.Ref), key(f.RefValue),
	}
	q := &query{statement: factsFor(f), args: args, row: func(r Row) error {
		kept, err := keptFact(r)
		all = append(all, kept)
		return err
	}}
	if f.ExternalID != "" {
		if q.keys, err = u.identitiesOf(f); err != nil {
			return nil, "", err
		}
	}
	if err := u.ask(q); err != nil {
		return nil, "", fmt.Errorf("list facts: %w", err)
	}
	slices.SortFunc(all, func(a, b store.Fact) int { return cmp.Compare(b.Seq, a.Seq) })
	if len(all) <= p.Limit {
		return all, "", nil
	}
	all = all[:p.Limit]
	return all, cursor(name, f, place{number: all[len(all)-1].Seq}), nil
}

// identitiesOf are the keys of those that an external id may have: in each source, of
// each family of which the source has told.
func (u *unit) identitiesOf(f store.FactFilter) (keys [][]any, err error) {
	known := map[evidence.Identity]bool{}
	err = u.ask(&query{statement: factKinds, args: []any{f.Source}, row: func(r Row) error {
		id := evidence.Identity{Source: r.Text(), Family: evidence.Family(r.Text()), ExternalID: f.ExternalID}
		if !known[id] {
			known[id] = true
			keys = append(keys, []any{[]byte(identityOf(id))})
		}
		return nil
	}})
	if err != nil {
		return nil, fmt.Errorf("read what sources have told: %w", err)
	}
	return keys, nil
}

// factsFor picks the statement whose index narrows a list most.
func factsFor(f store.FactFilter) *statement {
	switch {
	case f.ExternalID != "":
		return listFactsByExternal
	case f.Ref != "":
		return listFactsByRef
	case f.SubjectID != "":
		return listFactsBySubject
	case f.Source != "" && f.Type != "" && (f.From != 0 || f.To != 0):
		return listFactsByTime
	case f.Source != "" && f.Type != "":
		return listFactsByType
	}
	return listFacts
}
