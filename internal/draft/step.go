package draft

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// step is a type of facts that follows actions.
type step struct {
	id     string
	effect *Effect
	where  []clause
	count  int // exactly so many; zero for at least one
	within time.Duration
	amount string // the attribute that is the amount, or empty
	median time.Duration
}

// clause is a part of a condition and of how many effects it is true.
type clause struct {
	text  string
	holds int
	of    int
}

// pickBasis chooses the actions that show what is usual.
func (s *study) pickBasis() {
	s.stats.Basis = "seen"
	if s.in.Contract != nil {
		s.stats.Basis = "passed"
	}
	for _, a := range s.actions {
		v, judged := s.in.Verdicts[a.first.ActionID]
		passed := judged && v.Badge == verdict.Pass && (v.Status == verdict.Settled || v.Status == verdict.Revised)
		if s.in.Contract == nil && len(a.events) > 0 || passed {
			s.basis = append(s.basis, a)
		}
	}
	s.stats.Based = len(s.basis)
	if s.in.Contract != nil && len(s.basis) == 0 {
		s.warn("none_passed", "no action has a settled PASS under %s, so that its steps are drafted from what was seen and no limit is", s.in.Contract.ID)
		for _, a := range s.actions {
			if len(a.events) > 0 {
				s.basis = append(s.basis, a)
			}
		}
		s.stats.Basis, s.stats.Based = "seen", len(s.basis)
	}
}

// limited are the actions that limits are drafted from.
func (s *study) limited() []*action {
	if s.in.Contract != nil && s.stats.Basis == "seen" {
		return nil
	}
	return s.basis
}

// unit is the resolution of a source's times.
func (s *study) unit(source string) time.Duration {
	if known := s.sources[source]; known != nil {
		return known.Unit()
	}
	return time.Second
}

type effectKey struct{ factType, source string }

// of are the events of an action that a source tells under a type.
func (a *action) of(key effectKey) []*evidence.Fact {
	var facts []*evidence.Fact
	for _, e := range a.events {
		if e.fact.Type == key.factType && e.fact.Source == key.source {
			facts = append(facts, e.fact)
		}
	}
	return facts
}

// effects counts what follows the actions, and takes what follows most of them
// as steps.
func (s *study) effects() {
	var found []effectKey
	for _, a := range s.basis {
		for _, e := range a.events {
			if key := (effectKey{e.fact.Type, e.fact.Source}); !slices.Contains(found, key) {
				found = append(found, key)
			}
		}
	}
	for _, key := range found {
		s.stats.Effects = append(s.stats.Effects, s.effect(key))
	}
	slices.SortFunc(s.stats.Effects, func(a, b Effect) int {
		return cmp.Or(cmp.Compare(b.Actions, a.Actions), cmp.Compare(s.trust(b.Source), s.trust(a.Source)),
			strings.Compare(a.Type, b.Type), strings.Compare(a.Source, b.Source))
	})
	told := map[string]string{} // the source of each type that is a step
	for i := range s.stats.Effects {
		e := &s.stats.Effects[i]
		if !share(e.Actions, len(s.basis), most) {
			continue
		}
		if other := told[e.Type]; other != "" {
			s.warn("second_source", "%s tells of %s as well; the step asks %s alone. With both, name the key that they share under `evidence: same_effect`", e.Source, e.Type, other)
			continue
		}
		told[e.Type] = e.Source
		s.take(e)
	}
	s.order()
}

func (s *study) trust(source string) evidence.Trust {
	if known := s.sources[source]; known != nil {
		return known.Trust
	}
	return evidence.NoTrust
}

// takeMostFrequent makes a step of the type that most actions have.
func (s *study) takeMostFrequent() {
	if len(s.stats.Effects) > 0 {
		s.take(&s.stats.Effects[0])
	}
	s.order()
}

// order puts the steps into the order in which they usually happen.
func (s *study) order() {
	slices.SortStableFunc(s.steps, func(a, b *step) int {
		return cmp.Or(cmp.Compare(a.median, b.median), strings.Compare(a.effect.Type, b.effect.Type))
	})
	ids := map[string]bool{}
	for _, st := range s.steps {
		st.id = named(strings.ReplaceAll(st.effect.Type, ".", "_"), "_-")
		for n := 2; ids[st.id] || st.id == "declared_in_time" || st.id == "declaration_valid"; n++ {
			st.id = fmt.Sprintf("step_%d", n)
		}
		ids[st.id] = true
	}
}

// delays are the times from the actions' starts to their first effect, sorted.
func (s *study) delays(key effectKey) []time.Duration {
	var delays []time.Duration
	for _, a := range s.basis {
		if facts := a.of(key); len(facts) > 0 {
			delays = append(delays, max(facts[0].OccurredAt.Sub(a.first.Start()), 0))
		}
	}
	slices.Sort(delays)
	return delays
}

func (s *study) effect(key effectKey) Effect {
	e := Effect{Type: key.factType, Source: key.source}
	for _, a := range s.basis {
		n := len(a.of(key))
		if n > 0 {
			e.Actions++
		}
		if n == 1 {
			e.Single++
		}
		e.Most = max(e.Most, n)
	}
	delays := s.delays(key)
	e.MedianUS = delays[nearestRank(len(delays), 50)].Microseconds()
	e.HighUS = delays[nearestRank(len(delays), quantile)].Microseconds()
	e.LongestUS = delays[len(delays)-1].Microseconds()
	claimed := map[*evidence.Fact]bool{}
	for _, a := range s.actions {
		for _, event := range a.events {
			claimed[event.fact] = true
		}
	}
	for _, f := range s.facts {
		if f.Type == key.factType && f.Source == key.source && !claimed[f] && f.OccurredAt >= s.from.Add(-skew) {
			e.Orphans++
		}
	}
	return e
}

// take makes a step of a type of facts.
func (s *study) take(e *Effect) {
	key := effectKey{e.Type, e.Source}
	e.Proposed = true
	st := &step{effect: e, count: s.usualCount(key), within: s.window(key), median: time.Duration(e.MedianUS) * time.Microsecond}
	s.conditions(st, key)
	e.Where = st.condition()
	s.steps = append(s.steps, st)
}

func (st *step) condition() string {
	texts := make([]string, len(st.where))
	for i, c := range st.where {
		texts[i] = c.text
	}
	return strings.Join(texts, " && ")
}

// usualCount is how many effects nearly every action has, and zero if that
// differs. Actions that share a fact with another say nothing about it.
func (s *study) usualCount(key effectKey) int {
	shared := map[*evidence.Fact]int{}
	for _, a := range s.actions {
		for _, f := range a.of(key) {
			shared[f]++
		}
	}
	counts, actions := map[int]int{}, 0
	for _, a := range s.basis {
		facts := a.of(key)
		if len(facts) == 0 || slices.ContainsFunc(facts, func(f *evidence.Fact) bool { return shared[f] > 1 }) {
			continue
		}
		actions++
		counts[len(facts)]++
	}
	for n, times := range counts {
		if share(times, actions, holding) && share(actions, len(s.basis), linking) {
			return n
		}
	}
	return 0
}

// rounds are windows that people choose.
var rounds = []time.Duration{
	5 * time.Minute, 15 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 4 * time.Hour, 8 * time.Hour, 12 * time.Hour,
	day, 2 * day, 3 * day, 7 * day, 14 * day, 30 * day, 60 * day, 90 * day,
}

// roundUp is the first of the rounds that is at least d.
func roundUp(d time.Duration) time.Duration {
	for _, r := range rounds {
		if r >= d {
			return r
		}
	}
	return rounds[len(rounds)-1]
}

// window is twice the 99th percentile of the delays, and four times the longest
// where they are few.
func (s *study) window(key effectKey) time.Duration {
	delays := s.delays(key)
	if len(delays) < enough {
		return roundUp(4 * delays[len(delays)-1])
	}
	return roundUp(2 * delays[nearestRank(len(delays), quantile)])
}

// settling is when the verdict is final: half as long again as the last window.
func (s *study) settling() time.Duration {
	longest := 40 * time.Minute
	for _, st := range s.steps {
		longest = max(longest, st.within)
	}
	return roundUp(longest + longest/2)
}

// conditions finds what is true of nearly all effects of a step: an amount that
// is the declared one, and attributes that repeat a parameter of their name.
func (s *study) conditions(st *step, key effectKey) {
	scope := condition.Scope{Params: map[string]value.Kind{}, Fact: true}
	for _, p := range s.params {
		scope.Params[p.name] = kinds[p.declared.Type]
	}
	holds := func(text string) clause {
		c := clause{text: text}
		e, err := condition.Parse(text, scope)
		for _, a := range s.basis {
			for _, f := range a.of(key)[:min(len(a.of(key)), 1)] {
				c.of++
				if err == nil && e.Truth(reading{a, f}).Truth == condition.True {
					c.holds++
				}
			}
		}
		return c
	}
	good := func(c clause) bool { return share(c.holds, c.of, holding) }
	for _, p := range s.params {
		if p.declared.Type != contract.MoneyParam {
			continue
		}
		for _, attr := range s.moneyAttrs(key, p.name) {
			c := holds("fact." + attr + " == params." + p.name)
			if !good(c) {
				continue
			}
			st.where = append(st.where, c)
			st.amount = cmp.Or(st.amount, attr)
			if code := s.currencyOf(p); code != "" {
				if c := holds("fact.currency == " + code); good(c) && !slices.ContainsFunc(st.where, func(o clause) bool { return o.text == c.text }) {
					st.where = append(st.where, c)
				}
			}
			break
		}
	}
	for _, p := range s.params {
		switch p.declared.Type {
		case contract.MoneyParam, contract.CurrencyParam, contract.ListParam, contract.TimestampParam:
			continue
		}
		if len(p.values) < 2 {
			continue // that one value is the same shows nothing
		}
		if c := holds("fact." + p.name + " == params." + p.name); good(c) {
			st.where = append(st.where, c)
		}
	}
}

// kinds of the parameters' values in conditions.
var kinds = map[contract.ParamType]value.Kind{
	contract.MoneyParam: value.Money, contract.CurrencyParam: value.Currency, contract.StringParam: value.String,
	contract.IntegerParam: value.Decimal, contract.DecimalParam: value.Decimal, contract.BooleanParam: value.Bool,
	contract.TimestampParam: value.Time, contract.ListParam: value.List,
}

// reading lets a condition read an action's typed parameters and a fact.
type reading struct {
	a *action
	f *evidence.Fact
}

// Value implements [condition.Names].
func (r reading) Value(ref condition.Ref) value.Value {
	if ref.Root == condition.Params {
		return r.a.params[ref.Name]
	}
	return r.a.claimant.Reading(r.f).Value(ref)
}

// moneyAttrs are the attributes of a type that are amounts, the likeliest to be
// the parameter's first: that of its name, then `amount`.
func (s *study) moneyAttrs(key effectKey, name string) []string {
	var attrs []string
	for _, a := range s.basis {
		for _, f := range a.of(key) {
			for attr, v := range f.Attrs {
				if v.Kind() == value.Money && isIdentifier(attr) && !slices.Contains(attrs, attr) {
					attrs = append(attrs, attr)
				}
			}
		}
	}
	rank := func(attr string) int { return slices.Index([]string{"amount", name}, attr) }
	slices.SortFunc(attrs, func(a, b string) int { return cmp.Or(cmp.Compare(rank(b), rank(a)), strings.Compare(a, b)) })
	return attrs
}

// currencyOf writes the currency of an amount as a condition has it: the
// parameter that names it, or the only one that there was.
func (s *study) currencyOf(p *param) string {
	if p.declared.Currency != "" {
		return "params." + p.declared.Currency
	}
	if codes := s.currencies(p, s.actions); len(codes) == 1 {
		return `"` + string(codes[0]) + `"`
	}
	return ""
}

// currencies are those in which a parameter was declared, sorted.
func (s *study) currencies(p *param, actions []*action) []money.Currency {
	var codes []money.Currency
	for _, a := range actions {
		if v := a.params[p.name]; v.Kind() == value.Money && !slices.Contains(codes, v.Amount().Currency) {
			codes = append(codes, v.Amount().Currency)
		}
	}
	slices.Sort(codes)
	return codes
}
