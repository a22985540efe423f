package docket

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// bucketed is one rolling limit's buckets, by group.
type bucketed struct {
	contract *contract.Contract
	limit    *contract.Limit
	groups   map[string][]*series
}

// DeclaredTo says up to when all declarations are in the records. Until it is
// said, they are complete at any time that is asked about.
func (m *Memory) DeclaredTo(at value.Instant) { m.declaredTo = at }

// History implements [Declarations].
func (m *Memory) History(query HistoryQuery) (verdict.History, error) {
	h := verdict.History{Limit: query.Limit.ID, From: query.From, To: query.To, CompleteTo: query.At}
	if m.declaredTo != 0 {
		h.CompleteTo = min(h.CompleteTo, m.declaredTo)
	}
	b := m.limits[limitIndex{digest: query.Contract.Digest, limit: query.Limit.ID}]
	if b == nil {
		return h, nil
	}
	own := m.own(b, query)
	totals := map[money.Currency]tally{}
	for _, s := range b.groups[query.Group] {
		if s.shadow && query.Mode != verdict.Shadow {
			continue
		}
		sum := tally{}
		if s.received > query.At {
			sum = s.receivedBy(query.From, query.To, query.At)
		} else {
			sum = s.within(query.From, query.To)
		}
		if own != nil && own.currency == s.currency && own.shadow == s.shadow {
			sum = sum.minus(tally{count: 1, sum: own.entry.amount})
		}
		totals[s.currency] = totals[s.currency].plus(sum)
	}
	for currency, sum := range totals {
		h.Count += sum.count
		switch {
		case sum.count == 0 || query.Limit.Rolling.Total == nil:
		case currency == "":
			h.Unvalued += sum.count
		default:
			h.Totals = append(h.Totals, money.Amount{Value: shortest(sum.sum), Currency: currency})
		}
	}
	slices.SortFunc(h.Totals, func(a, b money.Amount) int { return strings.Compare(string(a.Currency), string(b.Currency)) })
	return h, nil
}

// Later implements [Declarations].
func (m *Memory) Later(query LaterQuery) ([]Later, error) {
	var later []Later
	for _, b := range m.limits {
		if LimitKey(b.contract, b.limit) != query.Key {
			continue
		}
		for _, s := range b.groups[query.Group] {
			later = append(later, s.between(query.From, query.To)...)
		}
	}
	slices.SortFunc(later, func(a, b Later) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), strings.Compare(a.ActionID, b.ActionID))
	})
	// Versions that add up alike have a bucket each, with the same in it.
	later = slices.Compact(later)
	return later[:min(len(later), query.Most)], nil
}

// place is where an action's entry stands in the buckets of a limit.
type place struct {
	group    string
	currency money.Currency
	shadow   bool
	entry    seriesEntry
}

// own is the place of the action that asks, if the window holds it.
func (m *Memory) own(b *bucketed, query HistoryQuery) *place {
	known := m.actions[query.Except]
	if len(known) == 0 {
		return nil
	}
	p, counts := m.place(b, &known[0])
	if !counts || p.group != query.Group || p.entry.start <= query.From || p.entry.start > query.To || p.entry.received > query.At {
		return nil
	}
	return &p
}

// place is where a first declaration stands; none if no version of the contract
// was active when it was received.
func (m *Memory) place(b *bucketed, d *verdict.Declaration) (place, bool) {
	if d.ContractID != b.contract.ID {
		return place{}, false
	}
	governing, _ := m.Active(d.ContractID, d.ReceivedAt) // fails never
	if governing == nil {
		return place{}, false
	}
	action := engine.NewClaimant(b.contract, d)
	amount, _ := Amount(b.limit, action)
	return place{
		group: Group(b.limit, action), currency: amount.Currency, shadow: governing.Mode == verdict.Shadow,
		entry: seriesEntry{start: d.Start(), received: d.ReceivedAt, actionID: d.ActionID, amount: amount.Value},
	}, true
}

// fill makes the buckets of a contract's rolling limits from all declarations.
func (m *Memory) fill(k *contract.Contract) {
	for i := range k.Limits {
		limit := &k.Limits[i]
		if limit.Rolling == nil {
			continue
		}
		b := &bucketed{contract: k, limit: limit, groups: map[string][]*series{}}
		m.limits[limitIndex{digest: k.Digest, limit: limit.ID}] = b
		for _, known := range m.actions {
			if p, counts := m.place(b, &known[0]); counts {
				b.series(p).insert(p.entry)
			}
		}
	}
}

// add and subtract keep the buckets in step with the first declarations.
func (m *Memory) add(d *verdict.Declaration) {
	m.eachPlace(d, func(s *series, e seriesEntry) { s.insert(e) })
}

func (m *Memory) subtract(d *verdict.Declaration) {
	m.eachPlace(d, func(s *series, e seriesEntry) { s.remove(e) })
}

// eachPlace visits the limits of every version of the declaration's contract.
// Two versions with the same text have the same buckets.
func (m *Memory) eachPlace(d *verdict.Declaration, do func(*series, seriesEntry)) {
	var done []string
	for _, version := range m.versions[d.ContractID] {
		k := version.Contract
		if slices.Contains(done, k.Digest) {
			continue
		}
		done = append(done, k.Digest)
		for i := range k.Limits {
			b := m.limits[limitIndex{digest: k.Digest, limit: k.Limits[i].ID}]
			if b == nil {
				continue
			}
			if p, counts := m.place(b, d); counts {
				do(b.series(p), p.entry)
			}
		}
	}
}

func (b *bucketed) series(p place) *series {
	for _, s := range b.groups[p.group] {
		if s.currency == p.currency && s.shadow == p.shadow {
			return s
		}
	}
	s := &series{currency: p.currency, shadow: p.shadow, size: usualSizes()}
	b.groups[p.group] = append(b.groups[p.group], s)
	return s
}
