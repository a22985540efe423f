package trail

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
)

// Service reads the trails of a store's workspaces. It is safe for concurrent use.
type Service struct {
	store    store.Store
	clock    func() value.Instant
	included func(plan string) (n int64, ok bool)
}

// New makes one. The clock is that of the store. included says how many actions a
// month a plan includes, ok being false where there is no limit; nil limits none.
func New(s store.Store, clock func() value.Instant, included func(plan string) (n int64, ok bool)) *Service {
	if included == nil {
		included = func(string) (int64, bool) { return 0, false }
	}
	return &Service{store: s, clock: clock, included: included}
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

// Usage is how many actions were recorded in a month, and what the plan includes.
type Usage struct {
	Plan     string
	Period   string // the month, as in 2026-11
	Recorded int64
	Included int64 // of use if Limited
	Limited  bool
}

// Over says that what the plan includes is used up.
func (u *Usage) Over() bool { return u.Limited && u.Recorded > u.Included }

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
		u.Plan = w.Plan
		u.Recorded, err = tx.DeclaredIn(month)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("count what was recorded in %s: %w", month, err)
	}
	u.Included, u.Limited = s.included(u.Plan)
	return u, nil
}
