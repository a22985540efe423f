package sqlstore

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// Facts come by the thousand, and a row for each of their wakes would cost as much as
// half a fact: it is written, indexed, and taken away again. So what a unit wakes of
// one source stands together in a row. Whoever claims fewer than a row has puts the
// rest back; rows are short, so that this is little.
const mostTogether = 50

// wakeGroup is what the facts of one row have in common.
type wakeGroup struct {
	due            value.Instant
	source, family string
}

func (l *late) wake(due value.Instant, of evidence.Identity) {
	if l.wakes == nil {
		l.wakes = map[wakeGroup][]string{}
	}
	g := wakeGroup{due: due, source: of.Source, family: of.Family}
	l.wakes[g] = append(l.wakes[g], of.ExternalID)
}

func (l *late) writeWakes(u *unit) {
	for _, g := range slices.SortedFunc(maps.Keys(l.wakes), compareGroups) {
		for ids := range slices.Chunk(l.wakes[g], mostTogether) {
			text := ids[0]
			if len(ids) > 1 {
				list, err := json.Marshal(ids)
				if err != nil {
					u.fail(fmt.Errorf("write the wakes of facts of %s: %w", g.source, err))
					return
				}
				text = string(list)
			}
			u.queueRows(addWake, []any{store.WakeFact, g.due, "", g.source, g.family, text, "", "", 0, len(ids)})
		}
	}
	l.wakes = nil
}

func compareGroups(a, b wakeGroup) int {
	return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.source, b.source), cmp.Compare(a.family, b.family))
}

// apart are the wakes of a row.
func apart(row store.Wake, facts int64) ([]store.Wake, error) {
	if facts == 1 {
		return []store.Wake{row}, nil
	}
	var ids []string
	if err := json.Unmarshal([]byte(row.Fact.ExternalID), &ids); err != nil {
		return nil, fmt.Errorf("read of which facts a wake is: %w", err)
	}
	wakes := make([]store.Wake, len(ids))
	for i, id := range ids {
		wakes[i] = row
		wakes[i].Fact.ExternalID = id
	}
	return wakes, nil
}

// factKind is what a source tells.
type factKind struct{ source, factType string }

func (l *late) kind(source, factType string) {
	if l.kinds == nil {
		l.kinds = map[factKind]bool{}
	}
	l.kinds[factKind{source, factType}] = true
}

// writeKinds queues the kinds in one order, in which two units do not wait for each
// other.
func (l *late) writeKinds(u *unit) {
	for _, k := range slices.SortedFunc(maps.Keys(l.kinds), func(a, b factKind) int {
		return cmp.Or(cmp.Compare(a.source, b.source), cmp.Compare(a.factType, b.factType))
	}) {
		u.queueRows(addKind, []any{k.source, k.factType})
	}
	l.kinds = nil
}
