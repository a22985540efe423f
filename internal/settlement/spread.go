package settlement

import (
	"fmt"
	"maps"
	"slices"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// How many actions of one group of a rolling limit are woken at a time by one that
// comes before them: few at first, since the next ones mostly wake the others, and many
// where it has to go on.
const (
	firstLater = 32
	mostLater  = 1000
)

// Spreading is an action that may matter to others.
type Spreading struct {
	Ref  store.Ref
	Case *verdict.Case
	// Declared says that the action is new to others: also what undoes it and what
	// adds up with it is told. Else only something it could share with rivals is.
	Declared bool
	Entries  []docket.Entry // what it adds to rolling limits
	From     value.Instant  // where to go on with these; zero for the beginning
}

// Later is what the entries ask for.
func (s *Spreading) Later() []docket.Question {
	var questions []docket.Question
	for i := range s.Entries {
		query := s.reaching(i)
		questions = append(questions, docket.Question{Later: &query})
	}
	return questions
}

func (s *Spreading) reaching(i int) docket.LaterQuery {
	most := firstLater
	if s.From > 0 {
		most = mostLater
	}
	query := s.Entries[i].Reaching(most)
	query.From = max(query.From, s.From)
	return query
}

// Neighbourhood are the actions to which others may matter.
type Neighbourhood struct {
	ids   []string // in no order
	lines []line
	whole map[string]bool // spread from the beginning by this unit
}

// line is a part of a rolling limit's group behind an action: those whose totals it
// is in, as they follow each other. Whoever of them tells what comes after it, now or
// when it is woken, tells all that come after it here; then the others of the line need
// not be woken by this one. Without that each of many actions that an agent declares at
// once would wake all that follow it.
type line struct {
	of     store.Ref
	ids    []string
	rest   value.Instant // where it goes on; zero: it does not
	steady bool          // those who tell reach as far as this one
}

// Neighbours finds them, without the actions themselves.
func Neighbours(q *docket.Inquiry, all []Spreading) (n Neighbourhood, err error) {
	err = q.Until(func(r docket.Records) error {
		n = Neighbourhood{whole: map[string]bool{}}
		for i := range all {
			if err := n.add(r, &all[i]); err != nil {
				return fmt.Errorf("find whom action %s matters to: %w", all[i].Ref, err)
			}
		}
		return nil
	})
	return n, err
}

func (n *Neighbourhood) add(r docket.Records, s *Spreading) error {
	self := &s.Case.Declarations[0]
	for i := range s.Entries {
		query := s.reaching(i)
		later, err := r.Later(query)
		for err == nil && s.From > 0 && len(later) == query.Most && later[len(later)-1].Start == query.From {
			query.Most *= 2 // all are of one instant, with which it would go on for ever
			later, err = r.Later(query)
		}
		if err != nil {
			return err
		}
		l := line{of: s.Ref, steady: s.Entries[i].Steady}
		for _, one := range later {
			if one.ActionID != self.ActionID {
				l.ids = append(l.ids, one.ActionID)
			}
		}
		if len(later) == query.Most {
			l.rest = later[len(later)-1].Start
		}
		n.lines = append(n.lines, l)
	}
	if s.From > 0 {
		return nil // all else was told before
	}
	n.whole[self.ActionID] = s.Declared
	rivals, err := docket.Rivals(r, s.Case)
	if err != nil {
		return err
	}
	n.ids = append(n.ids, rivals...)
	if !s.Declared {
		return nil
	}
	undoing, err := docket.Undoing(r, self)
	n.ids = append(n.ids, undoing...)
	return err
}

// Wake wakes them, but for those that are looked at anyway, by this unit or by a wake
// that is there already. So no action is in the queue twice for this, however far behind
// whoever evaluates is.
func (n *Neighbourhood) Wake(tx store.Tx, except map[string]bool) error {
	ids := slices.Clone(n.ids)
	for i := range n.lines {
		ids = append(ids, n.lines[i].ids...)
	}
	slices.Sort(ids)
	refs, pending, err := pendingOf(tx, slices.Compact(ids), except)
	if err != nil {
		return err
	}
	wake := map[store.Ref]bool{}
	add := func(id string) {
		if ref := refs[id]; ref != "" && !except[id] {
			if _, is := pending[ref]; !is {
				wake[ref] = true
			}
		}
	}
	for _, id := range n.ids {
		add(id)
	}
	rests := map[store.Ref]value.Instant{}
	for i := range n.lines {
		l := &n.lines[i]
		told := false
		for _, id := range l.ids {
			if told = l.steady && (n.whole[id] || pending[refs[id]]); told {
				break
			}
			add(id)
		}
		if known := rests[l.of]; !told && l.rest > 0 && (known == 0 || l.rest < known) {
			rests[l.of] = l.rest
		}
	}
	for _, ref := range slices.Sorted(maps.Keys(wake)) {
		tx.Wake(store.Wake{Kind: store.WakeAction, Ref: ref})
	}
	for _, ref := range slices.Sorted(maps.Keys(rests)) {
		tx.Wake(store.Wake{Kind: store.WakeSpread, Ref: ref, Watermark: rests[ref]})
	}
	return nil
}

// wakeOnce wakes actions, but for those for which there is a wake already.
func wakeOnce(tx store.Tx, refs []store.Ref) error {
	pending, err := tx.Pending(refs)
	if err != nil {
		return err
	}
	for _, ref := range refs {
		if _, is := pending[ref]; !is {
			tx.Wake(store.Wake{Kind: store.WakeAction, Ref: ref})
		}
	}
	return nil
}

// pendingOf finds actions by their ids, and which of them a wake is there for.
func pendingOf(tx store.Tx, ids []string, except map[string]bool) (refs map[string]store.Ref, pending map[store.Ref]bool, err error) {
	ids = slices.DeleteFunc(ids, func(id string) bool { return except[id] })
	if len(ids) == 0 {
		return nil, nil, nil
	}
	if refs, err = tx.RefsOf(ids); err != nil {
		return nil, nil, fmt.Errorf("find the actions to be looked at again: %w", err)
	}
	pending, err = tx.Pending(slices.Sorted(maps.Values(refs)))
	return refs, pending, err
}
