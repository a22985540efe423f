package docket

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// shared finds the facts that back the action and also one of another contract.
// Both verdicts stand; whoever adds them up has to know. A fact backs an action
// here if it belongs to it, lies in its window and fulfils the condition.
func (g *gathering) shared(self engine.Claimant, facts []evidence.Fact) ([]verdict.Shared, error) {
	var shared []verdict.Shared
	for _, r := range evidence.Current(facts, g.at) {
		f := r.Fact
		if r.Disputed || f.Retracted || !backs(self, f, g.looks, g.sources) {
			continue
		}
		expecting, err := g.records.Expecting(f.Type)
		if err != nil {
			return nil, err
		}
		for _, other := range expecting {
			if other.Contract.ID == g.k.ID || other.Mode == verdict.Shadow && g.mode != verdict.Shadow {
				continue
			}
			ids, err := g.backedBy(f, other)
			if err != nil {
				return nil, err
			}
			for _, id := range ids {
				shared = append(shared, verdict.Shared{
					Source: f.Source, Type: f.Type, ExternalID: f.ExternalID, ActionID: id, ContractID: other.Contract.ID,
				})
			}
		}
	}
	slices.SortFunc(shared, func(a, b verdict.Shared) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(a.Type, b.Type), strings.Compare(a.ExternalID, b.ExternalID),
			strings.Compare(a.ActionID, b.ActionID))
	})
	return slices.Compact(shared), nil
}

// backedBy are the actions governed by a version of another contract that a
// fact backs.
func (g *gathering) backedBy(f *evidence.Fact, other *verdict.Governing) ([]string, error) {
	sources, err := sourcesOf(g.records, other.Contract)
	if err != nil {
		return nil, err
	}
	all := looks(other.Contract)
	var ids []string
	for i := range all {
		for _, key := range keysOf(other.Contract.ID, f, &all[i], other.Contract.Settle.After) {
			declared, err := g.records.Declared(key)
			if err != nil {
				return nil, err
			}
			for j := range declared {
				d := &declared[j]
				governing, err := g.records.Active(d.ContractID, d.ReceivedAt)
				if err != nil {
					return nil, err
				}
				if d.ReceivedAt > g.at || d.ContractID != other.Contract.ID || governing == nil || governing.Version != other.Version || !applies(other.Contract, d) {
					continue
				}
				if backs(engine.NewClaimant(other.Contract, d), f, all, sources) {
					ids = append(ids, d.ActionID)
				}
			}
		}
	}
	return ids, nil
}

// backs says whether a fact supports an action in any of its contract's looks
// for something that backs one action only.
func backs(action engine.Claimant, f *evidence.Fact, all []look, sources []evidence.Source) bool {
	return slices.ContainsFunc(all, func(l look) bool {
		if !l.exclusive || !l.sees(f) || f.Mode == evidence.State || !claims(action, f, &l, unitOf(sources, f.Source)) {
			return false
		}
		reading := action.Reading(f)
		return (l.When == nil || l.When.Truth(action.Reading(nil)).Truth == condition.True) &&
			(l.Where == nil || l.Where.Truth(reading).Truth == condition.True) &&
			action.Reaches(f, unitOf(sources, f.Source), max(l.back, l.skew), l.within)
	})
}
