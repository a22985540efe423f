package client

import (
	"encoding/json"
	"time"
)

// Result is PASS, FAIL or UNKNOWN; of a check also NOT_APPLICABLE.
type Result string

// The results.
const (
	Pass          Result = "PASS"
	Fail          Result = "FAIL"
	Unknown       Result = "UNKNOWN"
	NotApplicable Result = "NOT_APPLICABLE"
)

// Status says how final a verdict is.
type Status string

// The statuses.
const (
	Provisional Status = "provisional"
	Settled     Status = "settled"
	Revised     Status = "revised"
)

// What [Declared.Recorded] can say.
const (
	New      = "new"      // it was not known before
	Replayed = "replayed" // it was, with this content
	Changed  = "changed"  // it was, with another content, which goes on governing
)

// Declared is an action as the server has it. In lists and batches its members
// are there in part.
type Declared struct {
	Recorded     string       `json:"recorded"` // of a declaration: New, Replayed or Changed
	Action       Kept         `json:"action"`
	Verification Verification `json:"verification"`
	Allowance    *Allowance   `json:"allowance"`
	Warnings     []Warning    `json:"warnings"`
	Links        Links        `json:"links"`
}

// Kept is an action by its first declaration.
type Kept struct {
	ServerID    string                     `json:"id"` // act_…
	ID          string                     `json:"action_id"`
	ContractID  string                     `json:"contract_id"`
	Type        string                     `json:"action_type"`
	SubjectID   string                     `json:"subject_id"`
	SubjectKind string                     `json:"subject_kind"`
	AgentID     string                     `json:"agent_id"`
	WorkflowID  string                     `json:"workflow_id"`
	RequestedAt time.Time                  `json:"requested_at"`
	Params      map[string]json.RawMessage `json:"params"` // digit for digit as declared
	Channel     string                     `json:"channel"`
	Compensates string                     `json:"compensates"`
	ReceivedAt  time.Time                  `json:"received_at"` // by the server's clock
	DeclaredBy  string                     `json:"declared_by"`
	Revision    int                        `json:"revision"`
}

// Verification is a verdict. Programs read Badge, Outcome and Conformance;
// Headline is for people and its words may change.
type Verification struct {
	Summary struct {
		Headline string `json:"headline"`
		Next     string `json:"next"`
	} `json:"summary"`
	Status      Status    `json:"status"`
	Badge       Result    `json:"badge"`   // the worse of both lenses
	Decided     bool      `json:"decided"` // no new fact can change either lens
	Outcome     Lens      `json:"outcome"`
	Conformance Lens      `json:"conformance"`
	SettlesAt   time.Time `json:"settles_at"`
	SettledAt   time.Time `json:"settled_at"`
	Revision    int       `json:"revision"`
	Checks      []Check   `json:"checks"`
	Waits       []Wait    `json:"waits"`
	Notes       []Reason  `json:"notes"`
	Digest      string    `json:"digest"`
	// SelfAttested: whoever declared it could also have written the facts.
	SelfAttested bool `json:"self_attested"`
}

// IsSettled says that the verdict is final, but for later revisions.
func (v *Verification) IsSettled() bool { return v.Status == Settled || v.Status == Revised }

// Lens answers one question: did it happen (outcome), was it allowed
// (conformance).
type Lens struct {
	Result  Result   `json:"result"`
	Codes   []string `json:"codes"`
	Decided bool     `json:"decided"`
}

// Check is one rule of the contract applied to the action.
type Check struct {
	ID      string   `json:"id"`
	Kind    string   `json:"kind"`
	Lens    string   `json:"lens"`
	Result  Result   `json:"result"`
	Final   bool     `json:"final"`
	Reasons []Reason `json:"reasons"`
	Waits   []Wait   `json:"waits"`
}

// Reason is a code and what it is about.
type Reason struct {
	Code   string `json:"code"`
	Label  string `json:"label"`
	Next   string `json:"next"` // what to do next
	Source string `json:"source"`
	Fact   string `json:"fact"`
	About  string `json:"about"`
}

// Wait says which source has to be complete for which facts, up to when, and how
// far it is.
type Wait struct {
	Source    string    `json:"source"`
	Type      string    `json:"type"`
	Until     time.Time `json:"until"`
	Watermark time.Time `json:"watermark"`
}

// Warning is something odd about a declaration, which was kept all the same.
type Warning struct {
	Code    string `json:"code"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

// Allowance is what the plan includes in a period and what is recorded in it.
type Allowance struct {
	Plan     string `json:"plan"`
	Period   string `json:"period"`
	Recorded int64  `json:"recorded"`
	Included *int64 `json:"included"` // nil: no limit
	Over     bool   `json:"over"`
}

// Links lead further.
type Links struct {
	Self     string `json:"self"`
	Contract string `json:"contract"`
	Page     string `json:"page"` // for people
}
