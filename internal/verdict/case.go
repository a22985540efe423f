package verdict

import (
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

// Engine is the number of the rules that package engine follows. Any change of what
// a verdict means raises it, so that a stored verdict can be checked with the
// rules that made it.
const Engine = 1

// Case is everything that a verdict depends on, and nothing else: two equal
// cases have equal verdicts, whoever evaluates them, when and where.
type Case struct {
	Engine int           `json:"engine"`
	At     value.Instant `json:"at"` // what was known then is what counts

	// Declarations are the action's revisions in the order of their receipt.
	// There is at least one, and the first governs.
	Declarations []Declaration `json:"declarations"`
	// Governing is the contract's version that was active when the first
	// declaration was received, or nil if there was none.
	Governing *Governing `json:"governing,omitzero"`

	// Facts are all revisions of all facts that link to the action, to one of
	// its rivals, or have its subject.
	Facts   []evidence.Fact   `json:"facts,omitzero"`
	Sources []evidence.Source `json:"sources,omitzero"`
	// Rivals are the other actions of the contract that link to any of the
	// same facts, to theirs, and so on, each by its first declaration.
	Rivals []Declaration `json:"rivals,omitzero"`
	// History has an entry for each rolling limit of the contract.
	History []History `json:"history,omitzero"`
	// Shared are the facts that back an action of another contract.
	Shared []Shared `json:"shared,omitzero"`

	Compensators []Compensator `json:"compensators,omitzero"` // of this action
	Compensates  *Target       `json:"compensates,omitzero"`  // what this action undoes, if that is known

	// Previous is the settled verdict that this one may revise.
	Previous *Previous `json:"previous,omitzero"`
}

// Declaration is one revision of what an agent said it was about to do.
type Declaration struct {
	ActionID        string                 `json:"action_id"`
	ContractID      string                 `json:"contract_id,omitzero"`
	ContractVersion int                    `json:"contract_version,omitzero"`
	ActionType      string                 `json:"action_type,omitzero"`
	SubjectID       string                 `json:"subject_id,omitzero"`
	SubjectKind     string                 `json:"subject_kind,omitzero"`
	AgentID         string                 `json:"agent_id,omitzero"`
	WorkflowID      string                 `json:"workflow_id,omitzero"`
	RequestedAt     value.Instant          `json:"requested_at,omitzero"` // by the agent's clock
	ReceivedAt      value.Instant          `json:"received_at"`           // by ours
	Params          map[string]value.Value `json:"params,omitzero"`
	Channel         string                 `json:"channel,omitzero"`
	Compensates     string                 `json:"compensates,omitzero"`
	// ProvedAt is when a witness had seen a checkpoint of a journal that holds
	// the declaration, if a proof of that came with it and was checked.
	ProvedAt value.Instant `json:"proved_at,omitzero"`
}

// Start is where all windows of the action begin: the earlier of when it was
// requested and when it was received.
func (d *Declaration) Start() value.Instant {
	if d.RequestedAt != 0 && d.RequestedAt < d.ReceivedAt {
		return d.RequestedAt
	}
	return d.ReceivedAt
}

// Mode says whether a contract's verdicts count or are tried out.
type Mode string

// The modes of an active contract.
const (
	Live   Mode = "live"
	Shadow Mode = "shadow"
)

// Governing is the version of a contract that rules an action.
type Governing struct {
	Contract *contract.Contract
	Version  int
	Mode     Mode
}

// History is what the other actions within a rolling limit's window come to:
// first declarations of the contract whose start lies in (From, To].
type History struct {
	Limit    string         `json:"limit"`
	From     value.Instant  `json:"from"`
	To       value.Instant  `json:"to"`
	Count    int            `json:"count"`
	Totals   []money.Amount `json:"totals,omitzero"`   // one per currency
	Unvalued int            `json:"unvalued,omitzero"` // declarations without a readable amount
	// CompleteTo says up to when all declarations are in it.
	CompleteTo value.Instant `json:"complete_to"`
}

// Shared is a fact that also backs an action of another contract.
type Shared struct {
	Source     string `json:"source"`
	Type       string `json:"type"`
	ExternalID string `json:"external_id"`
	ActionID   string `json:"action_id"`
	ContractID string `json:"contract_id"`
}

// Compensator is an action that says it undoes another.
type Compensator struct {
	ActionID   string        `json:"action_id"`
	ContractID string        `json:"contract_id"`
	DeclaredAt value.Instant `json:"declared_at"`
	Status     Status        `json:"status"`
	Outcome    Result        `json:"outcome"`
	Verified   *money.Amount `json:"verified,omitzero"`
}

// Target is the action that this one says it undoes.
type Target struct {
	ActionID string `json:"action_id"`
	// By is the contract whose actions may undo it; empty if it names none.
	By string `json:"by,omitzero"`
	// Chain are the actions that the target itself undoes, nearest first.
	Chain []string `json:"chain,omitzero"`
	// Earlier are the target's other compensators, declared before this one.
	Earlier []Compensator `json:"earlier,omitzero"`
}

// Previous is what of a settled verdict decides whether a new one revises it.
type Previous struct {
	Digest      string          `json:"digest"`
	Revision    int             `json:"revision"`
	SettledAt   value.Instant   `json:"settled_at"`
	Outcome     Result          `json:"outcome"`
	Conformance Result          `json:"conformance"`
	Checks      []PreviousCheck `json:"checks,omitzero"`
	// Sources are its sources with their watermarks then: what was covered when
	// it settled stays covered.
	Sources []evidence.Source `json:"sources,omitzero"`
}

// PreviousCheck is one check of a settled verdict.
type PreviousCheck struct {
	ID     string `json:"id"`
	Result Result `json:"result"`
	Codes  []Code `json:"codes"`
}
