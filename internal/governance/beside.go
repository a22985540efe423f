package governance

import (
	"fmt"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/weakening"
)

// beside holds a contract against the others that govern live, or did: to retire a
// strict one makes no way for another under a new name. Only what it was for while it
// governed until now is nothing new.
func (s *Service) beside(tx store.Tx, p access.Principal, k *contract.Contract, last *store.ContractVersion) ([]weakening.Change, error) {
	var before *contract.Contract
	if last != nil && active(last, tx.Now()) {
		var err error
		if before, err = s.text(tx, last); err != nil {
			return nil, err
		}
	}
	all, err := tx.ContractVersions("", false)
	if err != nil {
		return nil, fmt.Errorf("read the contracts: %w", err)
	}
	var others []*store.ContractVersion // the last one of each, by id
	for i := range all {
		v := &all[i]
		if v.ContractID == k.ID || v.From == 0 || v.Mode != verdict.Live {
			continue
		}
		if n := len(others); n > 0 && others[n-1].ContractID == v.ContractID {
			if later(v, others[n-1]) {
				others[n-1] = v
			}
			continue
		}
		others = append(others, v)
	}
	var changes []weakening.Change
	for _, v := range others {
		other, err := s.text(tx, v)
		if err != nil {
			return nil, err
		}
		name := v.ContractID
		if visible(p, access.ContractsRead, name) != nil {
			name = "another contract"
		}
		if change, is := weakening.Beside(before, k, other, name); is {
			changes = append(changes, change)
		}
	}
	return changes, nil
}

// text is the contract of a version that was read without it.
func (s *Service) text(tx store.Tx, v *store.ContractVersion) (*contract.Contract, error) {
	whole, err := tx.ContractVersion(v.ContractID, v.Version)
	if err != nil {
		return nil, fmt.Errorf("read version %d of contract %s: %w", v.Version, v.ContractID, err)
	}
	return s.stored(whole)
}
