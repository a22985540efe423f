package verdict

import (
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// Result is what a check or a lens comes to. The zero value is none of them, so
// that a result which was never set cannot pass for one.
type Result string

// The results. A lens is never NotApplicable.
const (
	Pass          Result = "PASS"
	Fail          Result = "FAIL"
	Unknown       Result = "UNKNOWN"
	NotApplicable Result = "NOT_APPLICABLE"
)

// Status says how final a verdict is.
type Status string

// The statuses of a verdict. An action that has none yet is Recorded.
const (
	Recorded    Status = "recorded"
	Provisional Status = "provisional"
	Settled     Status = "settled"
	Revised     Status = "revised"
)

// Verdict is what a case comes to.
type Verdict struct {
	Engine          int           `json:"engine"`
	Case            string        `json:"case"` // digest of the case, "sha256:…"
	ActionID        string        `json:"action_id"`
	ContractID      string        `json:"contract_id,omitzero"`
	ContractVersion int           `json:"contract_version,omitzero"`
	ContractDigest  string        `json:"contract_digest,omitzero"`
	Mode            Mode          `json:"mode,omitzero"`
	EvaluatedAt     value.Instant `json:"evaluated_at"`

	Status    Status        `json:"status"`
	Decided   bool          `json:"decided"` // no new fact and no coverage can change either lens
	SettlesAt value.Instant `json:"settles_at"`
	SettledAt value.Instant `json:"settled_at,omitzero"`
	Revision  int           `json:"revision,omitzero"` // 1 for the first settled verdict
	// Supersedes is the digest of the verdict that this one revises.
	Supersedes string `json:"supersedes,omitzero"`

	Badge       Result `json:"badge"` // the worse of both lenses
	Outcome     Lens   `json:"outcome"`
	Conformance Lens   `json:"conformance"`

	Checks []Check `json:"checks"`
	Waits  []Wait  `json:"waits,omitzero"`
	// Notes are what is said of the action or its evidence beside any check.
	Notes          []Reason      `json:"notes,omitzero"`
	VerifiedAmount *money.Amount `json:"verified_amount,omitzero"`
	Compensation   *Compensation `json:"compensation,omitzero"`
}

// Before is what a later verdict on the same action needs of this one, once it
// has settled.
func (v *Verdict) Before(sources []evidence.Source) *Previous {
	p := &Previous{
		Digest: v.Digest(), Revision: v.Revision, SettledAt: v.SettledAt,
		Outcome: v.Outcome.Result, Conformance: v.Conformance.Result, Sources: sources,
	}
	for i := range v.Checks {
		p.Checks = append(p.Checks, PreviousCheck{ID: v.Checks[i].ID, Result: v.Checks[i].Result, Codes: v.Checks[i].Codes()})
	}
	return p
}

// Lens is the answer to one of the two questions: did it happen (outcome), and
// was it allowed (conformance).
type Lens struct {
	Result Result `json:"result"`
	Codes  []Code `json:"codes"` // never empty; in the order of the checks, each once
	// Decided says that no new fact and no coverage can change the result.
	Decided bool `json:"decided"`
}

// Kind is the kind of a check.
type Kind string

// The kinds of checks.
const (
	StepCheck        Kind = "step"
	NeverCheck       Kind = "never"
	StateCheck       Kind = "state"
	LimitCheck       Kind = "limit"
	ApprovalCheck    Kind = "approval"
	DeclarationCheck Kind = "declaration"
)

// The lenses by name.
const (
	OutcomeLens     = "outcome"
	ConformanceLens = "conformance"
)

// Check is one rule of the contract applied to the action.
type Check struct {
	ID      string        `json:"id"`
	Kind    Kind          `json:"kind"`
	Lens    string        `json:"lens"`
	Result  Result        `json:"result"`
	Reasons []Reason      `json:"reasons"` // never empty; the deciding one first
	Final   bool          `json:"final"`   // no new fact and no coverage can change it
	From    value.Instant `json:"from,omitzero"`
	Until   value.Instant `json:"until,omitzero"`
	Seen    []Seen        `json:"seen,omitzero"`
	Waits   []Wait        `json:"waits,omitzero"`
}

// Codes are those of its reasons, in their order.
func (c *Check) Codes() []Code {
	codes := make([]Code, len(c.Reasons))
	for i := range c.Reasons {
		codes[i] = c.Reasons[i].Code
	}
	return codes
}

// Reason is a code of the registry and what it is about.
type Reason struct {
	Code   Code   `json:"code"`
	Source string `json:"source,omitzero"`
	Fact   string `json:"fact,omitzero"`  // an external id
	About  string `json:"about,omitzero"` // an attribute, a parameter, a check, an action
}

// Role is what a fact did for a check.
type Role string

// The roles of facts.
const (
	Supports    Role = "supports"
	Contradicts Role = "contradicts"
	TooEarly    Role = "too_early"
	TooLate     Role = "too_late"
	Undecided   Role = "undecided" // its condition is unknown
	Contested   Role = "contested" // several actions could claim it
	Elsewhere   Role = "elsewhere" // on the subject, but not this action's
	Untrusted   Role = "untrusted" // from a source that may not supply the check
	Overruled   Role = "overruled" // the source that decides tells it differently
)

// Seen is a fact that a check looked at: a pointer to the evidence.
type Seen struct {
	Source     string        `json:"source"`
	Type       string        `json:"type"`
	ExternalID string        `json:"external_id"`
	Revision   int64         `json:"revision,omitzero"`
	OccurredAt value.Instant `json:"occurred_at"`
	Role       Role          `json:"role"`
	Link       string        `json:"link"` // refs.NAME, subject, or empty if it does not link
}

// Identity of the fact.
func (s *Seen) Identity() evidence.Identity {
	return evidence.Identity{Source: s.Source, Family: evidence.Family(s.Type), ExternalID: s.ExternalID}
}

// Wait is what a check waits for: that the source's facts of the type are
// complete up to and including Until.
type Wait struct {
	Source    string        `json:"source"`
	Type      string        `json:"type"`
	Until     value.Instant `json:"until"`
	Watermark value.Instant `json:"watermark,omitzero"`
}

// Compensation is the view of what undoes the action, or of what it undoes. It
// changes no verdict.
type Compensation struct {
	Of string        `json:"of,omitzero"` // the action that this one undoes, if the link was accepted
	By []Compensator `json:"by,omitzero"`
	// Refused are actions that say they undo this one, but may not.
	Refused []string      `json:"refused,omitzero"`
	Net     *money.Amount `json:"net,omitzero"` // what remains after the compensators that passed
	// NetZero says whether that is nothing, where the contract asks.
	NetZero Result `json:"net_zero,omitzero"`
}
