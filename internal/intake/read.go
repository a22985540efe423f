package intake

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
)

// LimitedError says that a key that is limited to some actions may not read facts,
// which belong to no action.
type LimitedError struct{}

func (e *LimitedError) Error() string {
	return "a key that is limited to contracts, action types or agents may not read facts"
}

// Code is [access.Forbidden].
func (e *LimitedError) Code() access.Code { return access.Forbidden }

// MayRead says whether a principal may read facts: nil, an [access.ScopeError] or a
// [LimitedError].
func MayRead(p access.Principal) error {
	if err := p.Require(access.ActionsRead); err != nil {
		return err
	}
	if l := p.Limits(); len(l.Contracts)+len(l.ActionTypes)+len(l.Agents) > 0 {
		return &LimitedError{}
	}
	return nil
}

// List returns facts, the latest kept first. Errors: an [access.ScopeError], a
// [LimitedError], a [store.CursorError].
func (s *Service) List(ctx context.Context, p access.Principal, f store.FactFilter, page store.Page) (facts []store.Fact, next store.Cursor, err error) {
	if err := MayRead(p); err != nil {
		return nil, "", err
	}
	err = s.store.View(ctx, p.Workspace(), func(tx store.Tx) (err error) {
		facts, next, err = tx.ListFacts(f, page)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("list facts: %w", err)
	}
	return facts, next, nil
}

// Revisions returns all revisions of a fact in the order in which they were kept.
// Errors: an [access.ScopeError], a [LimitedError], [store.ErrNotFound].
func (s *Service) Revisions(ctx context.Context, p access.Principal, id evidence.Identity) (revisions []store.Fact, err error) {
	if err := MayRead(p); err != nil {
		return nil, err
	}
	err = s.store.View(ctx, p.Workspace(), func(tx store.Tx) (err error) {
		revisions, err = tx.FactRevisions(id)
		return err
	})
	switch {
	case err != nil:
		return nil, fmt.Errorf("read a fact: %w", err)
	case len(revisions) == 0:
		return nil, store.ErrNotFound
	}
	return revisions, nil
}
