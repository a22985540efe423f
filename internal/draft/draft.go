package draft

import (
	"errors"
	"fmt"
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// What a proposal asks of the record.
const (
	enough  = 30                  // actions behind a limit
	horizon = 30 * 24 * time.Hour // how long after an action its effects are looked for
	skew    = 2 * time.Minute     // by how much an effect with a key may precede it
	day     = 24 * time.Hour      // what rolling limits look back

	most     = 80 // percent of the actions that a fact type must follow to be a step
	linking  = 50 // percent of the actions that a link rule must reach
	holding  = 95 // percent of the effects of which a condition or a count must be true
	quantile = 99 // percent of the actions that a limit lets through
)

// Input is what a proposal is made of.
type Input struct {
	// ActionType and ContractID choose the actions; both empty means all, or
	// those of Contract if there is one.
	ActionType string
	ContractID string
	// Contract is the contract that the actions have, and Verdicts what they
	// came to under it, by action. Then the settled PASS among them show what is
	// usual; without, every action whose effect was seen does.
	Contract *contract.Contract
	Verdicts map[string]verdict.Verdict

	Actions []verdict.Declaration // all revisions, in any order
	Facts   []evidence.Fact       // likewise
	Sources []evidence.Source
	At      value.Instant // what was known then counts
}

// Proposal is a contract to be read, and what it was made of.
type Proposal struct {
	YAML       string     `json:"yaml"` // the contract, with what stands behind each line as comments
	Statistics Statistics `json:"statistics"`
	Warnings   []Warning  `json:"warnings"` // what makes it weak
}

// Warning is a reason to trust a proposal less.
type Warning struct {
	Code string `json:"code"` // few_actions, no_watermark, subject_only and so on
	Text string `json:"text"` // the same in words
}

// Statistics are the counts behind a proposal.
type Statistics struct {
	Actions int              `json:"actions"`         // that were declared
	From    string           `json:"from"`            // when the first of them started
	To      string           `json:"to"`              // when the last of them started
	Seen    int              `json:"seen"`            // of these, actions to which a fact belongs
	Basis   string           `json:"basis"`           // what the steps and limits are made from: seen or passed
	Based   int              `json:"based"`           // how many actions that are
	Params  []ParamStatistic `json:"params"`          // by name
	Links   []LinkStatistic  `json:"links"`           // the rules that reach any action, the proposed ones first
	Effects []Effect         `json:"effects"`         // the types of facts that follow, by share
	Limits  []LimitStatistic `json:"limits,omitzero"` // the proposed ones
}

// ParamStatistic is what a parameter was.
type ParamStatistic struct {
	Name     string `json:"name"`
	Present  int    `json:"present"`       // in how many actions
	Distinct int    `json:"distinct"`      // how many different values it had
	Type     string `json:"type,omitzero"` // the proposed one; absent if it is left out
	Unit     string `json:"unit,omitzero"` // minor, for amounts in the smallest unit
}

// LinkStatistic is how many actions a link rule reaches.
type LinkStatistic struct {
	Rule     string `json:"rule"`     // as a contract writes it
	Actions  int    `json:"actions"`  // that have a fact by it
	Proposed bool   `json:"proposed"` // whether the contract has it
}

// Effect is a type of facts that follows actions.
type Effect struct {
	Type      string `json:"type"`           // of the facts
	Source    string `json:"source"`         // that tells of them
	Actions   int    `json:"actions"`        // of the basis, that have at least one
	Single    int    `json:"single"`         // of those, that have exactly one
	Most      int    `json:"most"`           // the most that one action has
	MedianUS  int64  `json:"median_us"`      // from the action's start to the first, the middle one
	HighUS    int64  `json:"high_us"`        // likewise, the 99th percentile
	LongestUS int64  `json:"longest_us"`     // likewise, the longest
	Orphans   int    `json:"orphans"`        // facts of the type that belong to none of the actions
	Proposed  bool   `json:"proposed"`       // as a step
	Where     string `json:"where,omitzero"` // the proposed condition
}

// LimitStatistic is what stands behind a limit.
type LimitStatistic struct {
	ID      string `json:"id"`      // of the check
	Actions int    `json:"actions"` // from which it is drawn
	Median  string `json:"median"`  // the middle one
	Limit   string `json:"limit"`   // the 99th percentile by nearest rank
	Highest string `json:"highest"` // the highest one
}

// NothingSeenError says that no contract can be drafted from the input.
type NothingSeenError struct {
	Actions int // how many were chosen
	Facts   int
}

func (e *NothingSeenError) Error() string {
	if e.Actions == 0 {
		return "no action was chosen, so there is nothing to draft from"
	}
	return fmt.Sprintf("none of the %d facts follows any of the %d actions, so there is nothing to draft from", e.Facts, e.Actions)
}

// ErrNotAContract says that a proposal came out as no contract, which is a fault
// of this package.
var ErrNotAContract = errors.New("the proposal is no contract")

// Propose makes a contract from what was recorded. An error is a
// [*NothingSeenError], or wraps [ErrNotAContract].
func Propose(in Input) (*Proposal, error) {
	s := newStudy(in)
	if len(s.actions) == 0 {
		return nil, &NothingSeenError{Facts: len(s.facts)}
	}
	s.readParams()
	s.link()
	s.pickBasis()
	if s.stats.Seen == 0 {
		return nil, &NothingSeenError{Actions: len(s.actions), Facts: len(s.facts)}
	}
	s.typeMoney()
	s.bind()
	s.effects()
	if len(s.steps) == 0 {
		s.warn("no_step", "no type of facts follows %d %% of the actions; the most frequent one stands there as a step", most)
		s.takeMostFrequent()
	}
	s.limits()
	s.judge()
	text, err := contract.Format([]byte(s.write()))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotAContract, err)
	}
	if _, err := contract.Parse(text); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotAContract, err)
	}
	return &Proposal{YAML: string(text), Statistics: s.stats, Warnings: s.warnings}, nil
}
