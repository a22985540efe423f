package engine

import (
	"slices"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/verdict"
)

// step concludes a step once; steps may ask for one that they follow.
func (t *trial) step(i int) *finding {
	f := &t.steps[i]
	if t.stepDone[i] {
		return f
	}
	t.stepDone[i] = true
	step := &t.k.Steps[i]
	s := t.stepScope(t.self, step)
	f.Check = verdict.Check{ID: step.ID, Kind: verdict.StepCheck, Lens: verdict.OutcomeLens, From: s.from, Until: s.until}
	if !f.applies(step.When, t.self) {
		return f
	}
	t.weighStep(step, &s, f)
	return f
}

// stepScope is where a step looks for a party's effects.
func (t *trial) stepScope(p *party, step *contract.Step) scope {
	s := t.scope(p, &step.Observation, step.Window.Within)
	s.subject = true
	return s
}

// stepNamed is the finding of a step by its id, or nil.
func (t *trial) stepNamed(id string) *finding {
	for i := range t.k.Steps {
		if t.k.Steps[i].ID == id {
			return t.step(i)
		}
	}
	return nil
}

// applies evaluates the guard; where it does not hold for certain, the finding
// says so and there is nothing else to look at.
func (f *finding) applies(when *condition.Expr, p *party) bool {
	outcome := guard(when, p)
	switch outcome.Truth {
	case condition.True:
		return true
	case condition.False:
		f.Result, f.Reasons = verdict.NotApplicable, []verdict.Reason{{Code: verdict.GuardNotMet}}
	default:
		f.Result, f.Reasons = verdict.Unknown, []verdict.Reason{causeCode(outcome)}
	}
	// A declaration does not change, so neither does this.
	f.Final = true
	return false
}

// tally is what the effects of a step come to.
type tally struct {
	inside     []*effect // right, in the window and in order, by time
	outside    []*effect // right or not, keyed, too early or too late
	early      *effect   // of these the first of each kind
	late       *effect
	wrongKeyed *effect // contradicts at once
	wrongOther *effect // contradicts if nothing right is there
	blurred    *effect // wrong, for this action or a rival
	unknown    *effect // its condition is unknown, in the window
	unknownOut *effect // the same, after the window
	disordered *effect // right, but before the step it must follow
	premature  int     // how many there are of these
	confirmed  int     // of inside, those that enough sources tell
	unordered  bool    // right, and the other's time is not known
	elsewhere  bool
	named      bool // by a reference, under which more facts may tell of an effect
	surplusOut int  // effects outside that count towards too many
}

// weighStep concludes a step from the effects that its sources show.
func (t *trial) weighStep(step *contract.Step, s *scope, f *finding) {
	v := t.look(t.self, s)
	effects := t.effects(t.self, s, &v)
	if step.Quorum > 1 && t.k.Evidence.SameEffect == "" {
		effects = pair(effects)
	}
	if step.Sum != nil {
		t.summands(step.Sum, effects)
	}
	share := t.contest(step, s, effects)
	n := t.count(step, s, effects, share, f)
	t.showOthers(s, &v, f)
	n.elsewhere = n.elsewhere || len(v.elsewhere) > 0

	var sum summed
	for _, e := range n.inside {
		if e.confirmations() >= step.Quorum {
			n.confirmed++
		}
	}
	if step.Sum != nil {
		sum = t.sum(step.Sum, n.inside, n.outside)
		f.at = sum.at
	} else if len(n.inside) >= step.Count.Min && share.certain {
		f.at = n.inside[step.Count.Min-1].at
	}
	t.concludeStep(step, s, f, &n, share, sum)
	f.counted = min(len(n.inside), share.sure)
	f.weak(v.weak)
}

// count sorts the effects by what they mean, and shows them.
func (t *trial) count(step *contract.Step, s *scope, effects []effect, share share, f *finding) tally {
	var n tally
	for i := range effects {
		e := &effects[i]
		n.named = n.named || e.ref != ""
		if e.theirs {
			n.elsewhere = true
			f.Seen = e.show(f.Seen, verdict.Elsewhere, t, s)
			continue
		}
		f.first = earlier(f.first, e.at)
		role := n.sort(e)
		if role == verdict.Supports && step.After != "" {
			role = t.order(step, e, &n)
		}
		if role == verdict.Supports {
			n.inside = append(n.inside, e)
			if share.doubtful {
				role = verdict.Contested
			}
		}
		f.Seen = e.show(f.Seen, role, t, s)
	}
	slices.SortStableFunc(n.inside, func(a, b *effect) int {
		switch {
		case a.at.at < b.at.at:
			return -1
		case a.at.at > b.at.at:
			return 1
		}
		return 0
	})
	return n
}

// sort files one effect, and names its role.
func (n *tally) sort(e *effect) verdict.Role {
	first := func(to **effect) {
		if *to == nil {
			*to = e
		}
	}
	switch {
	case e.timing == tooEarly: // keyed, or it would not be here
		first(&n.early)
		n.outside = append(n.outside, e)
		if !e.contested {
			n.surplusOut++
		}
		return verdict.TooEarly
	case e.judged == undecided && e.timing == inWindow:
		first(&n.unknown)
		return verdict.Undecided
	case e.judged == undecided:
		if e.keyed {
			first(&n.unknownOut)
		}
		return verdict.Undecided
	case e.judged == wrong && e.contested && e.keyed:
		first(&n.blurred)
		return verdict.Contested
	case e.judged == wrong && e.keyed:
		first(&n.wrongKeyed)
		return verdict.Contradicts
	case e.judged == wrong:
		if e.timing == inWindow {
			first(&n.wrongOther)
		}
		return verdict.Contradicts
	case e.timing == tooLate:
		first(&n.late)
		n.outside = append(n.outside, e)
		if !e.contested {
			n.surplusOut++
		}
		return verdict.TooLate
	}
	return verdict.Supports
}

// order holds a right effect against the step that must come first.
func (t *trial) order(step *contract.Step, e *effect, n *tally) verdict.Role {
	before := t.stepNamed(step.After)
	switch {
	case before == nil || before.Result == verdict.NotApplicable:
		return verdict.Supports
	case !before.at.known:
		n.unordered = true
		return verdict.Undecided
	case e.at.compare(before.at) < 0:
		if n.disordered == nil {
			n.disordered = e
		}
		n.premature++
		return verdict.Contradicts
	}
	return verdict.Supports
}

// ordering is how sure it is when the step came that must come first.
type ordering struct {
	final bool           // nothing that matters here can move it
	waits []verdict.Wait // what could show that it came before what seems to come too early
}

func (t *trial) ordered(step *contract.Step, n *tally) ordering {
	before := t.stepNamed(step.After)
	if step.After == "" || before == nil || before.Result == verdict.NotApplicable || len(n.inside) == 0 && n.disordered == nil && !n.unordered {
		return ordering{final: true}
	}
	o := ordering{final: before.Final}
	if n.disordered != nil {
		for i := range t.k.Steps {
			if first := &t.k.Steps[i]; first.ID == step.After {
				s := t.stepScope(t.self, first)
				_, o.waits = t.covered(&s, min(n.disordered.at.at, s.until))
			}
		}
	}
	// That it happened too often is certain at once, and when it first did is not.
	o.final = o.final && len(o.waits) == 0
	return o
}

// showOthers points to what is on the subject, and notes what came after
// settlement.
func (t *trial) showOthers(s *scope, v *view, f *finding) {
	for _, other := range v.elsewhere {
		f.Seen = append(f.Seen, point(other, verdict.Elsewhere, ""))
	}
	for _, weak := range v.weak {
		f.Seen = append(f.Seen, point(weak, verdict.Untrusted, linkName(s.rules, t.self.rank(weak, s.rules))))
	}
	for _, later := range v.later {
		t.note(verdict.Reason{Code: verdict.AfterSettlement, Source: later.Source, Fact: later.ExternalID})
	}
}

// weak says beside an unknown result that there was something to see, but
// nobody to believe.
func (f *finding) weak(facts []*evidence.Fact) {
	if len(facts) > 0 && f.Result == verdict.Unknown {
		f.Reasons = append([]verdict.Reason{{Code: verdict.TrustTooLow, Source: facts[0].Source, Fact: facts[0].ExternalID}}, f.Reasons...)
	}
}

// concludeStep draws the conclusion, the certain failures first.
func (t *trial) concludeStep(step *contract.Step, s *scope, f *finding, n *tally, share share, sum summed) {
	bounded := step.Count.Max > 0 || step.Sum != nil && step.Sum.Max != nil
	windowCovered, windowWaits := t.covered(s, s.until)
	allCovered, allWaits := t.covered(s, s.last)
	enough := share.certain && len(n.inside) >= step.Count.Min && (step.Sum == nil || sum.enough)
	room := step.Count.Max == 0 || share.sure+n.surplusOut <= step.Count.Max
	missing := step.Count.Min
	trusting := len(s.o.From) == 1 // no other source can disagree
	order := t.ordered(step, n)

	fail := func(final bool, reasons ...verdict.Reason) {
		f.Result, f.Reasons, f.Final = verdict.Fail, reasons, final || allCovered && order.final
	}
	unknown := func(waits []verdict.Wait, reasons ...verdict.Reason) {
		f.Result, f.Reasons, f.Waits, f.open, f.Final = verdict.Unknown, reasons, waits, len(waits) > 0, allCovered && order.final
	}
	switch {
	case n.wrongKeyed != nil:
		fail(trusting && n.wrongKeyed.ref == "", n.wrongKeyed.reason)
	case enough && !room, share.surplus:
		reasons := []verdict.Reason{{Code: verdict.DuplicateEffect}}
		if n.early != nil {
			reasons = append(reasons, n.early.because(verdict.EffectBeforeDeclaration))
		}
		fail(trusting && n.keyed(), reasons...)
	case sum.reason.Code == "" && sum.over:
		code := verdict.ValueMismatch
		if sum.one && len(n.inside)+len(n.outside) > 1 {
			code = verdict.DuplicateEffect
		}
		fail(false, verdict.Reason{Code: code}) // a part that is taken back may still come
	case !enough && step.Count.Max > 0 && n.surplusOut > 0 && n.surplusOut+missing > step.Count.Max,
		!enough && sum.late && n.surplusOut > 0:
		fail(trusting && n.keyed(), n.outOfWindow())
	case n.unknown != nil:
		unknown(allWaits, n.unknown.reason)
	case sum.reason.Code != "" && (len(n.inside) > 0 || !windowCovered):
		unknown(allWaits, sum.reason)
	case share.doubtful:
		unknown(allWaits, verdict.Reason{Code: verdict.AmbiguousMatch})
	case n.blurred != nil && (enough || !windowCovered):
		unknown(allWaits, verdict.Reason{Code: verdict.AmbiguousMatch, Source: n.blurred.reason.Source, Fact: n.blurred.reason.Fact})
	case !enough && n.disordered != nil:
		reason := n.disordered.because(verdict.OutOfOrder)
		reason.About = step.After
		atOnce := step.Count.Max > 0 && n.premature+missing > step.Count.Max && order.final
		fail(atOnce && trusting && n.keyed(), reason)
		if !atOnce && !windowCovered {
			// One in order may still come, and may already lie in the source.
			f.open, f.Waits = true, windowWaits
		}
		if len(order.waits) > 0 {
			// So may what had to come first, and have come first after all.
			f.open, f.Waits = true, merge(slices.Clone(f.Waits), order.waits)
		}
	case n.unordered && !enough:
		before := t.stepNamed(step.After)
		unknown(slices.Concat(windowWaits, before.Waits), verdict.Reason{Code: verdict.OrderNotEstablished, About: step.After})
		f.open = f.open || before.open
	case enough && n.unknownOut != nil:
		unknown(allWaits, n.unknownOut.reason)
	case enough && sum.outside.Code != "":
		unknown(allWaits, sum.outside)
	case enough && n.confirmed < step.Count.Min && windowCovered:
		// Another source may still tell of it after the window.
		fail(false, verdict.Reason{Code: verdict.QuorumNotReached, About: step.ID})
	case enough && n.confirmed < step.Count.Min:
		unknown(windowWaits, verdict.Reason{Code: verdict.AwaitingEvidence})
	case enough:
		f.Result, f.Reasons, f.Final = verdict.Pass, []verdict.Reason{{Code: verdict.EffectSeen}}, allCovered && order.final
		if bounded && !allCovered {
			f.open, f.Waits = true, allWaits
		}
	case windowCovered:
		fail(!n.named, n.lack()...)
		f.absent, f.unseen = !f.first.known, allWaits
	default:
		reasons := []verdict.Reason{{Code: verdict.AwaitingEvidence}}
		if n.elsewhere {
			reasons = append(reasons, verdict.Reason{Code: verdict.EffectNotAttributable})
		}
		if n.early != nil || n.late != nil {
			reasons = append(reasons, n.outOfWindow())
		}
		unknown(windowWaits, reasons...)
		if name, ok := t.untrusted(s); ok {
			f.Reasons = append(f.Reasons, verdict.Reason{Code: verdict.TrustTooLow, Source: name})
		}
	}
}

// keyed says that what the step saw is tied to the action by a key, so that no
// rival can take it away, and names no reference under which another fact could
// tell it differently.
func (n *tally) keyed() bool {
	for _, list := range [][]*effect{n.inside, n.outside} {
		for _, e := range list {
			if !e.keyed || e.contested || e.ref != "" {
				return false
			}
		}
	}
	return true
}

// outOfWindow names the effect that came at the wrong time.
func (n *tally) outOfWindow() verdict.Reason {
	if n.early != nil {
		return n.early.because(verdict.EffectBeforeDeclaration)
	}
	return n.late.because(verdict.LateEffect)
}

// lack says what is wrong when a covered window holds too little.
func (n *tally) lack() []verdict.Reason {
	switch {
	case n.early != nil || n.late != nil:
		return []verdict.Reason{n.outOfWindow()}
	case len(n.inside) > 0:
		return []verdict.Reason{n.inside[0].because(verdict.PartialEffect)}
	case n.wrongOther != nil:
		return []verdict.Reason{n.wrongOther.reason}
	case n.blurred != nil:
		return []verdict.Reason{n.blurred.reason}
	case n.elsewhere:
		return []verdict.Reason{{Code: verdict.EffectMissing}, {Code: verdict.EffectNotAttributable}}
	}
	return []verdict.Reason{{Code: verdict.EffectMissing}}
}

func (e *effect) because(code verdict.Code) verdict.Reason {
	f := e.told[0].fact
	return verdict.Reason{Code: code, Source: f.Source, Fact: f.ExternalID}
}
