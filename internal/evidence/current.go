package evidence

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/value"
)

// Resolved is the current revision of a fact.
type Resolved struct {
	Fact *Fact
	// Disputed says that the source gave another content of the same order, so
	// that which of them is newer cannot be told. Fact is then one of them: the
	// same one, whatever the order of arrival.
	Disputed bool
	// Contents are all that it said then, each once, ordered so that arrival
	// does not show; nil for a fact that is not disputed.
	Contents []*Fact
}

// Current picks from the revisions of many facts the one of each fact that is
// current by what was known at a time. Revisions are ordered by the source's
// own number, else by when they were observed, a numbered one after all that
// have none; never by arrival. Retracted revisions are returned like others.
// The result points into facts and is ordered by source, type and external id.
func Current(facts []Fact, at value.Instant) []Resolved {
	known := make([]*Fact, 0, len(facts))
	for i := range facts {
		if facts[i].KnownAt(at) {
			known = append(known, &facts[i])
		}
	}
	if !slices.IsSortedFunc(known, compareIdentity) {
		slices.SortFunc(known, compareIdentity)
	}
	resolved := make([]Resolved, 0, len(known))
	for len(known) > 0 {
		n := 1
		for n < len(known) && compareIdentity(known[0], known[n]) == 0 {
			n++
		}
		resolved = append(resolved, resolve(known[:n]))
		known = known[n:]
	}
	// The name within the family may put revisions of different identities in
	// another order than their identities have.
	if !slices.IsSortedFunc(resolved, compareResolved) {
		slices.SortFunc(resolved, compareResolved)
	}
	return resolved
}

// KnownAt says whether the fact had been ingested by a time.
func (f *Fact) KnownAt(at value.Instant) bool { return f.IngestedAt == 0 || f.IngestedAt <= at }

// resolve picks from the revisions of one fact.
func resolve(revisions []*Fact) Resolved {
	newest := revisions[:1]
	for _, f := range revisions[1:] {
		switch order := CompareRevisions(f, newest[0]); {
		case order > 0:
			newest = []*Fact{f}
		case order == 0:
			newest = append(newest[:len(newest):len(newest)], f)
		}
	}
	picked := Resolved{Fact: newest[0]}
	for _, f := range newest[1:] {
		picked.Disputed = picked.Disputed || !f.SameContent(newest[0])
	}
	for _, f := range newest[1:] {
		if arrivedBefore(f, picked.Fact) {
			picked.Fact = f
		}
	}
	if picked.Disputed {
		picked.Contents = contents(newest)
		picked.Fact = picked.Contents[0]
	}
	return picked
}

// CompareRevisions orders two revisions of one fact. 0 means that the source
// does not say which is newer.
func CompareRevisions(a, b *Fact) int {
	if a.Revision != 0 || b.Revision != 0 {
		if a.Revision != 0 && b.Revision != 0 {
			return cmp.Compare(a.Revision, b.Revision)
		}
		if a.Revision != 0 {
			return 1
		}
		return -1
	}
	return cmp.Compare(a.ObservedAt, b.ObservedAt)
}

// contents keeps one fact of each content, in the order of their contents.
func contents(facts []*Fact) []*Fact {
	kept := slices.Clone(facts)
	slices.SortStableFunc(kept, func(f, g *Fact) int { return cmp.Compare(content(f), content(g)) })
	return slices.CompactFunc(kept, (*Fact).SameContent)
}

// SameContent says whether two revisions say the same of what happened,
// whenever they were observed and arrived and however they were spelled.
func (f *Fact) SameContent(g *Fact) bool {
	if f.Type != g.Type || f.SubjectID != g.SubjectID || f.SubjectKind != g.SubjectKind ||
		f.OccurredAt != g.OccurredAt || f.mode() != g.mode() || f.Retracted != g.Retracted ||
		len(f.Refs) != len(g.Refs) || len(f.Attrs) != len(g.Attrs) {
		return false
	}
	for name, ref := range f.Refs {
		if other, there := g.Refs[name]; !there || other != ref {
			return false
		}
	}
	for name, v := range f.Attrs {
		if other, there := g.Attrs[name]; !there || !value.Same(v, other) {
			return false
		}
	}
	return true
}

func (f *Fact) mode() Mode {
	if f.Mode == "" {
		return Event
	}
	return f.Mode
}

// arrivedBefore decides between two revisions of one order and one content: the
// first to arrive is the fact, what came later is a replay of it.
func arrivedBefore(f, g *Fact) bool {
	if f.IngestedAt != g.IngestedAt {
		return f.IngestedAt < g.IngestedAt
	}
	return content(f) < content(g)
}

func compareIdentity(a, b *Fact) int {
	return cmp.Or(
		strings.Compare(a.Source, b.Source),
		strings.Compare(Family(a.Type), Family(b.Type)),
		strings.Compare(a.ExternalID, b.ExternalID),
	)
}

func compareResolved(a, b Resolved) int {
	return cmp.Or(
		strings.Compare(a.Fact.Source, b.Fact.Source),
		strings.Compare(a.Fact.Type, b.Fact.Type),
		strings.Compare(a.Fact.ExternalID, b.Fact.ExternalID),
	)
}
