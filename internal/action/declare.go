package action

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

// Recorded says what became of a declaration.
type Recorded string

// What may become of one.
const (
	New      Recorded = "new"
	Replayed Recorded = "replayed" // it was there already
	Changed  Recorded = "changed"  // its action was, with another content
)

// Result is what became of a declaration, and how its action stands now.
type Result struct {
	Recorded Recorded
	Action   store.Action // with its first declaration
	Revision int          // of the declaration: the new one, or the one that was there
	Verdict  verdict.Verdict
	Warnings []Warning
	// Allowance is as of the end of the unit, which other declarations may share.
	Allowance Allowance
}

// order is a declaration with who makes it.
type order struct {
	principal   access.Principal
	declaration *Declaration
}

// outcome is what became of an order: a result or an error of its own.
type outcome struct {
	result Result
	err    error
}

// faultError says that an action could not be evaluated: a fault of ours that
// nobody who asked can do anything about.
type faultError struct {
	actionID string
	err      error
}

func (e *faultError) Error() string {
	return fmt.Sprintf("make a verdict on action %q: %v", e.actionID, e.err)
}
func (e *faultError) Unwrap() error { return e.err }

func isFault(err error) bool { return errors.As(err, new(*faultError)) }

// Declare records one declaration, in a unit of work that it may share with others.
// On return without an error it is durable with its verdict. Errors: an
// [access.ScopeError], an [access.LimitError], a [ConflictError], and those of
// [store.Store].
func (s *Service) Declare(ctx context.Context, p access.Principal, d *Declaration) (*Result, error) {
	if err := p.MayRecord(targetOf(&d.Declaration)); err != nil {
		return nil, err
	}
	result, err := s.share(ctx, p, d)
	if err != nil {
		return nil, err
	}
	return &result, nil
}

// DeclareAll records declarations in one unit, all or none, in their order. Errors:
// a [RefusedError] with each that may not be made, an [access.ScopeError], and those
// of [store.Store].
func (s *Service) DeclareAll(ctx context.Context, p access.Principal, all []*Declaration) ([]Result, error) {
	if err := p.Require(access.ActionsRecord); err != nil {
		return nil, err
	}
	orders := make([]order, len(all))
	refused := &RefusedError{Of: len(all)}
	for i, d := range all {
		orders[i] = order{principal: p, declaration: d}
		if err := p.MayRecord(targetOf(&d.Declaration)); err != nil {
			refused.Refusals = append(refused.Refusals, Refusal{Index: i, Err: err})
		}
	}
	if len(refused.Refusals) > 0 {
		return nil, refused
	}
	var results []Result
	err := s.store.Do(ctx, p.Workspace(), func(tx store.Tx) error {
		outcomes, err := s.declare(tx, orders)
		if err != nil {
			return err
		}
		results, refused.Refusals = make([]Result, len(outcomes)), nil
		for i, o := range outcomes {
			if o.err != nil {
				refused.Refusals = append(refused.Refusals, Refusal{Index: i, Err: o.err})
			}
			results[i] = o.result
		}
		if len(refused.Refusals) > 0 {
			return refused
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return results, nil
}

// record records orders of several requests in one unit. What one of them may not do
// is its own error.
func (s *Service) record(ctx context.Context, w access.WorkspaceID, orders []order) (outcomes []outcome, err error) {
	err = s.store.Do(ctx, w, func(tx store.Tx) (err error) {
		outcomes, err = s.declare(tx, orders)
		return err
	})
	return outcomes, err
}

// targetOf is what of a declaration a key can be limited by.
func targetOf(d *verdict.Declaration) access.Target {
	return access.Target{ContractID: d.ContractID, ActionType: d.ActionType, AgentID: d.AgentID}
}
