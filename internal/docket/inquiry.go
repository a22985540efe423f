package docket

import (
	"strings"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// Inquiry asks much at once of records that are far away. What is asked through
// its [Records] and was not answered yet gets an empty answer and is put on a
// list; [Inquiry.Until] has the list answered in one go and asks everything again,
// until nothing is open. What is found by questions that only an empty answer
// raised is not used.
//
// The records must not change meanwhile. It is for one goroutine.
type Inquiry struct {
	ask     func([]*Question) error
	known   map[any]*remembered
	open    []*remembered
	missed  bool          // since it was last set to false, something was not known yet
	newest  value.Instant // since it was last set to 0, the latest arrival of any fact
	pending *Pending
}

// remembered is a question and whether the answer is there.
type remembered struct {
	Question
	answered bool
	tellings []telling // of an answer about facts, once somebody needs it
}

// NewInquiry asks by a function that puts the answers into the questions.
func NewInquiry(ask func([]*Question) error) *Inquiry {
	return &Inquiry{ask: ask, known: map[any]*remembered{}}
}

// Beside adds declarations that the records do not have yet to what they answer.
func (q *Inquiry) Beside(p *Pending) { q.pending = p }

// Keys by which answers are known; those of other questions are the questions' own.
type (
	revisionsOf    string
	compensatingOf string
	statesOf       string
	expectingOf    string
	latestOf       string
	historyOf      struct {
		digest, limit, group, except string
		mode                         verdict.Mode
		from, to, at                 value.Instant
	}
)

func keyOf(q *Question) any {
	switch {
	case q.Revisions != "":
		return revisionsOf(q.Revisions)
	case q.Declared != nil:
		return *q.Declared
	case q.Compensating != "":
		return compensatingOf(q.Compensating)
	case q.History != nil:
		h := q.History
		return historyOf{
			digest: h.Contract.Digest, limit: h.Limit.ID, group: h.Group, except: h.Except,
			mode: h.Mode, from: h.From, to: h.To, at: h.At,
		}
	case q.Facts != nil:
		return *q.Facts
	case q.Fact != nil:
		return *q.Fact
	case q.Active != nil:
		return *q.Active
	case q.Expecting != "":
		return expectingOf(q.Expecting)
	case q.Latest != "":
		return latestOf(q.Latest)
	case q.Later != nil:
		return *q.Later
	}
	return statesOf(strings.Join(q.Sources, "\x00"))
}

// Want puts questions on the list before anybody asks them.
func (q *Inquiry) Want(questions ...Question) {
	for i := range questions {
		q.answered(questions[i])
	}
}

// answered is the question with its answer, or an empty one if it is not known yet.
func (q *Inquiry) answered(asked Question) *Question { return &q.remembered(asked).Question }

func (q *Inquiry) remembered(asked Question) *remembered {
	key := keyOf(&asked)
	known := q.known[key]
	if known == nil {
		known = &remembered{Question: asked}
		q.known[key], q.open = known, append(q.open, known)
	}
	q.missed = q.missed || !known.answered
	return known
}

// Answer has the list answered. Without one it does nothing.
func (q *Inquiry) Answer() error {
	if len(q.open) == 0 {
		return nil
	}
	questions := make([]*Question, len(q.open))
	for i, open := range q.open {
		questions[i] = &open.Question
	}
	if err := q.ask(questions); err != nil {
		return err
	}
	for _, open := range q.open {
		open.answered = true
	}
	q.open = nil
	return nil
}

// Until runs a function over the records again and again, until all that it asks
// is known, and returns its last error. It must start anew each time.
func (q *Inquiry) Until(fn func(Records) error) error {
	for {
		if err := q.Answer(); err != nil {
			return err
		}
		q.missed = false
		if err := fn(recalled{q}); !q.missed {
			return err
		}
	}
}

// recalled answers from what an inquiry knows.
type recalled struct{ *Inquiry }

// Revisions implements [Declarations].
func (r recalled) Revisions(actionID string) ([]verdict.Declaration, error) {
	if actionID == "" {
		return nil, nil
	}
	known := r.answered(Question{Revisions: actionID}).Declarations
	if r.pending == nil {
		return known, nil
	}
	return r.pending.revisions(actionID, known), nil
}

// Declared implements [Declarations].
func (r recalled) Declared(key ActionKey) ([]verdict.Declaration, error) {
	known := r.answered(Question{Declared: &key}).Declarations
	if r.pending == nil {
		return known, nil
	}
	return r.pending.declared(key, known)
}

// Compensating implements [Declarations].
func (r recalled) Compensating(actionID string) ([]verdict.Declaration, error) {
	if actionID == "" {
		return nil, nil
	}
	known := r.answered(Question{Compensating: actionID}).Declarations
	if r.pending == nil {
		return known, nil
	}
	return r.pending.compensating(actionID, known)
}

// History implements [Declarations].
func (r recalled) History(query HistoryQuery) (verdict.History, error) {
	known := r.answered(Question{History: &query}).Sum
	if r.pending == nil {
		return known, nil
	}
	return r.pending.history(query, known)
}

// Later implements [Declarations]. Pending declarations are not in it: whoever has
// them evaluates them anyway.
func (r recalled) Later(query LaterQuery) ([]Later, error) {
	return r.answered(Question{Later: &query}).Following, nil
}

// Facts implements [Evidence].
func (r recalled) Facts(key FactKey) ([]evidence.Fact, error) {
	facts := r.answered(Question{Facts: &key}).Reported
	for i := range facts {
		r.newest = max(r.newest, facts[i].IngestedAt)
	}
	return facts, nil
}

// Fact implements [Evidence].
func (r recalled) Fact(id evidence.Identity) ([]evidence.Fact, error) {
	return r.answered(Question{Fact: &id}).Reported, nil
}

// Sources implements [Evidence].
func (r recalled) Sources(names []string) ([]evidence.Source, error) {
	if len(names) == 0 {
		return nil, nil
	}
	return r.answered(Question{Sources: names}).States, nil
}

// Active implements [Contracts].
func (r recalled) Active(contractID string, at value.Instant) (*verdict.Governing, error) {
	if contractID == "" {
		return nil, nil
	}
	return r.version(ActiveKey{ContractID: contractID, At: at})
}

// Version implements [Contracts].
func (r recalled) Version(contractID string, number int) (*verdict.Governing, error) {
	return r.version(ActiveKey{ContractID: contractID, Version: number})
}

func (r recalled) version(key ActiveKey) (*verdict.Governing, error) {
	governing := r.answered(Question{Active: &key}).Governing
	if len(governing) == 0 {
		return nil, nil
	}
	return governing[0], nil
}

// Expecting implements [Contracts].
func (r recalled) Expecting(factType string) ([]*verdict.Governing, error) {
	if factType == "" {
		return nil, nil
	}
	return r.answered(Question{Expecting: factType}).Governing, nil
}

// Latest implements [Verdicts].
func (r recalled) Latest(actionID string) (*Stored, error) {
	return r.answered(Question{Latest: actionID}).Stored, nil
}
