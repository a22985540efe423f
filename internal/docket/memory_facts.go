package docket

import (
	"slices"

	"github.com/deed-dev/deed/internal/evidence"
)

// identities are facts by identity, in the order in which they came.
type identities []evidence.Identity

// with adds an identity that is not there yet. Lists are short: what shares a
// key or a subject is about one thing.
func (l identities) with(id evidence.Identity) identities {
	if slices.Contains(l, id) {
		return l
	}
	return append(l, id)
}

// Report adds a revision of a fact and says whether it is a new one. The same
// again is the same fact: only its first arrival counts.
func (m *Memory) Report(f evidence.Fact) bool {
	id := f.Identity()
	revisions := m.facts[id]
	for i := range revisions {
		known := &revisions[i]
		if evidence.CompareRevisions(known, &f) == 0 && known.ObservedAt == f.ObservedAt &&
			known.Payload == f.Payload && known.SameContent(&f) {
			// Of two spellings that arrived at one time either could be kept, but
			// not the one that happened to be read first.
			if f.IngestedAt < known.IngestedAt || f.IngestedAt == known.IngestedAt && evidence.Compare(&f, known) < 0 {
				*known = f
			}
			return false
		}
	}
	m.facts[id] = append(revisions, f)
	for name, v := range f.Refs {
		key := refIndex{name: name, value: v}
		m.byRef[key] = m.byRef[key].with(id)
	}
	if f.SubjectID != "" {
		m.bySubject[f.SubjectID] = m.bySubject[f.SubjectID].with(id)
	}
	if !slices.ContainsFunc(revisions, func(known evidence.Fact) bool { return known.Type == f.Type }) {
		key := typeIndex{source: f.Source, factType: f.Type}
		m.byType[key] = append(m.byType[key], id)
	}
	return true
}

// Facts implements [Evidence].
func (m *Memory) Facts(key FactKey) ([]evidence.Fact, error) {
	var found identities
	switch {
	case key.Ref != "":
		found = m.byRef[refIndex{name: key.Ref, value: key.Value}]
	case key.SubjectID != "":
		found = m.bySubject[key.SubjectID]
	default:
		found = m.byType[typeIndex{source: key.Source, factType: key.Type}]
	}
	var facts []evidence.Fact
	for _, id := range found {
		revisions := m.facts[id]
		if slices.ContainsFunc(revisions, func(f evidence.Fact) bool { return f.OccurredAt >= key.Since }) {
			facts = append(facts, revisions...)
		}
	}
	return facts, nil
}

// Fact implements [Evidence].
func (m *Memory) Fact(id evidence.Identity) ([]evidence.Fact, error) { return m.facts[id], nil }

// Connect states a source as it stands now, in place of what was stated before.
func (m *Memory) Connect(s evidence.Source) { m.sources[s.Name] = s }

// Sources implements [Evidence].
func (m *Memory) Sources(names []string) ([]evidence.Source, error) {
	var sources []evidence.Source
	for _, name := range names {
		if s, known := m.sources[name]; known {
			sources = append(sources, s)
		}
	}
	return sources, nil
}
