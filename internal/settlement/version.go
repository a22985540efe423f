package settlement

import (
	"fmt"
	"slices"
	"sync"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
)

// keptVersions bounds how many contracts' versions are remembered.
const keptVersions = 1024

// Versions knows the versions of a contract that have governed up to one of them.
// These never change, so that each is read once.
type Versions struct {
	mu   sync.Mutex
	kept map[versionKey][]*contract.Contract
}

type versionKey struct {
	workspace access.WorkspaceID
	contract  string
	version   int
	digest    string
}

// NewVersions knows none yet.
func NewVersions() *Versions { return &Versions{kept: map[versionKey][]*contract.Contract{}} }

// Until are the compiled versions that governed before the given one did, and the
// given one first. Two versions with one text are one.
func (v *Versions) Until(tx store.Tx, governing *verdict.Governing) ([]*contract.Contract, error) {
	key := versionKey{tx.Workspace(), governing.Contract.ID, governing.Version, governing.Contract.Digest}
	v.mu.Lock()
	known := v.kept[key]
	v.mu.Unlock()
	if known != nil {
		return known, nil
	}
	versions, err := tx.ContractVersions(governing.Contract.ID, true)
	if err != nil {
		return nil, fmt.Errorf("read the versions of contract %s: %w", governing.Contract.ID, err)
	}
	i := slices.IndexFunc(versions, func(c store.ContractVersion) bool { return c.Version == governing.Version })
	if i < 0 {
		return nil, fmt.Errorf("version %d of contract %s is not there", governing.Version, governing.Contract.ID)
	}
	known = []*contract.Contract{governing.Contract}
	for j := range versions {
		other := &versions[j]
		if other.From == 0 || other.From > versions[i].From || slices.ContainsFunc(known, func(k *contract.Contract) bool { return k.Digest == other.Digest }) {
			continue
		}
		k, err := contract.Parse([]byte(other.Text))
		if err != nil {
			return nil, fmt.Errorf("compile version %d of contract %s: %w", other.Version, other.ContractID, err)
		}
		known = append(known, k)
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.kept) >= keptVersions {
		for other := range v.kept { // any of them: all can be read again
			delete(v.kept, other)
			break
		}
	}
	v.kept[key] = known
	return known, nil
}
