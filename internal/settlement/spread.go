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

// mostLater is how many actions of one group of a rolling limit are woken at a time
// by one that comes late.
const mostLater = 1000

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
	query := s.Entries[i].Reaching(mostLater)
	query.From = max(query.From, s.From)
	return query
}

// Neighbours are the ids of the actions to which these may matter, without
// themselves. Where a group of a limit has more than can be woken at once, there is
// a wake to go on with.
func Neighbours(q *docket.Inquiry, all []Spreading) (ids []string, more []store.Wake, err error) {
	err = q.Until(func(r docket.Records) error {
		ids, more = nil, nil
		for i := range all {
			if err := all[i].neighbours(r, &ids, &more); err != nil {
				return fmt.Errorf("find whom action %s matters to: %w", all[i].Ref, err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(ids)
	return slices.Compact(ids), more, nil
}

func (s *Spreading) neighbours(r docket.Records, ids *[]string, more *[]store.Wake) error {
	self := &s.Case.Declarations[0]
	rest := value.Instant(0)
	for i := range s.Entries {
		query := s.reaching(i)
		later, err := r.Later(query)
		if err != nil {
			return err
		}
		for _, l := range later {
			if l.ActionID != self.ActionID {
				*ids = append(*ids, l.ActionID)
			}
		}
		if len(later) == query.Most {
			last := later[len(later)-1].Start
			if last <= query.From {
				last++ // more of one instant than are woken at once: the others are lost
			}
			if rest == 0 || last < rest {
				rest = last
			}
		}
	}
	if rest > 0 {
		*more = append(*more, store.Wake{Kind: store.WakeSpread, Ref: s.Ref, Watermark: rest})
	}
	if s.From > 0 {
		return nil // all else was told before
	}
	rivals, err := docket.Rivals(r, s.Case)
	if err != nil {
		return err
	}
	*ids = append(*ids, rivals...)
	if !s.Declared {
		return nil
	}
	undoing, err := docket.Undoing(r, self)
	*ids = append(*ids, undoing...)
	return err
}

// WakeOthers wakes actions by their ids, but for those that are looked at anyway, by
// this unit or by a wake that is there already. So no action is in the queue twice for
// this, however far behind whoever evaluates is.
func WakeOthers(tx store.Tx, ids []string, except map[string]bool) error {
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return except[id] })
	if len(ids) == 0 {
		return nil
	}
	refs, err := tx.RefsOf(ids)
	if err != nil {
		return fmt.Errorf("find the actions to be looked at again: %w", err)
	}
	pending, err := tx.Pending(slices.Sorted(maps.Values(refs)))
	if err != nil {
		return err
	}
	var wakes []store.Wake
	for _, ref := range slices.Sorted(maps.Values(refs)) {
		if !slices.Contains(pending, ref) {
			wakes = append(wakes, store.Wake{Kind: store.WakeAction, Ref: ref})
		}
	}
	tx.Wake(wakes...)
	return nil
}
