package trail

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// Service reads the trails of a store's workspaces. It is safe for concurrent use.
type Service struct {
	store store.Store
	clock func() value.Instant
	plans *plan.Book
}

// New makes one. The clock is that of the store. plans say what workspaces have; nil
// gives all of them everything, without limits.
func New(s store.Store, clock func() value.Instant, plans *plan.Book) *Service {
	return &Service{store: s, clock: clock, plans: plans}
}

// Audit returns who did what, the latest first. Errors: those of
// [access.Principal.May], a [store.CursorError].
func (s *Service) Audit(ctx context.Context, p access.Principal, page store.Page) (entries []store.AuditEntry, next store.Cursor, err error) {
	if err := p.May(access.ReadAudit, s.clock()); err != nil {
		return nil, "", err
	}
	err = s.store.View(ctx, p.Workspace(), func(tx store.Tx) (err error) {
		entries, next, err = tx.ListAudit(page)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("read the audit: %w", err)
	}
	return entries, next, nil
}

// Usage is how many actions were recorded in a month, and the plan that they are held
// against: the one of now, whichever month it is.
type Usage struct {
	Plan     plan.Plan
	Period   string // the month, as in 2026-11
	Recorded int64
}

// Over says that what the plan includes is used up.
func (u *Usage) Over() bool { return u.Plan.Limited && u.Recorded > u.Plan.ActionsPerMonth }

// Usage counts the actions of a month, written as in 2026-11. Errors: an
// [access.ScopeError].
func (s *Service) Usage(ctx context.Context, p access.Principal, month string) (*Usage, error) {
	if err := p.Require(access.UsageRead); err != nil {
		return nil, err
	}
	u := &Usage{Period: month}
	err := s.store.View(ctx, p.Workspace(), func(tx store.Tx) error {
		w, err := tx.GetWorkspace()
		if err != nil {
			return err
		}
		u.Plan = s.plans.Of(w.Plan)
		u.Recorded, err = tx.DeclaredIn(month)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count what was recorded in %s: %w", month, err)
	}
	return u, nil
}
