package docket

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// maxRivals is how many rivals a case holds: one more than can be told apart,
// so that the engine sees that there are too many.
const maxRivals = 65

// maxWoken is how many of them are looked for where each is to be told.
const maxWoken = 4 * maxRivals

// gathering is the search for the facts and rivals of one case. It goes from
// the action to its facts, from these to the actions that could claim them, to
// their facts, and so on until nothing new turns up.
type gathering struct {
	records Records
	k       *contract.Contract
	mode    verdict.Mode
	at      value.Instant
	looks   []look
	sources []evidence.Source
	// wide takes everybody whose case may hold what is found, and not only those
	// whose claim counts against the action's.
	wide bool
	most int // parties besides the action

	parties []engine.Claimant // the action and its rivals, in the order found
	known   map[string]bool   // their ids, and of those that were found to be no rival
	facts   map[evidence.Identity][]evidence.Fact
	order   []evidence.Identity // of facts, as they were found
	asked   map[FactKey]bool
	tried   map[evidence.Identity]bool // facts whose claimants were looked for
}

// gather adds to a case its sources, its facts, its rivals and what is shared
// with actions of other contracts.
func gather(records Records, c *verdict.Case) error {
	g, err := newGathering(records, c)
	if err != nil {
		return err
	}
	if err := g.all(); err != nil {
		return err
	}
	c.Sources = g.sources
	for _, id := range g.order {
		c.Facts = append(c.Facts, g.facts[id]...)
	}
	slices.SortFunc(c.Facts, func(a, b evidence.Fact) int { return evidence.Compare(&a, &b) })
	for _, rival := range g.parties[1:] {
		c.Rivals = append(c.Rivals, *rival.Declared())
	}
	slices.SortFunc(c.Rivals, func(a, b verdict.Declaration) int { return strings.Compare(a.ActionID, b.ActionID) })
	c.Shared, err = g.shared(g.parties[0], c.Facts)
	return err
}

// newGathering begins with the action alone.
func newGathering(records Records, c *verdict.Case) (*gathering, error) {
	k := c.Governing.Contract
	sources, err := sourcesOf(records, k)
	if err != nil {
		return nil, err
	}
	return &gathering{
		records: records, k: k, mode: c.Governing.Mode, at: c.At, looks: looks(k), sources: sources, most: maxRivals,
		parties: []engine.Claimant{engine.NewClaimant(k, &c.Declarations[0])},
		known:   map[string]bool{c.Declarations[0].ActionID: true},
		facts:   map[evidence.Identity][]evidence.Fact{},
		asked:   map[FactKey]bool{}, tried: map[evidence.Identity]bool{},
	}, nil
}

// all goes from the action as far as there is something new.
func (g *gathering) all() error {
	// What is on the action's subject is told even where it does not link.
	self := g.parties[0]
	if err := g.ask(FactKey{SubjectID: self.Declared().SubjectID, Since: g.since(self)}); err != nil {
		return err
	}
	for next := 0; next < len(g.parties); next++ {
		if err := g.factsOf(g.parties[next]); err != nil {
			return err
		}
		if err := g.rivalsOf(g.parties[next]); err != nil {
			return err
		}
	}
	return nil
}

// factsOf finds the facts that belong to an action by any rule, and those that
// tell of the same effects.
func (g *gathering) factsOf(action engine.Claimant) error {
	for _, l := range g.looks {
		for _, rule := range l.rules {
			key := FactKey{SubjectID: action.Declared().SubjectID, Since: g.since(action)}
			if rule.Keyed() {
				key = FactKey{Ref: rule.Ref, Value: action.Key(rule)}
			}
			if err := g.ask(key); err != nil {
				return err
			}
		}
	}
	name := g.k.Evidence.SameEffect
	if name == "" {
		return nil
	}
	for _, f := range g.own(action) {
		if value := f.Refs[name]; value != "" {
			if err := g.ask(FactKey{Ref: name, Value: value}); err != nil {
				return err
			}
		}
	}
	return nil
}

// since is how far back a fact on an action's subject may lie that bears on it.
// A fact linked by a key bears on it whenever it occurred.
func (g *gathering) since(action engine.Claimant) value.Instant {
	var back time.Duration
	for _, l := range g.looks {
		if l.endless {
			return 0
		}
		back = max(back, l.back, l.skew)
	}
	return action.Start().Add(-back - longestUnit)
}

// ask adds the facts that answer a key, of the types and sources that the
// contract looks at.
func (g *gathering) ask(key FactKey) error {
	if key.SubjectID == "" && (key.Ref == "" || key.Value == "") || g.asked[key] {
		return nil
	}
	g.asked[key] = true
	found, err := g.tellings(key)
	if err != nil {
		return err
	}
	for i := range found {
		t := &found[i]
		if g.facts[t.id] != nil {
			continue
		}
		revisions := t.knownAt(g.at)
		if slices.ContainsFunc(revisions, func(f evidence.Fact) bool { return g.sees(&f) }) {
			g.facts[t.id], g.order = revisions, append(g.order, t.id)
		}
	}
	return nil
}

func (g *gathering) sees(f *evidence.Fact) bool {
	return slices.ContainsFunc(g.looks, func(l look) bool { return l.sees(f) })
}

// own are the facts found so far that stand and belong to an action, in one order.
func (g *gathering) own(action engine.Claimant) []*evidence.Fact {
	var own []*evidence.Fact
	add := func(f *evidence.Fact) {
		if !f.Retracted && linked(action, f, g.looks) {
			own = append(own, f)
		}
	}
	for _, id := range g.order {
		revisions := g.facts[id]
		if len(revisions) == 1 {
			add(&revisions[0])
			continue
		}
		for _, f := range standing(revisions, g.at) {
			if linked(action, f, g.looks) {
				own = append(own, f)
			}
		}
	}
	slices.SortFunc(own, evidence.Compare)
	return own
}

// linked says whether a fact belongs to an action by the rules of any look.
func linked(action engine.Claimant, f *evidence.Fact, looks []look) bool {
	for i := range looks {
		if l := &looks[i]; l.sees(f) {
			if _, ok := action.Link(f, l.rules); ok {
				return true
			}
		}
	}
	return false
}

// unit is the resolution of a source's times.
func (g *gathering) unit(source string) time.Duration {
	return unitOf(g.sources, source)
}

func unitOf(sources []evidence.Source, name string) time.Duration {
	for i := range sources {
		if sources[i].Name == name {
			return sources[i].Unit()
		}
	}
	return time.Second
}

// claims says whether a fact belongs to an action by the rules of a look, at a
// time at which it may count.
func claims(action engine.Claimant, f *evidence.Fact, l *look, unit time.Duration) bool {
	rule, linked := action.Link(f, l.rules)
	if !linked {
		return false
	}
	back := l.back
	if rule.Keyed() {
		back = max(back, l.skew)
	}
	return action.Reaches(f, unit, back, 0)
}

// rivalsOf adds the actions that could claim what belongs to an action.
func (g *gathering) rivalsOf(action engine.Claimant) error {
	for _, f := range g.own(action) {
		id := f.Identity()
		if g.tried[id] {
			continue
		}
		for i := range g.looks {
			l := &g.looks[i]
			if !l.exclusive || !l.sees(f) {
				continue
			}
			g.tried[id] = true
			if err := g.claimants(f, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// claimants adds the actions that could claim a fact in one look.
func (g *gathering) claimants(f *evidence.Fact, l *look) error {
	var found []verdict.Declaration
	keys := keysOf(g.k.ID, f, l, g.k.Settle.After)
	if g.wide {
		keys = wideKeys(g.k, f, deciding(f, l.rules))
	}
	for _, key := range keys {
		declared, err := g.records.Declared(key)
		if err != nil {
			return err
		}
		found = append(found, declared...)
	}
	slices.SortFunc(found, func(a, b verdict.Declaration) int {
		return cmp.Or(cmp.Compare(a.Start(), b.Start()), strings.Compare(a.ActionID, b.ActionID))
	})
	for i := range found {
		d := &found[i]
		if len(g.parties) > g.most || g.known[d.ActionID] || d.ReceivedAt > g.at || d.ContractID != g.k.ID {
			continue
		}
		rival := engine.NewClaimant(g.k, d)
		if _, linked := rival.Link(f, l.rules); !linked || !g.wide && !claims(rival, f, l, g.unit(f.Source)) {
			continue
		}
		g.known[d.ActionID] = true
		counts, err := g.competes(d)
		if err != nil {
			return err
		}
		if counts {
			g.parties = append(g.parties, rival)
		}
	}
	return nil
}

// competes says whether an action's verdict counts against this one's: one of a
// shadow contract takes nothing away from a live one.
func (g *gathering) competes(d *verdict.Declaration) (bool, error) {
	if g.wide || !applies(g.k, d) {
		return g.wide, nil
	}
	governing, err := g.records.Active(d.ContractID, d.ReceivedAt)
	if err != nil || governing == nil {
		return false, err
	}
	return governing.Mode != verdict.Shadow || g.mode == verdict.Shadow, nil
}

func applies(k *contract.Contract, d *verdict.Declaration) bool {
	return (k.AppliesTo.ActionType == "" || k.AppliesTo.ActionType == d.ActionType) &&
		(k.AppliesTo.SubjectKind == "" || k.AppliesTo.SubjectKind == d.SubjectKind)
}

// deciding are the rules by which a fact may belong to somebody. One that carries the id
// of an action belongs to that action or to nobody: every action has an id, and one with
// another is not helped by weaker rules. So nobody needs to look at whatever else is on
// the fact's subject.
func deciding(f *evidence.Fact, rules []contract.Link) []contract.Link {
	for i := range rules {
		if rules[i].By == contract.ByActionID && f.Refs[rules[i].Ref] != "" {
			return rules[:i+1]
		}
	}
	return rules
}

// keysOf are the keys of the actions of a contract that a fact may belong to by
// the rules of a look.
func keysOf(contractID string, f *evidence.Fact, l *look, settle time.Duration) []ActionKey {
	var keys []ActionKey
	for _, rule := range deciding(f, l.rules) {
		key := ActionKey{
			ContractID: contractID, By: rule.By, Param: rule.Param, Value: f.SubjectID,
			From: f.OccurredAt.Add(-settle - longestUnit), To: f.OccurredAt.Add(max(l.back, l.skew) + longestUnit),
		}
		if rule.Keyed() {
			key.Value = f.Refs[rule.Ref]
		}
		if key.Value != "" {
			keys = append(keys, key)
		}
	}
	return keys
}
