package evidence

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/value"
)

// Compare puts facts in one order whatever the order they came in: by
// identity, then from the oldest revision to the newest, then by content. Two
// facts between which it finds no order are the same in everything.
func Compare(a, b *Fact) int {
	if order := cmp.Or(compareIdentity(a, b), CompareRevisions(a, b)); order != 0 {
		return order
	}
	return cmp.Or(strings.Compare(content(a), content(b)), cmp.Compare(a.IngestedAt, b.IngestedAt))
}

// content is the fact as one text, without when it arrived. It only serves to
// put revisions in some order that does not depend on arrival.
func content(f *Fact) string {
	b := value.AppendString(nil, f.Source)
	b = value.AppendString(b, f.ExternalID)
	b = value.AppendString(b, f.Type)
	b = value.AppendString(b, f.SubjectID)
	b = value.AppendString(b, f.SubjectKind)
	for _, name := range slices.Sorted(maps.Keys(f.Refs)) {
		b = value.AppendString(b, name)
		b = value.AppendString(b, f.Refs[name])
	}
	b = append(b, '\n')
	for _, name := range slices.Sorted(maps.Keys(f.Attrs)) {
		b = value.AppendString(b, name)
		if written, err := f.Attrs[name].AppendJSON(b); err == nil {
			b = written
		}
	}
	b = append(b, '\n')
	b = append(b, f.OccurredAt.String()...)
	b = append(b, ' ')
	b = append(b, f.mode()...)
	if f.Retracted {
		b = append(b, " retracted"...)
	}
	b = append(b, ' ')
	b = append(b, f.ObservedAt.String()...)
	b = value.AppendString(b, f.Payload)
	return string(b)
}
