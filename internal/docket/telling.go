package docket

import (
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
)

// telling is a fact in all its revisions. Cases of actions that share a subject hold the
// same facts, so that these are put together once for all of them.
type telling struct {
	id        evidence.Identity
	revisions []evidence.Fact // never changed
	last      value.Instant   // when the latest of them occurred
	arrived   value.Instant   // when the latest of them arrived
}

// tellings puts facts together, in one order.
func tellings(found []evidence.Fact) []telling {
	at := make(map[evidence.Identity]int, len(found))
	var all []telling
	for i := range found {
		f := &found[i]
		id := f.Identity()
		n, known := at[id]
		if !known {
			n = len(all)
			at[id] = n
			all = append(all, telling{id: id, last: f.OccurredAt})
		}
		t := &all[n]
		t.revisions = append(t.revisions, *f)
		t.last, t.arrived = max(t.last, f.OccurredAt), max(t.arrived, f.IngestedAt)
	}
	slices.SortFunc(all, func(a, b telling) int { return evidence.Compare(&a.revisions[0], &b.revisions[0]) })
	return all
}

// knownAt are the revisions that had arrived by a time.
func (t *telling) knownAt(at value.Instant) []evidence.Fact {
	if t.arrived <= at {
		return t.revisions
	}
	var known []evidence.Fact
	for i := range t.revisions {
		if t.revisions[i].KnownAt(at) {
			known = append(known, t.revisions[i])
		}
	}
	return known
}

// standing are the revisions that stand of what is known of a fact. Where the current
// one is in dispute every revision counts here: a rival too many does no harm, one too
// few may.
func standing(revisions []evidence.Fact, at value.Instant) []*evidence.Fact {
	var all []*evidence.Fact
	for _, r := range evidence.Current(revisions, at) {
		switch {
		case r.Disputed:
			for i := range revisions {
				all = append(all, &revisions[i])
			}
		case !r.Fact.Retracted:
			all = append(all, r.Fact)
		}
	}
	return all
}

// day is what questions about a subject are rounded to.
const day = 24 * time.Hour

// rounded is a key that many actions on one subject have in common: it asks for a day
// more at most.
func (k FactKey) rounded() FactKey {
	if k.SubjectID != "" && k.Since > 0 {
		k.Since -= k.Since % value.Instant(day/time.Microsecond)
	}
	return k
}

// tellings are the facts that answer a key.
func (g *gathering) tellings(key FactKey) ([]telling, error) {
	if r, is := g.records.(recalled); is {
		return r.tellings(key), nil
	}
	found, err := g.records.Facts(key)
	return tellings(found), err
}

// tellings answers a key by what a question that serves many keys brought.
func (r recalled) tellings(key FactKey) []telling {
	rounded := key.rounded()
	known := r.remembered(Question{Facts: &rounded})
	if known.answered && known.tellings == nil {
		known.tellings = tellings(known.Reported)
	}
	var kept []telling
	for i := range known.tellings {
		if t := &known.tellings[i]; t.last >= key.Since {
			r.newest = max(r.newest, t.arrived)
			kept = append(kept, *t)
		}
	}
	return kept
}
