package governance

import (
	"context"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/store"
)

// Saved is a version as it is kept.
type Saved struct {
	Version  store.ContractVersion
	Contract *contract.Contract
	New      bool // false: the latest version has this very text
	// Path is where a member looks at it, below the server's address.
	Path string
}

// Save keeps a contract as the next version of its id, a draft that governs nothing.
// The text of the latest version once more is that version, unless its time to
// govern is over. Errors: [InvalidError], [RequestError], those of
// [access.Principal.May].
func (s *Service) Save(ctx context.Context, p access.Principal, yaml []byte, note string) (*Saved, error) {
	return s.save(ctx, p, access.SaveDraft, "contract.saved", yaml, note)
}

// Propose is [Service.Save] for whoever may only leave a draft for a member to look
// at, such as a build. No member stands behind it.
func (s *Service) Propose(ctx context.Context, p access.Principal, yaml []byte, note string) (*Saved, error) {
	return s.save(ctx, p, access.ProposeContract, "contract.proposed", yaml, note)
}

func (s *Service) save(ctx context.Context, p access.Principal, perm access.Permission, event string, yaml []byte, note string) (*Saved, error) {
	if len(note) > maxNoteBytes {
		return nil, &RequestError{Field: "note", Problem: fmt.Sprintf("has more than %d bytes", maxNoteBytes)}
	}
	k, err := s.compile(yaml)
	if err != nil {
		return nil, err
	}
	var saved *Saved
	err = s.do(ctx, p, func(tx store.Tx) error {
		if err := p.May(perm, tx.Now()); err != nil {
			return err
		}
		if p.Kind() == access.APIKey {
			if err := p.MayUseContract(access.ContractsDraft, k.ID); err != nil {
				return err
			}
		}
		latest, err := latestOf(tx, k.ID)
		if err != nil {
			return err
		}
		if latest.Digest == k.Digest && latest.Until == 0 {
			whole, err := tx.ContractVersion(k.ID, latest.Version)
			if err != nil {
				return fmt.Errorf("read the latest version: %w", err)
			}
			saved = &Saved{Version: *whole, Contract: k}
			return nil
		}
		next := newVersion(tx, p, k, latest.Version+1, note)
		tx.AddContractVersion(next)
		tx.Audit(audit.Entry(p.Actor(), tx.Now(), event, VersionName(k.ID, next.Version), audit.Metadata{
			"contract_id": k.ID, "version": next.Version, "digest": k.Digest, "note": note,
		}))
		saved = &Saved{Version: *next, Contract: k, New: true}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("save contract %s: %w", k.ID, err)
	}
	saved.Path = fmt.Sprintf("/contracts/%s/versions/%d", saved.Version.ContractID, saved.Version.Version)
	return saved, nil
}

func newVersion(tx store.Tx, p access.Principal, k *contract.Contract, number int, note string) *store.ContractVersion {
	return &store.ContractVersion{
		ContractID: k.ID, Version: number, Digest: k.Digest, Text: k.Text, Note: note,
		SavedAt: tx.Now(), SavedBy: p.Actor(), Saver: p.Member(),
	}
}

// latestOf is the latest version without its text, and the zero version where there
// is none.
func latestOf(tx store.Tx, contractID string) (store.ContractVersion, error) {
	versions, err := tx.ContractVersions(contractID, false)
	if err != nil {
		return store.ContractVersion{}, fmt.Errorf("read the versions: %w", err)
	}
	if len(versions) == 0 {
		return store.ContractVersion{}, nil
	}
	return versions[len(versions)-1], nil
}

// Approve puts the member behind a version that has not governed yet. Approving
// twice is once. Errors: [store.ErrNotFound], [StateError], those of
// [access.Principal.May].
func (s *Service) Approve(ctx context.Context, p access.Principal, contractID string, version int) (*store.ContractVersion, error) {
	var approved *store.ContractVersion
	err := s.do(ctx, p, func(tx store.Tx) error {
		// Whoever may save a version, and so stand behind it, may also say that
		// they stand behind another's.
		if err := p.May(access.SaveDraft, tx.Now()); err != nil {
			return err
		}
		v, err := tx.ContractVersion(contractID, version)
		if err != nil {
			return err
		}
		if v.From != 0 {
			return &StateError{Problem: fmt.Sprintf("version %d has governed since %s; there is nothing to approve any more", version, v.From)}
		}
		next := *v
		approved = &next
		if slices.Contains(v.Approvers, p.Member()) {
			return nil
		}
		approved.Approvers = append(slices.Clone(v.Approvers), p.Member())
		tx.ApproveContract(contractID, version, p.Member())
		tx.Audit(audit.Entry(p.Actor(), tx.Now(), "contract.approved", VersionName(contractID, version), audit.Metadata{
			"contract_id": contractID, "version": version, "digest": v.Digest,
		}))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("approve version %d of contract %s: %w", version, contractID, err)
	}
	return approved, nil
}
