package docket

import (
	"maps"
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// endless is after every time.
const endless value.Instant = 1 << 62

// Claimants are the ids of the actions whose own facts a fact is among, by any of
// its revisions and by any version of any contract: those that it links to and those
// that have another telling of the same effect; and beside them those on whose subject
// it is, which show it, but can claim nothing by it. Cases of the rivals of those that
// claim hold it too; see [Rivals].
func Claimants(records Records, id evidence.Identity) (claim, beside []string, err error) {
	revisions, err := records.Fact(id)
	if err != nil {
		return nil, nil, err
	}
	s := search{records: records, asked: map[searched]bool{}, told: map[told]bool{}, claims: map[string]bool{}}
	for i := range revisions {
		if err := s.fact(&revisions[i]); err != nil {
			return nil, nil, err
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.claims)) {
		if s.claims[id] {
			claim = append(claim, id)
		} else {
			beside = append(beside, id)
		}
	}
	return claim, beside, nil
}

// search finds the actions that facts belong to.
type search struct {
	records Records
	asked   map[searched]bool
	told    map[told]bool
	claims  map[string]bool // by action: whether it may claim, or is only beside
}

// searched is what need not be looked at again: the actions of a key, for one fact
// under one contract or for all that tell of one effect.
type searched struct {
	key  ActionKey
	k    *contract.Contract
	fact *evidence.Fact
}

// told is an effect of which all tellings were looked at, for the actions of one version.
type told struct {
	key FactKey
	k   *contract.Contract
}

// fact finds the claimants of one revision.
func (s *search) fact(f *evidence.Fact) error {
	expecting, err := s.records.Expecting(f.Type)
	if err != nil {
		return err
	}
	for _, governing := range expecting {
		k := governing.Contract
		all := looks(k)
		if !slices.ContainsFunc(all, func(l look) bool { return l.sees(f) }) {
			continue
		}
		links := func(d *verdict.Declaration) bool { return linked(engine.NewClaimant(k, d), f, all) }
		if err := s.under(k, f, f, links); err != nil {
			return err
		}
		name := k.Evidence.SameEffect
		if name == "" || f.Refs[name] == "" {
			continue
		}
		key := FactKey{Ref: name, Value: f.Refs[name]}
		if s.told[told{key, k}] {
			continue
		}
		s.told[told{key, k}] = true
		others, err := s.records.Facts(key)
		if err != nil {
			return err
		}
		for i := range others {
			if err := s.under(k, &others[i], nil, func(*verdict.Declaration) bool { return true }); err != nil {
				return err
			}
		}
	}
	return nil
}

// under finds the actions of one contract that a fact may belong to, or on whose
// subject it is.
func (s *search) under(k *contract.Contract, f, of *evidence.Fact, claims func(*verdict.Declaration) bool) error {
	for _, key := range wideKeys(k, f, append(linkRules(k), contract.Link{By: contract.BySubject})) {
		this := searched{key: key, fact: of}
		if of != nil {
			this.k = k
		}
		if s.asked[this] {
			continue
		}
		s.asked[this] = true
		declared, err := s.records.Declared(key)
		if err != nil {
			return err
		}
		for i := range declared {
			d := &declared[i]
			if d.ContractID == k.ID && !s.claims[d.ActionID] {
				s.claims[d.ActionID] = claims(d)
			}
		}
	}
	return nil
}

// wideKeys are the keys of the actions of a contract about which a fact may change
// something by any of these rules. What occurred after an action's time to settle
// and its grace changes nothing about it; what occurred long before it bears on it
// only by a key or as a state.
func wideKeys(k *contract.Contract, f *evidence.Fact, rules []contract.Link) []ActionKey {
	var keys []ActionKey
	for _, rule := range rules {
		key := ActionKey{
			ContractID: k.ID, By: rule.By, Param: rule.Param, Value: f.SubjectID,
			From: f.OccurredAt.Add(-k.Settle.After - k.Settle.Grace - longestUnit), To: endless,
		}
		if rule.Keyed() {
			key.Value = f.Refs[rule.Ref]
		} else {
			key.To = reach(k, f.OccurredAt)
		}
		if key.Value != "" {
			keys = append(keys, key)
		}
	}
	return keys
}

// reach is the latest start of an action that something on its subject bears on.
func reach(k *contract.Contract, occurred value.Instant) value.Instant {
	var back time.Duration
	for _, l := range looks(k) {
		if l.endless {
			return endless
		}
		back = max(back, l.back, l.skew)
	}
	return occurred.Add(back + longestUnit)
}

// Rivals are the ids of the other actions about which an action's declaration or
// one of its facts may change something because they could claim the same facts.
// They are more than the rivals of its own case: a live action is a rival to one
// that is tried out and not the reverse, and who claims a fact may make it clear to
// another that it cannot.
func Rivals(records Records, c *verdict.Case) ([]string, error) {
	if c.Governing == nil || len(c.Facts) == 0 {
		return nil, nil
	}
	g, err := newGathering(records, c)
	if err != nil {
		return nil, err
	}
	g.wide, g.mode, g.most = true, verdict.Shadow, maxWoken
	if err := g.all(); err != nil {
		return nil, err
	}
	shared, err := g.shared(g.parties[0], c.Facts)
	if err != nil {
		return nil, err
	}
	var ids []string
	for _, rival := range g.parties[1:] {
		ids = append(ids, rival.Declared().ActionID)
	}
	for i := range shared {
		ids = append(ids, shared[i].ActionID)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// Undoing are the ids of the actions whose cases hold whether an action undoes
// another: the one that it undoes, whatever else undoes that, and all that undo it,
// directly or by way of others.
func Undoing(records Records, d *verdict.Declaration) ([]string, error) {
	var ids []string
	if d.Compensates != "" {
		ids = append(ids, d.Compensates)
		if err := addCompensating(records, d.Compensates, &ids); err != nil {
			return nil, err
		}
	}
	above := []string{d.ActionID}
	for next := 0; next < len(above) && next < maxChain; next++ {
		if err := addCompensating(records, above[next], &above); err != nil {
			return nil, err
		}
	}
	ids = append(ids, above...)
	slices.Sort(ids)
	return slices.DeleteFunc(slices.Compact(ids), func(id string) bool { return id == d.ActionID }), nil
}

// addCompensating adds the actions that say they undo one.
func addCompensating(records Records, actionID string, to *[]string) error {
	declared, err := records.Compensating(actionID)
	if err != nil {
		return err
	}
	for i := range declared {
		if id := declared[i].ActionID; !slices.Contains(*to, id) {
			*to = append(*to, id)
		}
	}
	return nil
}
