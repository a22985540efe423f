package engine

import (
	"cmp"
	"slices"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/verdict"
)

// effect is one thing that happened, told by one fact or by several that share
// the reference which the contract names.
type effect struct {
	ref    string
	told   []sighting
	judged judgement
	reason verdict.Reason // why it is wrong or undecided
	timing timing
	at     timed
	keyed  bool
	// theirs: the effect fits a rival and not this action. contested: it could
	// be counted against this action or against a rival.
	theirs, contested bool
	// value is what the effect adds to a sum.
	amount summand
}

// effects puts the facts of a view together, those of the strongest link that
// any fact has. The others are not this action's and move to elsewhere.
func (t *trial) effects(p *party, s *scope, v *view) []effect {
	strongest := v.strongest()
	var effects []effect
	for _, seen := range v.sightings {
		if seen.rank != strongest {
			v.elsewhere = append(v.elsewhere, seen.fact)
			continue
		}
		ref := ""
		if name := t.k.Evidence.SameEffect; name != "" {
			ref = seen.fact.Refs[name]
		}
		if e := byRef(effects, ref); e != nil {
			e.told = append(e.told, seen)
			continue
		}
		effects = append(effects, effect{ref: ref, told: []sighting{seen}, keyed: seen.keyed})
	}
	for i := range effects {
		e := &effects[i]
		claim := verdict.Reason{}
		if e.ref != "" {
			claim = t.attribute(p, s, v, e, strongest)
		}
		e.weigh(t.k.Evidence.Decides)
		if claim.Code != "" {
			e.judged, e.reason = undecided, claim
		}
	}
	disagree(effects, t.k.Evidence.Decides)
	return effects
}

// strongest is the rank of the strongest link that any fact of a view has.
func (v *view) strongest() int {
	strongest := unlinked
	for i := range v.sightings {
		if rank := v.sightings[i].rank; strongest == unlinked || rank < strongest {
			strongest = rank
		}
	}
	return strongest
}

// attribute adds what other facts tell of an effect, those too that link to the
// party more weakly or not at all: it is one effect, whoever tells of it. A
// fact that carries a stronger key of another action makes it that one's; one
// that carries the same key with another value makes it both's, and so nobody's
// for certain, which is the reason that it returns.
func (t *trial) attribute(p *party, s *scope, v *view, e *effect, rank int) verdict.Reason {
	claim := verdict.Reason{}
	for i := range t.facts {
		f := t.facts[i].Fact
		source := t.source(f.Source)
		if f.Refs[t.k.Evidence.SameEffect] != e.ref || f.Type != s.o.Expect || !modeIs(f, s.mode) ||
			!contains(s.o.From, f.Source) || !t.trusted(s, source) || e.tells(f) {
			continue
		}
		when := s.timing(f, source, e.keyed)
		if when == afterwards {
			continue // what comes after settlement takes nothing back
		}
		switch foreign := p.foreign(f, s.rules); {
		case foreign != unlinked && foreign < rank:
			e.theirs = true
		case foreign == rank:
			claim = verdict.Reason{Code: verdict.SourcesDisagree, Source: f.Source, Fact: f.ExternalID}
			if e.from(f.Source) {
				claim.Code = verdict.SourceContradictsItself
			}
		default:
			seen := sighting{fact: f, source: source, rank: p.rank(f, s.rules), keyed: e.keyed, timing: when}
			t.judge(p, s, &seen, t.facts[i].Disputed)
			e.told = append(e.told, seen)
			v.elsewhere = slices.DeleteFunc(v.elsewhere, func(other *evidence.Fact) bool { return other == f })
		}
	}
	return claim
}

func (e *effect) tells(f *evidence.Fact) bool {
	return slices.ContainsFunc(e.told, func(seen sighting) bool { return seen.fact == f })
}

func byRef(effects []effect, ref string) *effect {
	if ref == "" {
		return nil
	}
	for i := range effects {
		if effects[i].ref == ref {
			return &effects[i]
		}
	}
	return nil
}

// weigh makes one judgement of what several facts say about the effect. Where
// they differ it is undecided, unless the source that decides is among them.
func (e *effect) weigh(decides string) {
	told := e.believed(decides)
	first := e.earliest(told)
	if first == nil {
		first = e.earliest(e.told)
	}
	e.timing = first.timing
	e.at = timed{known: true, at: first.fact.OccurredAt, unit: first.source.Unit()}
	e.judged, e.reason = told[0].judged, told[0].reason
	for i := range told[1:] {
		seen := &told[i+1]
		switch {
		case seen.judged == e.judged:
		case e.judged == undecided:
		case seen.judged == undecided:
			e.judged, e.reason = undecided, seen.reason
		default:
			code := verdict.SourcesDisagree
			if selfContradicting(told) {
				code = verdict.SourceContradictsItself
			}
			e.judged, e.reason = undecided, verdict.Reason{Code: code, Source: seen.fact.Source, Fact: seen.fact.ExternalID}
		}
	}
}

// believed are the facts that count where several tell of the effect: those of
// the source that decides, if it is among them.
func (e *effect) believed(decides string) []sighting {
	if len(e.told) == 1 || !e.from(decides) {
		return e.told
	}
	return slices.DeleteFunc(slices.Clone(e.told), func(seen sighting) bool { return seen.fact.Source != decides })
}

// earliest is the first of the tellings that belong to the action by
// themselves. When it was is for them to say: a fact that only shares the
// reference, and may carry no key at all, puts no effect before its declaration.
func (e *effect) earliest(told []sighting) *sighting {
	var first *sighting
	for i := range told {
		seen := &told[i]
		if seen.rank == e.told[0].rank && (first == nil || seen.fact.OccurredAt < first.fact.OccurredAt) {
			first = seen
		}
	}
	return first
}

// selfContradicting says that one source judges right and wrong of one effect.
func selfContradicting(told []sighting) bool {
	for i := range told {
		for j := range told[:i] {
			if told[i].fact.Source == told[j].fact.Source && told[i].judged != told[j].judged {
				return true
			}
		}
	}
	return false
}

// disagree finds two sources of which one tells a right and the other a wrong
// effect, where no shared reference says that these are two. Unless one of the
// sources decides, neither is believed.
func disagree(effects []effect, decides string) {
	for i := range effects {
		a := &effects[i]
		if a.judged != right {
			continue
		}
		for j := range effects {
			b := &effects[j]
			if b.judged != wrong || !b.keyed || a.ref != "" && b.ref != "" || shareSource(a, b) {
				continue
			}
			switch {
			case a.from(decides):
				b.theirs = true
			case b.from(decides):
				a.theirs = true
			default:
				reason := verdict.Reason{Code: verdict.SourcesDisagree, Source: b.told[0].fact.Source, Fact: b.told[0].fact.ExternalID}
				a.judged, a.reason = undecided, reason
				b.judged, b.reason = undecided, reason
			}
		}
	}
}

func (e *effect) from(source string) bool {
	for i := range e.told {
		if e.told[i].fact.Source == source {
			return true
		}
	}
	return false
}

func shareSource(a, b *effect) bool {
	for i := range a.told {
		if b.from(a.told[i].fact.Source) {
			return true
		}
	}
	return false
}

// confirmations is how many different sources tell of the effect.
func (e *effect) confirmations() int {
	n := 0
	for i := range e.told {
		if !slices.ContainsFunc(e.told[:i], func(seen sighting) bool { return seen.fact.Source == e.told[i].fact.Source }) {
			n++
		}
	}
	return n
}

// pair makes one effect of the first right ones that each source tells, one of
// the second ones, and so on, where the contract names no reference by which
// effects are told apart, and yet asks for confirmation.
func pair(effects []effect) []effect {
	var paired []effect
	slices.SortStableFunc(effects, func(a, b effect) int { return cmp.Compare(a.at.at, b.at.at) })
	for _, e := range effects {
		i := slices.IndexFunc(paired, func(p effect) bool {
			return e.judged == right && p.judged == right && p.timing == e.timing && !shareSource(&p, &e)
		})
		if i < 0 {
			paired = append(paired, e)
		} else {
			paired[i].told = append(paired[i].told, e.told...)
		}
	}
	return paired
}

// is says whether two effects, seen by two parties, are one.
func (e *effect) is(other *effect) bool {
	if e.ref != "" || other.ref != "" {
		return e.ref == other.ref
	}
	return e.told[0].fact == other.told[0].fact
}

// show makes pointers of the facts that tell of an effect.
func (e *effect) show(seen []verdict.Seen, role verdict.Role, t *trial, s *scope) []verdict.Seen {
	decides := t.k.Evidence.Decides
	for i := range e.told {
		told := &e.told[i]
		role := role
		if told.judged != e.judged && e.from(decides) && told.fact.Source != decides {
			role = verdict.Overruled
		}
		seen = append(seen, point(told.fact, role, linkName(s.rules, told.rank)))
	}
	return seen
}

func point(f *evidence.Fact, role verdict.Role, link string) verdict.Seen {
	return verdict.Seen{Source: f.Source, Type: f.Type, ExternalID: f.ExternalID, Revision: f.Revision, OccurredAt: f.OccurredAt, Role: role, Link: link}
}
