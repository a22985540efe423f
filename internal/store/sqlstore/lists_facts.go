package sqlstore

import (
	"fmt"
	"math"

	"github.com/deed-dev/deed/internal/store"
)

// Parameters of all lists of facts: $2 is where the list goes on, $3 how many, the
// rest the filter.
const (
	fromFacts = `SELECT f.seq, f.kept_by, f.form, f.body FROM facts f WHERE f.workspace_id = $1 AND f.seq < $2
		AND ($4 = '' OR f.source = $4) AND ($5 = '' OR f.fact_type = $5) AND ($6 = '' OR f.subject_id = $6)
		AND ($7 = '' OR f.external_id = $7) AND f.occurred_at >= $8 AND f.occurred_at < $9
		AND ($10 = '' OR EXISTS (SELECT 1 FROM fact_refs r
			WHERE r.workspace_id = $1 AND r.name = $10 AND r.value = $11 AND r.identity = f.identity))`
	newestFacts = ` ORDER BY f.seq DESC LIMIT $3`
)

var (
	listFacts           = tenant("list_facts", fromFacts+newestFacts)
	listFactsByExternal = tenant("list_facts_by_external_id", fromFacts+` AND f.external_id = $7`+newestFacts)
	listFactsBySubject  = tenant("list_facts_by_subject", fromFacts+` AND f.subject_id = $6 AND f.subject_id <> ''`+newestFacts)
	listFactsByType     = tenant("list_facts_by_type", fromFacts+` AND f.source = $4 AND f.fact_type = $5`+newestFacts)
	listFactsByRef      = tenant("list_facts_by_ref", fromFacts+` AND f.identity IN (
		SELECT i.identity FROM fact_refs i WHERE i.workspace_id = $1 AND i.name = $10 AND i.value = $11)`+newestFacts)
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
	err = u.ask(&query{statement: factsFor(f), args: args, row: func(r Row) error {
		kept, err := keptFact(r)
		all = append(all, kept)
		return err
	}})
	if err != nil {
		return nil, "", fmt.Errorf("list facts: %w", err)
	}
	if len(all) <= p.Limit {
		return all, "", nil
	}
	all = all[:p.Limit]
	return all, cursor(name, f, place{number: all[len(all)-1].Seq}), nil
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
	case f.Source != "" && f.Type != "":
		return listFactsByType
	}
	return listFacts
}
