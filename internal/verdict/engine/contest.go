package engine

import (
	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
)

// maxRivals bounds the actions among which facts are shared out. Beyond, who
// made which effect is not worth guessing.
const maxRivals = 64

// share is what of the right effects in its window an action may count on.
type share struct {
	possible int  // effects that could be the action's
	sure     int  // effects that no rival can take from it
	certain  bool // it gets the least it needs, however effects are shared out
	// surplus says that more effects are surely the action's than it may have,
	// or, if only doubtful, that they are its in some ways of sharing.
	surplus  bool
	doubtful bool
}

// alone is the share of an action without rivals.
func alone(effects []effect, want contract.Count) share {
	s := share{}
	for i := range effects {
		if effects[i].counts() {
			s.possible++
		}
	}
	s.sure = s.possible
	s.certain = s.possible >= want.Min
	s.surplus = want.Max > 0 && s.possible > want.Max
	return s
}

// counts says that an effect is right, in its window, and this action's to
// claim.
func (e *effect) counts() bool {
	return e.judged == right && e.timing == inWindow && !e.theirs
}

// contest shares the effects of a step out among the action and its rivals. One
// fact backs one action, so what counts is what every one-to-one assignment
// that serves as many as possible agrees on. It marks effects that fit a rival
// instead of this action.
func (t *trial) contest(step *contract.Step, s *scope, own []effect) share {
	want := step.Count
	if !t.k.Evidence.Exclusive || len(t.c.Rivals) == 0 || len(own) == 0 {
		return alone(own, want)
	}
	t.bindRivals()
	g := market{claims: make([][]int, 0, len(own)), wants: []int{want.Min}}
	for i := range own {
		g.add(&own[i], 0)
	}
	for _, rival := range t.rivals {
		if guard(step.When, rival).Truth == condition.False {
			continue
		}
		theirs := t.rivalEffects(rival, s, step)
		settleWrongs(own, theirs)
		g.wants = append(g.wants, want.Min)
		for i := range theirs {
			g.add(&theirs[i], len(g.wants)-1)
		}
	}
	return g.share(own, want, len(t.rivals) > maxRivals)
}

func (t *trial) bindRivals() {
	if t.rivals != nil {
		return
	}
	for i := range t.c.Rivals {
		rival, _ := newParty(t.k, &t.c.Rivals[i])
		t.rivals = append(t.rivals, rival)
	}
}

// rivalEffects are the effects that a rival sees for the same check.
func (t *trial) rivalEffects(rival *party, s *scope, step *contract.Step) []effect {
	theirs := t.stepScope(rival, step)
	theirs.o = s.o // perhaps only one of the step's sources
	v := t.look(rival, &theirs)
	return t.effects(rival, &theirs, &v)
}

// settleWrongs looks at the effects that this action cannot claim, or only out
// of its window, for a rival that can.
func settleWrongs(own, theirs []effect) {
	for i := range own {
		mine := &own[i]
		if mine.counts() || mine.judged == undecided {
			continue
		}
		for j := range theirs {
			switch other := &theirs[j]; {
			case !mine.is(other):
			case other.counts():
				mine.theirs = true
			case other.judged == mine.judged:
				mine.contested = true
			}
		}
	}
}

// market is who could claim which effect: claims lists parties by effect, the
// action itself being party 0, and wants is the least that each needs.
type market struct {
	effects []*effect
	claims  [][]int
	wants   []int
}

func (g *market) add(e *effect, party int) {
	if !e.counts() {
		return
	}
	for i, known := range g.effects {
		if known.is(e) {
			g.claims[i] = append(g.claims[i], party)
			return
		}
	}
	g.effects = append(g.effects, e)
	g.claims = append(g.claims, []int{party})
}

// maxMarket bounds the work of sharing out.
const maxMarket = 1024

func (g *market) share(own []effect, want contract.Count, tooMany bool) share {
	s := alone(own, want)
	mine, contested := 0, false
	for i := range g.effects {
		switch claims := g.claims[i]; {
		case claims[0] != 0:
		case len(claims) == 1:
			mine++
		default:
			contested = true
		}
	}
	if !contested {
		return s
	}
	s.sure = mine
	if tooMany || len(g.effects) > maxMarket {
		s.certain = mine >= want.Min
		s.surplus = want.Max > 0 && mine > want.Max
		s.doubtful = s.possible >= want.Min && !s.certain || want.Max > 0 && s.possible > want.Max
		return s
	}
	most := g.serve(want.Min)
	s.certain = s.possible >= want.Min && g.serve(want.Min-1) < most
	if s.certain {
		s.sure = max(mine, want.Min)
	}
	s.doubtful = s.possible >= want.Min && !s.certain
	s.surplus = false
	if want.Max > 0 && s.possible > want.Max {
		switch {
		case mine > want.Max:
			s.surplus = true
		case g.serve(want.Max+1) > g.serve(want.Max):
			s.doubtful = true
		}
	}
	return s
}

// serve is how many effects can be given to parties that take no more than they
// want, party 0 taking up to first.
func (g *market) serve(first int) int {
	given := make([]int, len(g.effects)) // effect to party, plus one
	load := make([]int, len(g.wants))
	served := 0
	for i := range g.effects {
		if g.give(i, first, given, load, make([]bool, len(g.wants))) {
			served++
		}
	}
	return served
}

// give finds a party for an effect, moving others along if it must.
func (g *market) give(effect, first int, given, load []int, asked []bool) bool {
	for _, party := range g.claims[effect] {
		if asked[party] {
			continue
		}
		asked[party] = true
		limit := g.wants[party]
		if party == 0 {
			limit = first
		}
		if load[party] < limit {
			given[effect] = party + 1
			load[party]++
			return true
		}
		for other := range given {
			if given[other] != party+1 {
				continue
			}
			if g.give(other, first, given, load, asked) {
				// The other one has moved away, so this party has room.
				load[party]--
				given[effect] = party + 1
				load[party]++
				return true
			}
		}
	}
	return false
}
