package account

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/store"
)

// Workspace is the principal's workspace with its settings.
func (s *Service) Workspace(ctx context.Context, p access.Principal) (*store.Workspace, error) {
	var w *store.Workspace
	err := s.view(ctx, p, func(tx store.Tx) (err error) {
		w, err = tx.GetWorkspace()
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the workspace: %w", err)
	}
	return w, nil
}

// Settings are those that are to change; nil stays as it is.
type Settings struct {
	Name         *string
	Development  *bool // allows keys that attest to themselves
	SecondMember *bool // wants two members behind a weaker contract
}

// ChangeSettings changes settings of the workspace. Switching development off ends
// the keys that it allowed, so that switching it on again brings none of them back.
// Errors: [RequestError], those of [access.Principal.May].
func (s *Service) ChangeSettings(ctx context.Context, p access.Principal, change Settings) (*store.Workspace, error) {
	if change.Name != nil {
		if err := checkName("name", *change.Name); err != nil {
			return nil, err
		}
	}
	var w store.Workspace
	err := s.do(ctx, p, func(tx store.Tx) error {
		// A key that attests to itself must not be made while they are ended.
		if err := tx.LockMembers(); err != nil {
			return err
		}
		if err := p.May(access.ChangeSettings, tx.Now()); err != nil {
			return err
		}
		before, err := tx.GetWorkspace()
		if err != nil {
			return err
		}
		w = *before
		changed := audit.Metadata{}
		if change.Name != nil && *change.Name != w.Name {
			w.Name, changed["name"] = *change.Name, *change.Name
		}
		if change.Development != nil && *change.Development != w.Development {
			w.Development, changed["development"] = *change.Development, *change.Development
		}
		if change.SecondMember != nil && *change.SecondMember != w.SecondMember {
			w.SecondMember, changed["second_member"] = *change.SecondMember, *change.SecondMember
		}
		if len(changed) == 0 {
			return nil
		}
		tx.PutWorkspace(w)
		told(tx, p.Actor(), "workspace.changed", string(w.ID), changed)
		if before.Development && !w.Development {
			return s.endSelfAttesting(tx, p.Actor())
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("change the settings: %w", err)
	}
	s.keys.forget(p.Workspace())
	return &w, nil
}

func (s *Service) endSelfAttesting(tx store.Tx, by access.Actor) error {
	keys, err := tx.ListKeys()
	if err != nil {
		return err
	}
	for _, k := range keys {
		if k.RevokedAt == 0 && k.Scopes.Has(access.ActionsRecord) && k.Scopes.Has(access.FactsWrite) {
			s.revoke(tx, by, k, "development was switched off")
		}
	}
	return nil
}

// Delete removes the workspace and everything in it, for good. The confirmation is
// its name. Errors: [RequestError], those of [access.Principal.May].
func (s *Service) Delete(ctx context.Context, p access.Principal, confirmation string) error {
	if err := p.May(access.DeleteWorkspace, s.clock()); err != nil {
		return fmt.Errorf("delete the workspace: %w", err)
	}
	w, err := s.Workspace(ctx, p)
	if err != nil {
		return err
	}
	if confirmation != w.Name {
		return &RequestError{Field: "confirm", Problem: fmt.Sprintf("is to be the name of the workspace, %q", w.Name)}
	}
	if err := s.store.Directory().DeleteWorkspace(ctx, p.Workspace()); err != nil {
		return fmt.Errorf("delete the workspace: %w", err)
	}
	s.keys.forget(p.Workspace())
	return nil
}
