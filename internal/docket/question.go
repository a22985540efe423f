package docket

import (
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Question is one thing that [Build] and its like ask of [Records]. Exactly one of
// the askings is set, and the answer is to be put into the field beside it.
// Questions let a database answer for many actions in one round trip.
type Question struct {
	Revisions    string             // an action id -> Declarations
	Declared     *ActionKey         // -> Declarations
	Compensating string             // an action id -> Declarations
	History      *HistoryQuery      // -> Sum
	Facts        *FactKey           // -> Reported
	Fact         *evidence.Identity // -> Reported: all revisions of this fact, in any order
	Sources      []string           // -> States
	Active       *ActiveKey         // -> Governing, of at most one
	Expecting    string             // a fact type -> Governing
	Latest       string             // an action id -> Stored
	Later        *LaterQuery        // -> Following

	Declarations []verdict.Declaration
	Reported     []evidence.Fact
	States       []evidence.Source
	Governing    []*verdict.Governing
	Sum          verdict.History
	Stored       *Stored
	Following    []Later
}

// ActiveKey asks for the version of a contract that is active at a time, or, if
// Version is not 0, for that version, whenever it was active.
type ActiveKey struct {
	ContractID string
	At         value.Instant
	Version    int
}

// LaterQuery asks which actions add to a group of a rolling limit within a time:
// those whose totals an action that starts at its beginning changes.
type LaterQuery struct {
	Key, Group string        // as of [LimitKey] and [Group]
	From, To   value.Instant // the start lies in [From, To), live and shadow alike
	Most       int           // at most so many, the earliest first
}

// Later is an action that adds to a rolling limit.
type Later struct {
	ActionID string
	Start    value.Instant
}

// Asking answers questions from records that are near.
func Asking(records Records) func([]*Question) error {
	return func(questions []*Question) error {
		for _, q := range questions {
			if err := q.answerFrom(records); err != nil {
				return err
			}
		}
		return nil
	}
}

func (q *Question) answerFrom(records Records) (err error) {
	switch {
	case q.Revisions != "":
		q.Declarations, err = records.Revisions(q.Revisions)
	case q.Declared != nil:
		q.Declarations, err = records.Declared(*q.Declared)
	case q.Compensating != "":
		q.Declarations, err = records.Compensating(q.Compensating)
	case q.History != nil:
		q.Sum, err = records.History(*q.History)
	case q.Facts != nil:
		q.Reported, err = records.Facts(*q.Facts)
	case q.Fact != nil:
		q.Reported, err = records.Fact(*q.Fact)
	case q.Active != nil:
		var governing *verdict.Governing
		if q.Active.Version != 0 {
			governing, err = records.Version(q.Active.ContractID, q.Active.Version)
		} else {
			governing, err = records.Active(q.Active.ContractID, q.Active.At)
		}
		if governing != nil {
			q.Governing = []*verdict.Governing{governing}
		}
	case q.Expecting != "":
		q.Governing, err = records.Expecting(q.Expecting)
	case q.Latest != "":
		q.Stored, err = records.Latest(q.Latest)
	case q.Later != nil:
		q.Following, err = records.Later(*q.Later)
	default:
		q.States, err = records.Sources(q.Sources)
	}
	return err
}
