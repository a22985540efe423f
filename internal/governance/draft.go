package governance

import (
	"context"
	"fmt"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/draft"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// What a draft reads at most, the newest first.
const (
	draftedActions = 10_000
	draftedFacts   = 50_000
	pageOfFacts    = 1000
)

// DraftOrder says of which actions a contract shall be drafted.
type DraftOrder struct {
	// ActionType or ContractID chooses them; one of both is given.
	ActionType, ContractID string
	From, To               value.Instant // the start lies in [From, To); zero is open
}

// Drafted is a proposal, which is kept nowhere.
type Drafted struct {
	*draft.Proposal
	// Truncated says that there were more actions or facts than are read.
	Truncated bool
}

// Draft proposes a contract from what was recorded. Where the actions have a contract
// that governs, those of them that settled with PASS show what is usual; a limit
// wants thirty. Errors: [RequestError], [plan.RequiredError], [draft.NothingSeenError],
// those of [access.Principal.MayUseContract].
func (s *Service) Draft(ctx context.Context, p access.Principal, o DraftOrder) (*Drafted, error) {
	if (o.ActionType == "") == (o.ContractID == "") {
		return nil, &RequestError{Field: "action_type", Problem: "or contract_id is to be given, and not both"}
	}
	if err := p.Require(access.ContractsDraft); err != nil {
		return nil, err
	}
	if o.ContractID != "" {
		if err := visible(p, access.ContractsDraft, o.ContractID); err != nil {
			return nil, err
		}
	}
	var in draft.Input
	var truncated bool
	err := s.view(ctx, p, func(tx store.Tx) error {
		w, err := tx.GetWorkspace()
		if err != nil {
			return err
		}
		if err := s.plans.Require(w.Plan, plan.Drafts); err != nil {
			return err
		}
		in, truncated, err = s.history(ctx, tx, p, o)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("draft a contract: %w", err)
	}
	proposal, err := draft.Propose(in)
	if err != nil {
		return nil, fmt.Errorf("draft a contract: %w", err)
	}
	return &Drafted{Proposal: proposal, Truncated: truncated}, nil
}

// history reads the actions that were chosen, their verdicts, and the facts of the
// time in which they could have had effects.
func (s *Service) history(ctx context.Context, tx store.Tx, p access.Principal, o DraftOrder) (in draft.Input, truncated bool, err error) {
	in = draft.Input{ActionType: o.ActionType, ContractID: o.ContractID, At: tx.Now()}
	if o.ContractID != "" {
		governing, err := tx.ActiveContracts([]string{o.ContractID}, tx.Now())
		if err != nil {
			return in, false, fmt.Errorf("find the version that governs: %w", err)
		}
		if v := governing[o.ContractID]; v != nil {
			if in.Contract, err = s.stored(v); err != nil {
				return in, false, err
			}
			in.Verdicts = map[string]verdict.Verdict{}
		}
	}
	filter := store.Filter{ActionType: o.ActionType, ContractID: o.ContractID, From: o.From, To: o.To, Limits: p.Limits()}
	var first, last value.Instant
	for after, more := store.Cursor(""), true; more; {
		if err := ctx.Err(); err != nil {
			return in, false, err
		}
		listed, next, err := tx.ListActions(filter, store.Page{After: after, Limit: pageOfActions})
		if err != nil {
			return in, false, fmt.Errorf("list the actions: %w", err)
		}
		for i := range listed {
			d := &listed[i].Action.Declaration
			in.Actions = append(in.Actions, *d)
			if in.Verdicts != nil {
				in.Verdicts[d.ActionID] = listed[i].Verdict
			}
			if first == 0 || d.Start() < first {
				first = d.Start()
			}
			last = max(last, d.Start())
		}
		after, more = next, next != "" && len(in.Actions) < draftedActions
		truncated = next != "" && !more
	}
	if len(in.Actions) == 0 {
		return in, false, nil
	}
	var cut bool
	if in.Facts, cut, err = factsBetween(ctx, tx, first.Add(-2*24*time.Hour), last.Add(31*24*time.Hour)); err != nil {
		return in, false, err
	}
	states, err := tx.SourceStates()
	if err != nil {
		return in, false, fmt.Errorf("read the sources: %w", err)
	}
	for i := range states {
		in.Sources = append(in.Sources, states[i].Source)
	}
	return in, truncated || cut, nil
}

func factsBetween(ctx context.Context, tx store.Tx, from, to value.Instant) (facts []evidence.Fact, truncated bool, err error) {
	filter := store.FactFilter{From: from, To: to}
	for after := store.Cursor(""); ; {
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		page, next, err := tx.ListFacts(filter, store.Page{After: after, Limit: pageOfFacts})
		if err != nil {
			return nil, false, fmt.Errorf("list the facts: %w", err)
		}
		for i := range page {
			facts = append(facts, page[i].Fact)
		}
		if next == "" {
			return facts, false, nil
		}
		if len(facts) >= draftedFacts {
			return facts, true, nil
		}
		after = next
	}
}
