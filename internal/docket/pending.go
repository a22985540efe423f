package docket

import (
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Pending are declarations that are about to be kept and that no records have yet.
// Cases that are built beside them see them as if they were kept: two new actions
// of one batch are each other's rivals, and count towards each other's limits.
type Pending struct {
	firsts    *Memory                          // the new actions, by their first declaration
	further   map[string][]verdict.Declaration // further declarations of any action
	contracts map[string]bool                  // digests that firsts has
	count     int
}

// NewPending has none.
func NewPending() *Pending {
	return &Pending{firsts: NewMemory(), further: map[string][]verdict.Declaration{}, contracts: map[string]bool{}}
}

// Declare adds a new action and the version that governs it, nil if none does. All
// that are added were received at one time.
func (p *Pending) Declare(d verdict.Declaration, governing *verdict.Governing) error {
	if governing != nil && !p.contracts[governing.Contract.Digest] {
		p.contracts[governing.Contract.Digest] = true
		if err := p.firsts.Activate(Version{Governing: *governing}); err != nil {
			return err
		}
	}
	p.count++
	p.firsts.Declare(d)
	return nil
}

// Revise adds a further declaration of an action, pending or kept.
func (p *Pending) Revise(d verdict.Declaration) {
	p.further[d.ActionID] = append(p.further[d.ActionID], d)
}

func (p *Pending) revisions(actionID string, known []verdict.Declaration) []verdict.Declaration {
	first, _ := p.firsts.Revisions(actionID) // fails never
	return slices.Concat(known, first, p.further[actionID])
}

func (p *Pending) declared(key ActionKey, known []verdict.Declaration) ([]verdict.Declaration, error) {
	if p.count == 0 {
		return known, nil
	}
	if key.By == contract.ByParam {
		// Which text a parameter has depends on the version; all of them may answer.
		return slices.Concat(known, p.firsts.every(key)), nil
	}
	more, err := p.firsts.Declared(key)
	return slices.Concat(known, more), err
}

func (p *Pending) compensating(actionID string, known []verdict.Declaration) ([]verdict.Declaration, error) {
	more, err := p.firsts.Compensating(actionID)
	return slices.Concat(known, more), err
}

// history adds what pending actions come to under a limit. A version that governs
// none of them has no buckets here and gets them by its first question.
func (p *Pending) history(query HistoryQuery, known verdict.History) (verdict.History, error) {
	if p.count == 0 {
		return known, nil
	}
	if err := p.firsts.look(query.Contract); err != nil {
		return known, err
	}
	more, err := p.firsts.History(query)
	if err != nil {
		return known, err
	}
	known.Count += more.Count
	known.Unvalued += more.Unvalued
	known.Totals = sumOf(known.Totals, more.Totals)
	return known, nil
}

// sumOf adds totals by currency, in the order of currencies and in the form that
// [Memory.History] gives them.
func sumOf(a, b []money.Amount) []money.Amount {
	if len(b) == 0 {
		return a
	}
	sums := slices.Clone(a)
	for _, more := range b {
		i := slices.IndexFunc(sums, func(s money.Amount) bool { return s.Currency == more.Currency })
		if i < 0 {
			sums = append(sums, more)
			continue
		}
		sums[i] = money.Amount{Value: shortest(sums[i].Value.Add(more.Value)), Currency: more.Currency}
	}
	slices.SortFunc(sums, func(a, b money.Amount) int { return strings.Compare(string(a.Currency), string(b.Currency)) })
	return sums
}

// every are the actions of a contract that start within the time of a key.
func (m *Memory) every(key ActionKey) []verdict.Declaration {
	var found []verdict.Declaration
	for _, id := range m.ActionIDs() {
		if d := &m.actions[id][0]; d.ContractID == key.ContractID && d.Start() >= key.From && d.Start() <= key.To {
			found = append(found, *d)
		}
	}
	return found
}

// never is a time at which no version is active.
const never value.Instant = -1 << 62

// look fills the buckets of the rolling limits of a version that governs nothing
// here, if they are not there yet.
func (m *Memory) look(k *contract.Contract) error {
	for i := range k.Limits {
		if l := &k.Limits[i]; l.Rolling != nil && m.limits[limitIndex{digest: k.Digest, limit: l.ID}] == nil {
			return m.Activate(Version{Governing: verdict.Governing{Contract: k}, From: never, Until: never})
		}
	}
	return nil
}
