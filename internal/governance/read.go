package governance

import (
	"context"
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/explanation"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/weakening"
)

// Summary is a contract in a list.
type Summary struct {
	ContractID string
	Active     *store.ContractVersion // without its text; nil if none is
	Latest     store.ContractVersion  // without its text
	Versions   int
}

// List returns the contracts that the principal may see, by id.
func (s *Service) List(ctx context.Context, p access.Principal) ([]Summary, error) {
	if err := p.Require(access.ContractsRead); err != nil {
		return nil, err
	}
	var list []Summary
	err := s.view(ctx, p, func(tx store.Tx) error {
		list = nil
		all, err := tx.ContractVersions("", false)
		if err != nil {
			return err
		}
		for i := range all {
			v := all[i]
			if visible(p, access.ContractsRead, v.ContractID) != nil {
				continue
			}
			if len(list) == 0 || list[len(list)-1].ContractID != v.ContractID {
				list = append(list, Summary{ContractID: v.ContractID})
			}
			last := &list[len(list)-1]
			last.Latest, last.Versions = v, last.Versions+1
			if active(&v, tx.Now()) {
				last.Active = &v
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("list the contracts: %w", err)
	}
	return list, nil
}

// Versions returns the versions of a contract without their texts, the first first.
// Errors: [store.ErrNotFound], those of [access.Principal.MayUseContract].
func (s *Service) Versions(ctx context.Context, p access.Principal, contractID string) ([]store.ContractVersion, error) {
	if err := visible(p, access.ContractsRead, contractID); err != nil {
		return nil, err
	}
	var versions []store.ContractVersion
	err := s.view(ctx, p, func(tx store.Tx) (err error) {
		versions, err = tx.ContractVersions(contractID, false)
		return err
	})
	if err == nil && len(versions) == 0 {
		err = store.ErrNotFound
	}
	if err != nil {
		return nil, fmt.Errorf("list the versions of contract %s: %w", contractID, err)
	}
	return versions, nil
}

// Read is a version with what it comes to.
type Read struct {
	Version  store.ContractVersion
	Contract *contract.Contract
	Text     explanation.Text
	Active   bool
}

// Get returns a version; 0 stands for the active one, or the latest where none is.
// Errors: [store.ErrNotFound], those of [access.Principal.MayUseContract].
func (s *Service) Get(ctx context.Context, p access.Principal, contractID string, version int) (*Read, error) {
	if err := visible(p, access.ContractsRead, contractID); err != nil {
		return nil, err
	}
	var read *Read
	err := s.view(ctx, p, func(tx store.Tx) error {
		v, err := s.version(tx, contractID, version)
		if err != nil {
			return err
		}
		k, err := s.stored(v)
		if err != nil {
			return err
		}
		read = &Read{Version: *v, Contract: k, Text: explanation.Explain(k), Active: active(v, tx.Now())}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read contract %s: %w", contractID, err)
	}
	return read, nil
}

// version finds a version by its number; 0 stands for the active or else the latest.
func (s *Service) version(tx store.Tx, contractID string, number int) (*store.ContractVersion, error) {
	if number != 0 {
		return tx.ContractVersion(contractID, number)
	}
	versions, err := tx.ContractVersions(contractID, false)
	if err != nil {
		return nil, err
	}
	if len(versions) == 0 {
		return nil, store.ErrNotFound
	}
	number = versions[len(versions)-1].Version
	for i := range versions {
		if active(&versions[i], tx.Now()) {
			number = versions[i].Version
		}
	}
	return tx.ContractVersion(contractID, number)
}

func active(v *store.ContractVersion, at value.Instant) bool {
	return v.From != 0 && v.From <= at && (v.Until == 0 || at < v.Until)
}

// Difference is what a version lets through that another did not.
type Difference struct {
	From, To store.ContractVersion
	Changes  []weakening.Change
	Weaker   bool // or it cannot be shown that it is not
}

// Diff compares two versions of a contract. Errors: as of [Service.Get].
func (s *Service) Diff(ctx context.Context, p access.Principal, contractID string, from, to int) (*Difference, error) {
	if err := visible(p, access.ContractsRead, contractID); err != nil {
		return nil, err
	}
	var diff *Difference
	err := s.view(ctx, p, func(tx store.Tx) error {
		old, err := s.version(tx, contractID, from)
		if err != nil {
			return err
		}
		next, err := s.version(tx, contractID, to)
		if err != nil {
			return err
		}
		before, err := s.stored(old)
		if err != nil {
			return err
		}
		after, err := s.stored(next)
		if err != nil {
			return err
		}
		changes := weakening.Compare(before, after)
		diff = &Difference{From: *old, To: *next, Changes: changes, Weaker: weakening.Suspect(changes)}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("compare versions %d and %d of contract %s: %w", from, to, contractID, err)
	}
	return diff, nil
}
