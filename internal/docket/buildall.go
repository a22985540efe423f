package docket

import (
	"errors"

	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Built is an action's case, or why there is none.
type Built struct {
	Case *verdict.Case
	Err  error // such as an [UnknownActionError]
}

// BuildAll makes the cases of actions as [Build] does, each as of a time, with a
// few rounds of questions for all of them. The result is in the order of the ids.
// An error means that the questions were not answered.
func BuildAll(ask func([]*Question) error, at value.Instant, ids []string) ([]Built, error) {
	return NewInquiry(ask).BuildAll(at, ids)
}

// BuildAll is the function of the same name over what the inquiry knows already.
//
// A case is made of a later time than the one given where what is known of the
// action is later: of its declarations, of the facts, or of the verdict before. So
// a clock that is set back makes nobody forget what was known already.
func (q *Inquiry) BuildAll(at value.Instant, ids []string) ([]Built, error) {
	built := make([]Built, len(ids))
	times := make([]value.Instant, len(ids))
	open := make([]int, len(ids))
	for i, id := range ids {
		times[i], open[i] = at, i
		q.Want(Question{Revisions: id}, Question{Compensating: id}, Question{Latest: id})
	}
	for {
		still := open[:0]
		for _, i := range open {
			known, later := q.build(&built[i], ids[i], times[i])
			if !known || later > times[i] {
				times[i] = max(times[i], later)
				still = append(still, i)
			}
		}
		if open = still; len(open) == 0 {
			return built, nil
		}
		// What others have put on the list meanwhile goes along.
		if err := q.Answer(); err != nil {
			return nil, err
		}
	}
}

// build makes one case. It says whether all that it takes was known, and what the
// latest is that is known of the action.
func (q *Inquiry) build(b *Built, id string, at value.Instant) (known bool, later value.Instant) {
	q.missed, q.newest = false, 0
	records := recalled{q}
	b.Case, b.Err = Build(records, id, at)
	if q.missed {
		return false, 0
	}
	revisions, _ := records.Revisions(id)
	if unknown := (*UnknownActionError)(nil); len(revisions) == 0 && errors.As(b.Err, &unknown) {
		return true, 0
	}
	for i := range revisions {
		later = max(later, revisions[i].ReceivedAt)
	}
	if stored, _ := records.Latest(id); stored != nil {
		later = max(later, stored.Verdict.EvaluatedAt)
	}
	return true, max(later, q.newest)
}
