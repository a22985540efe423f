package docket

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Memory keeps records in memory, with an index for each question that
// [Records] asks. It is for one goroutine at a time.
type Memory struct {
	actions      map[string][]verdict.Declaration // by id, in order of receipt
	byKey        map[actionIndex][]string         // ids, of which some may be out of date
	compensating map[string][]string

	facts     map[evidence.Identity][]evidence.Fact
	byRef     map[refIndex]identities
	bySubject map[string]identities
	byType    map[typeIndex]identities
	sources   map[string]evidence.Source

	versions  map[string][]Version // by contract id, by the time from which they are active
	expecting map[string][]*verdict.Governing
	limits    map[limitIndex]*bucketed

	verdicts map[string]*Stored

	declaredTo value.Instant
}

type (
	refIndex    struct{ name, value string }
	typeIndex   struct{ source, factType string }
	actionIndex struct {
		contractID, param, value string // param is empty for subjects
	}
	limitIndex struct{ digest, limit string }
)

// Version is a version of a contract and when it is active: from From on,
// until Until, which is no part of it. Zero is without end.
type Version struct {
	verdict.Governing
	From, Until value.Instant
}

// NewMemory holds nothing yet.
func NewMemory() *Memory {
	return &Memory{
		actions: map[string][]verdict.Declaration{}, byKey: map[actionIndex][]string{}, compensating: map[string][]string{},
		facts: map[evidence.Identity][]evidence.Fact{}, byRef: map[refIndex]identities{}, bySubject: map[string]identities{},
		byType: map[typeIndex]identities{}, sources: map[string]evidence.Source{},
		versions: map[string][]Version{}, expecting: map[string][]*verdict.Governing{}, limits: map[limitIndex]*bucketed{},
		verdicts: map[string]*Stored{},
	}
}

// Activate adds a version of a contract. It refuses one that is active at the
// same time as another version of the contract.
func (m *Memory) Activate(v Version) error {
	id := v.Contract.ID
	for _, other := range m.versions[id] {
		if overlap(v, other) {
			return fmt.Errorf("versions %d and %d of contract %s are active at the same time", other.Version, v.Version, id)
		}
	}
	m.versions[id] = append(m.versions[id], v)
	slices.SortFunc(m.versions[id], func(a, b Version) int { return cmp.Compare(a.From, b.From) })
	governing := v.Governing
	for _, factType := range expected(v.Contract) {
		m.expecting[factType] = append(m.expecting[factType], &governing)
	}
	// The new version moves no declaration to another mode that is not its own,
	// but which those are may have changed, so that all buckets are filled anew.
	for _, version := range m.versions[id] {
		m.fill(version.Contract)
	}
	return nil
}

func overlap(a, b Version) bool {
	return (a.Until == 0 || b.From < a.Until) && (b.Until == 0 || a.From < b.Until)
}

// Active implements [Contracts].
func (m *Memory) Active(contractID string, at value.Instant) (*verdict.Governing, error) {
	for i := range m.versions[contractID] {
		v := &m.versions[contractID][i]
		if v.From <= at && (v.Until == 0 || at < v.Until) {
			return &v.Governing, nil
		}
	}
	return nil, nil
}

// Version implements [Contracts].
func (m *Memory) Version(contractID string, number int) (*verdict.Governing, error) {
	for i := range m.versions[contractID] {
		if v := &m.versions[contractID][i]; v.Version == number {
			return &v.Governing, nil
		}
	}
	return nil, nil
}

// Expecting implements [Contracts].
func (m *Memory) Expecting(factType string) ([]*verdict.Governing, error) {
	return m.expecting[factType], nil
}

// Declare adds a revision of an action's declaration. An exact copy of one that
// is there is left out.
func (m *Memory) Declare(d verdict.Declaration) {
	known := m.actions[d.ActionID]
	if slices.ContainsFunc(known, func(k verdict.Declaration) bool { return compareDeclarations(&k, &d) == 0 }) {
		return
	}
	at, _ := slices.BinarySearchFunc(known, d, func(a, b verdict.Declaration) int { return compareDeclarations(&a, &b) })
	if at == 0 {
		if len(known) > 0 {
			m.unfile(&known[0])
		}
		m.file(&d)
	}
	m.actions[d.ActionID] = slices.Insert(known, at, d)
}

// file enters a first declaration into the indexes.
func (m *Memory) file(d *verdict.Declaration) {
	for _, key := range actionKeys(d) {
		m.byKey[key] = append(m.byKey[key], d.ActionID)
	}
	if d.Compensates != "" {
		m.compensating[d.Compensates] = append(m.compensating[d.Compensates], d.ActionID)
	}
	m.add(d)
}

// unfile takes out what was a first declaration until an earlier one came.
func (m *Memory) unfile(d *verdict.Declaration) {
	drop := func(ids []string) []string {
		return slices.DeleteFunc(ids, func(id string) bool { return id == d.ActionID })
	}
	for _, key := range actionKeys(d) {
		m.byKey[key] = drop(m.byKey[key])
	}
	if d.Compensates != "" {
		m.compensating[d.Compensates] = drop(m.compensating[d.Compensates])
	}
	m.subtract(d)
}

// actionKeys are the keys that an action answers besides its id. Parameters are
// indexed as they were declared; the number 7.0 is the key 7.
func actionKeys(d *verdict.Declaration) []actionIndex {
	var keys []actionIndex
	if d.SubjectID != "" {
		keys = append(keys, actionIndex{contractID: d.ContractID, value: d.SubjectID})
	}
	for name, v := range d.Params {
		text := v.Text()
		if v.Kind() == value.Decimal {
			text = plain(v.Decimal())
		}
		if text != "" {
			keys = append(keys, actionIndex{contractID: d.ContractID, param: name, value: text})
		}
	}
	return keys
}

// Revisions implements [Declarations].
func (m *Memory) Revisions(actionID string) ([]verdict.Declaration, error) {
	return m.actions[actionID], nil
}

// Declared implements [Declarations].
func (m *Memory) Declared(key ActionKey) ([]verdict.Declaration, error) {
	index := actionIndex{contractID: key.ContractID, value: key.Value}
	switch key.By {
	case contract.ByActionID:
		if known := m.actions[key.Value]; len(known) > 0 {
			return known[:1], nil
		}
		return nil, nil
	case contract.ByParam:
		index.param = key.Param
	}
	return m.firsts(m.byKey[index], func(d *verdict.Declaration) bool {
		return d.Start() >= key.From && d.Start() <= key.To
	}), nil
}

// Compensating implements [Declarations].
func (m *Memory) Compensating(actionID string) ([]verdict.Declaration, error) {
	return m.firsts(m.compensating[actionID], func(*verdict.Declaration) bool { return true }), nil
}

func (m *Memory) firsts(ids []string, wanted func(*verdict.Declaration) bool) []verdict.Declaration {
	var firsts []verdict.Declaration
	for _, id := range ids {
		if d := &m.actions[id][0]; wanted(d) {
			firsts = append(firsts, *d)
		}
	}
	return firsts
}

// Latest implements [Verdicts].
func (m *Memory) Latest(actionID string) (*Stored, error) { return m.verdicts[actionID], nil }

// Keep stores the verdict of a case. One that only confirms a settled verdict
// leaves that in its place.
func (m *Memory) Keep(c *verdict.Case, v verdict.Verdict) {
	if c.Previous != nil && v.Revision == c.Previous.Revision {
		return
	}
	m.verdicts[v.ActionID] = &Stored{Verdict: v, Sources: Covered(c)}
}

// Covered are the sources of a case with what they had covered for the settled
// verdict before it: that holds for later verdicts too, even where a source was
// stated less complete since.
func Covered(c *verdict.Case) []evidence.Source {
	if c.Previous == nil {
		return c.Sources
	}
	sources := slices.Clone(c.Sources)
	for _, before := range c.Previous.Sources {
		i := slices.IndexFunc(sources, func(s evidence.Source) bool { return s.Name == before.Name })
		if i < 0 {
			sources = append(sources, before)
			continue
		}
		marks := maps.Clone(before.Watermarks)
		for factType, at := range sources[i].Watermarks {
			marks[factType] = max(marks[factType], at)
		}
		sources[i].Watermarks = marks
	}
	return sources
}

// ActionIDs lists every action that was declared, in alphabetical order.
func (m *Memory) ActionIDs() []string {
	ids := make([]string, 0, len(m.actions))
	for id := range m.actions {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
