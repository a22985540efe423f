package settlement

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// mostTargets is how many actions one unit finds. Those beyond get wakes of their
// own.
const mostTargets = 1000

// unit is a unit of work that does what wakes say.
type unit struct {
	e        *Evaluator
	tx       store.Tx
	now      value.Instant
	inquiry  *docket.Inquiry
	most     int // actions that it evaluates for facts; those beyond get wakes of their own
	targets  map[store.Ref]*target
	done     Done
	failures []failure
}

// target is an action that is evaluated, and why.
type target struct {
	ref      store.Ref
	id       string
	rivals   bool          // tell those that could claim the same facts
	declared bool          // tell all that a declaration may matter to
	from     value.Instant // of declared: where to go on with limits
	settle   bool          // it was time to settle
	covered  bool          // coverage came that it waited for
	finding  *Finding
}

// failure is an action that could not be evaluated.
type failure struct {
	ref store.Ref
	err error
}

func (u *unit) run(n int) error {
	wakes, err := u.tx.Claim(n)
	if err != nil {
		return fmt.Errorf("claim wakes: %w", err)
	}
	if u.done.Wakes = len(wakes); len(wakes) == 0 {
		return nil
	}
	u.inquiry = docket.NewInquiry(u.tx.Ask)
	if err := u.resolve(wakes); err != nil {
		return err
	}
	all, err := u.identify()
	if err != nil || len(all) == 0 {
		return err
	}
	if err := u.evaluate(all); err != nil {
		return err
	}
	if err := u.passOn(all); err != nil {
		return err
	}
	return u.spread(all)
}

// resolve finds the actions that wakes are about.
func (u *unit) resolve(wakes []store.Wake) error {
	var facts []evidence.Identity
	sources := map[[2]string]store.Wake{}
	for _, w := range wakes {
		if w.Due != 0 {
			u.done.Lag = max(u.done.Lag, u.now.Sub(w.Due))
		}
		switch w.Kind {
		case store.WakeAction:
			u.target(w.Ref)
		case store.WakeSpread:
			t := u.target(w.Ref)
			if !t.declared || w.Watermark < t.from {
				t.from = w.Watermark
			}
			t.declared = true
		case store.WakeSettle:
			u.target(w.Ref).settle = true
		case store.WakeFact:
			if !slices.Contains(facts, w.Fact) {
				facts = append(facts, w.Fact)
			}
		case store.WakeSource:
			// The furthest watermark frees all that a nearer one does; who has been
			// looked at already was so with less.
			key := [2]string{w.Source, w.FactType}
			if known, there := sources[key]; there {
				w.Watermark, w.Ref = max(w.Watermark, known.Watermark), min(w.Ref, known.Ref)
			}
			sources[key] = w
		}
	}
	if err := u.claimants(facts); err != nil {
		return err
	}
	for _, key := range slices.SortedFunc(maps.Keys(sources), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		if err := u.waiting(sources[key]); err != nil {
			return err
		}
	}
	return nil
}

func (u *unit) target(ref store.Ref) *target {
	t := u.targets[ref]
	if t == nil {
		t = &target{ref: ref}
		u.targets[ref] = t
	}
	return t
}

// claimants finds the actions that facts may belong to.
func (u *unit) claimants(facts []evidence.Identity) error {
	if len(facts) == 0 {
		return nil
	}
	claims := map[string]bool{} // by action: whether it may claim a fact, or is only beside one
	err := u.inquiry.Until(func(r docket.Records) error {
		clear(claims)
		for _, f := range facts {
			claim, beside, err := docket.Claimants(r, f)
			if err != nil {
				return err
			}
			for _, id := range beside {
				claims[id] = claims[id] || false
			}
			for _, id := range claim {
				claims[id] = true
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("find the actions that facts belong to: %w", err)
	}
	if len(claims) == 0 {
		return nil
	}
	// Those that claim come first, since their verdicts are waited for.
	ids := slices.SortedFunc(maps.Keys(claims), func(a, b string) int {
		if claims[a] != claims[b] {
			if claims[a] {
				return -1
			}
			return 1
		}
		return cmp.Compare(a, b)
	})
	refs, err := u.tx.RefsOf(ids)
	if err != nil {
		return fmt.Errorf("find the actions that facts belong to: %w", err)
	}
	var later []store.Ref
	few := len(u.targets) + fewBeside
	for _, id := range ids {
		ref, claim := refs[id], claims[id]
		switch {
		case ref == "":
		case u.targets[ref] != nil:
			u.target(ref).rivals = u.target(ref).rivals || claim
		case claim && len(u.targets) < u.most:
			u.target(ref).rivals = true
			few++
		case claim:
			u.tx.Wake(store.Wake{Kind: store.WakeSpread, Ref: ref})
		case len(u.targets) < min(few, u.most):
			u.target(ref)
		default:
			later = append(later, ref)
		}
	}
	return wakeOnce(u.tx, later)
}

// fewBeside is how many of the actions on a fact's subject that cannot claim it are
// evaluated with those that can. More have wakes of their own: so the verdict that the
// fact is for does not wait for them, and what else comes meanwhile is told to them with
// it, in one evaluation.
const fewBeside = 8

// waiting finds the actions that wait for a source, and leaves a wake for those
// beyond what one unit does.
func (u *unit) waiting(w store.Wake) error {
	if w.FactType == "" {
		return u.using(w)
	}
	most := u.e.options.Batch
	refs, err := u.tx.Waiting(w.Source, w.FactType, w.Watermark, w.Ref, most)
	if err != nil {
		return fmt.Errorf("find the actions that wait for %s: %w", w.Source, err)
	}
	for _, ref := range refs {
		u.target(ref).covered = true
	}
	if len(refs) == most {
		w.Ref, w.Due = refs[most-1], 0
		u.tx.Wake(w)
	}
	return nil
}

// identify finds the ids of all targets, and locks them.
func (u *unit) identify() ([]*target, error) {
	refs := slices.Sorted(maps.Keys(u.targets))
	if len(refs) == 0 {
		return nil, nil
	}
	current, err := u.tx.Current(refs)
	if err != nil {
		return nil, fmt.Errorf("read the verdicts so far: %w", err)
	}
	var all []*target
	var there []store.Ref
	for _, ref := range refs {
		if v := current[ref]; v != nil {
			t := u.targets[ref]
			t.id = v.ActionID
			all, there = append(all, t), append(there, ref)
		}
	}
	if len(all) == 0 {
		return nil, nil
	}
	if err := u.tx.Lock(there); err != nil {
		return nil, fmt.Errorf("lock the actions: %w", err)
	}
	return all, nil
}

// evaluate makes the verdicts of all targets and keeps what is new in them.
func (u *unit) evaluate(all []*target) error {
	ids := make([]string, len(all))
	for i, t := range all {
		ids[i] = t.id
	}
	built, err := u.inquiry.BuildAll(u.now, ids)
	if err != nil {
		return fmt.Errorf("gather what bears on the actions: %w", err)
	}
	stored := make([]*docket.Stored, len(all))
	err = u.inquiry.Until(func(r docket.Records) error {
		for i, id := range ids {
			if stored[i], err = r.Latest(id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the verdicts so far: %w", err)
	}
	for i, t := range all {
		err := built[i].Err
		if err == nil {
			t.finding, err = Find(t.ref, built[i].Case, stored[i])
		}
		if err != nil {
			u.fail(t, fmt.Errorf("evaluate action %q: %w", t.id, err))
			continue
		}
		u.keep(t)
	}
	return nil
}

func (u *unit) keep(t *target) {
	u.done.Evaluated++
	u.e.troubles.over(t.again())
	if Keep(u.tx, t.finding, t.covered) {
		u.done.Kept++
		if t.finding.Verdict.Revision > 0 {
			u.done.Settled++
		}
	}
	if due := t.finding.Due(); t.settle && due != 0 {
		// The wake that was claimed is gone, and the action is still not settled.
		u.tx.Wake(store.Wake{Kind: store.WakeSettle, Ref: t.ref, Due: max(due, u.now+1)})
	}
}

// again is the wake by which a target that failed is tried again.
func (t *target) again() store.Wake { return store.Wake{Kind: store.WakeSpread, Ref: t.ref} }

// fail puts an action off. What it was woken for is done when it is woken again, and
// more than that.
func (u *unit) fail(t *target, err error) {
	u.done.Failed++
	u.failures = append(u.failures, failure{ref: t.ref, err: err})
	again := t.again()
	again.Due = u.now.Add(u.e.troubles.wait(again))
	u.tx.Wake(again)
	if t.settle {
		u.tx.Wake(store.Wake{Kind: store.WakeSettle, Ref: t.ref, Due: again.Due})
	}
}

// spread wakes the actions to which it may matter what was evaluated.
func (u *unit) spread(all []*target) error {
	var spreading []Spreading
	here, seen := map[string]bool{}, []*target{}
	for _, t := range all {
		if t.finding == nil {
			continue
		}
		here[t.id] = true
		if t.finding.seenByOthers() {
			seen = append(seen, t)
		}
		if t.rivals && (!t.declared || t.from > 0) {
			// A spread that goes on has told the rivals what was known before.
			spreading = append(spreading, Spreading{Ref: t.ref, Case: t.finding.Case})
		}
		if !t.declared {
			continue
		}
		s := Spreading{Ref: t.ref, Case: t.finding.Case, Declared: true, From: t.from}
		if governing := t.finding.Case.Governing; governing != nil {
			versions, err := u.e.versions.Until(u.tx, governing)
			if err != nil {
				return err
			}
			s.Entries = docket.Entries(versions, &t.finding.Case.Declarations[0])
		}
		spreading = append(spreading, s)
	}
	neighbours, err := Neighbours(u.inquiry, spreading)
	if err != nil {
		return err
	}
	if err := neighbours.Wake(u.tx, here); err != nil {
		return err
	}
	undone, err := u.undone(seen)
	if err != nil {
		return err
	}
	if len(undone) == 0 {
		return nil
	}
	refs, err := u.tx.RefsOf(undone)
	if err != nil {
		return fmt.Errorf("find the actions that are undone: %w", err)
	}
	// These were evaluated with the verdict as it was before, if they were.
	return wakeOnce(u.tx, slices.Sorted(maps.Values(refs)))
}

// undone are the actions whose cases hold how other actions stand: what those undo,
// and whatever else undoes that.
func (u *unit) undone(seen []*target) (ids []string, err error) {
	err = u.inquiry.Until(func(r docket.Records) error {
		ids = nil
		for _, t := range seen {
			self := &t.finding.Case.Declarations[0]
			if self.Compensates == "" {
				continue
			}
			others, err := r.Compensating(self.Compensates)
			if err != nil {
				return err
			}
			ids = append(ids, self.Compensates)
			for i := range others {
				if id := others[i].ActionID; id != t.id {
					ids = append(ids, id)
				}
			}
		}
		return nil
	})
	slices.Sort(ids)
	return slices.Compact(ids), err
}
