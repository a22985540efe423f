package contract

import (
	"time"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// Contract is a compiled contract. It is never changed, and safe for use by
// many at once.
type Contract struct {
	ID     string // the key `contract`
	Title  string
	Owner  string
	Digest string // of Text: "sha256:" and 64 hexadecimal digits
	Text   string // the YAML as it came

	AppliesTo AppliesTo
	Params    []Param // in the order of the file
	Settle    Settle
	Sources   []Source
	Link      []Link // strongest first; never empty

	Steps     []Step
	Never     []Never
	State     []State
	Limits    []Limit
	Approvals []Approval

	Compensation   *Compensation
	Evidence       Evidence
	VerifiedAmount *VerifiedAmount
	Orphans        *condition.Expr // limits which unclaimed effects are orphans; nil means all
	NotChecked     []string        // what it does not check, in plain words

	Warnings []Problem // what is allowed but odd, in the order of the text
}

// AppliesTo says which actions the contract is for; an empty field means any.
type AppliesTo struct {
	ActionType  string
	SubjectKind string
}

// ParamType is the declared type of a parameter.
type ParamType string

// The types of parameters.
const (
	MoneyParam     ParamType = "money"
	CurrencyParam  ParamType = "currency"
	StringParam    ParamType = "string"
	IntegerParam   ParamType = "integer"
	DecimalParam   ParamType = "decimal"
	BooleanParam   ParamType = "boolean"
	TimestampParam ParamType = "timestamp"
	EnumParam      ParamType = "enum"
	ListParam      ParamType = "list"
)

// Param is what the contract says about one parameter of the action.
type Param struct {
	Name     string
	Type     ParamType
	Required bool
	Default  value.Value    // as a declaration would give it; missing if there is none
	Values   []string       // of an enum
	Currency string         // of money: the parameter that names its currency, or
	Fixed    money.Currency // the currency itself
	Minor    bool           // of money: declared in the currency's smallest unit
}

// Settle says when a verdict is final.
type Settle struct {
	After   time.Duration // from the start to settles_at
	Grace   time.Duration // how much longer coverage is waited for
	MaxSkew time.Duration // by how much clocks may differ
}

// Source is the least that the contract asks of a source.
type Source struct {
	Name  string
	Trust evidence.Trust
}

// LinkBy says what a link compares a fact's ref with.
type LinkBy uint8

// A link by subject has no ref: kind and id are equal.
const (
	BySubject LinkBy = iota
	ByActionID
	BySubjectID
	ByParam
)

// Link is one way in which a fact belongs to an action.
type Link struct {
	Ref   string // the name of the fact's correlation key
	By    LinkBy
	Param string // of ByParam
}

// String is the rule as a contract writes it.
func (l Link) String() string {
	switch l.By {
	case ByActionID:
		return "refs." + l.Ref + " == action_id"
	case BySubjectID:
		return "refs." + l.Ref + " == subject_id"
	case ByParam:
		return "refs." + l.Ref + " == params." + l.Param
	}
	return "subject"
}

// Keyed reports a link by a correlation key.
func (l Link) Keyed() bool { return l.By != BySubject }

// Window is the time in which something is looked for: from the start of the
// action, both ends included. Zero reaches to settles_at.
type Window struct{ Within time.Duration }

// Observation is what a check looks for and where.
type Observation struct {
	ID     string
	When   *condition.Expr // a guard; nil means always
	Expect string          // the fact type
	From   []string        // sources; never empty
	Where  *condition.Expr // nil means any
	Trust  evidence.Trust  // the least of this check, beyond the sources' own
}

// Count bounds how many effects are wanted.
type Count struct {
	Min int
	Max int // zero means without end
}

// Sum bounds what the effects add up to.
type Sum struct {
	Of       *condition.Expr
	Min, Max *condition.Expr // nil means unbounded; both set to one for exactly
	Exactly  bool
}

// Step is something that must be seen.
type Step struct {
	Observation
	Count  Count // Min is at least 1
	Sum    *Sum
	Window Window
	After  string // the step that must come first, or empty
	Quorum int    // how many different sources must confirm; 0 and 1 mean any
}

// Never is something that must not be seen until the verdict settles.
type Never struct {
	Observation
	Anyone bool // whoever did it: a link by subject is enough
}

// State is how something must stand at a time.
type State struct {
	Observation
	Window Window
}

// Limit is what was allowed: a condition on the declaration, or a rolling total
// or count over declarations.
type Limit struct {
	ID      string
	When    *condition.Expr
	Check   *condition.Expr // of a limit on the declaration
	Rolling *Rolling        // of a limit over several
}

// Rolling is a limit over the declarations of the last Over, this one included.
type Rolling struct {
	Total    *condition.Expr // what is added up; nil counts declarations
	MaxTotal money.Amount
	MaxCount int
	Over     time.Duration
	Per      string // agent_id, subject_id, workflow_id or params.NAME; empty for all together
}

// Approval is who must have said yes before it happened.
type Approval struct {
	Observation
	Link     []Link
	Lookback time.Duration // how long before the start it may have been given
	Before   string        // the step whose effect it must precede
	Quorum   int
}

// Compensation names the contract whose actions undo this one's.
type Compensation struct {
	By      string
	NetZero bool
}

// Evidence says how facts are told apart and weighed.
type Evidence struct {
	Exclusive  bool
	Decides    string // the source that wins where sources disagree, or empty
	SameEffect string // the ref that facts about one effect share, or empty
}

// VerifiedAmount says which amount was seen.
type VerifiedAmount struct {
	Step string
	Of   *condition.Expr
}
