package governance

import (
	"context"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/audit"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/weakening"
)

// Activated is a version that governs, and what that changed.
type Activated struct {
	Version store.ContractVersion
	// Changes are those against the version that governed, or that last governed.
	Changes []weakening.Change
	Weaker  bool // than any version that an activation is held against
	New     bool // false: it governed in this mode already
}

// Activate makes a version govern what is received from now on, in a mode. Nothing
// that was received before is judged anew. A version that has governed before, or
// governs in the other mode, comes back as a new version with its text, since each
// governs for one span of time.
//
// A version is held against the one that governs and against the last one that
// governed live: neither a pause nor a trial in shadow makes way for a weaker one
// that nobody else has seen.
//
// Errors: [store.ErrNotFound], [StateError], [RequestError], those of
// [access.Principal.MayActivate].
func (s *Service) Activate(ctx context.Context, p access.Principal, contractID string, version int, mode verdict.Mode) (*Activated, error) {
	if mode != verdict.Live && mode != verdict.Shadow {
		return nil, &RequestError{Field: "mode", Problem: "is live or shadow"}
	}
	fail := func(err error) (*Activated, error) {
		return nil, fmt.Errorf("activate version %d of contract %s: %w", version, contractID, err)
	}
	// What limits add up and what links find has to be there before the version
	// governs. What is declared meanwhile is brought up afterwards.
	var plan *traces
	err := s.view(ctx, p, func(tx store.Tx) error {
		if err := p.May(access.ActivateContract, tx.Now()); err != nil {
			return err
		}
		v, err := tx.ContractVersion(contractID, version)
		if err != nil {
			return err
		}
		k, err := s.stored(v)
		if err != nil {
			return err
		}
		plan, err = s.missing(tx, k, v)
		return err
	})
	if err != nil {
		return fail(err)
	}
	if err := s.backfill(ctx, p.Workspace(), plan); err != nil {
		return fail(err)
	}
	var done *Activated
	err = s.do(ctx, p, func(tx store.Tx) (err error) {
		// Whoever declares now either has ended, and is brought up below, or knows the version.
		tx.Turn(store.Alone)
		done, err = s.activate(tx, p, contractID, version, mode)
		return err
	})
	if err != nil {
		return fail(err)
	}
	if err := s.backfill(ctx, p.Workspace(), plan); err != nil {
		return fail(fmt.Errorf("it governs, but its limits are not added up; activate it again: %w", err))
	}
	if err := s.wakeGoverned(ctx, p.Workspace(), plan, done.Version.Version); err != nil {
		return fail(fmt.Errorf("it governs, but what was declared in this moment is not looked at again; activate it again: %w", err))
	}
	return done, nil
}

func (s *Service) activate(tx store.Tx, p access.Principal, contractID string, version int, mode verdict.Mode) (*Activated, error) {
	v, err := tx.ContractVersion(contractID, version)
	if err != nil {
		return nil, err
	}
	k, err := s.stored(v)
	if err != nil {
		return nil, err
	}
	versions, err := tx.ContractVersions(contractID, false)
	if err != nil {
		return nil, fmt.Errorf("read the versions: %w", err)
	}
	done := &Activated{}
	if done.Changes, done.Weaker, err = s.against(tx, p, k, versions); err != nil {
		return nil, err
	}
	backers, err := backersOf(tx, v)
	if err != nil {
		return nil, err
	}
	if err := p.MayActivate(access.Activation{Weaker: done.Weaker, Backers: backers}, tx.Now()); err != nil {
		return nil, err
	}
	if active(v, tx.Now()) && v.Mode == mode {
		done.Version = *v
		return done, nil
	}
	next := *v
	if v.From != 0 {
		next = *newVersion(tx, p, k, versions[len(versions)-1].Version+1, fmt.Sprintf("as version %d", v.Version))
		tx.AddContractVersion(&next)
		// Who stood behind the text stands behind it still.
		for _, m := range backers {
			if m != p.Member() && !slices.Contains(next.Approvers, m) {
				next.Approvers = append(slices.Clone(next.Approvers), m)
				tx.ApproveContract(contractID, next.Version, m)
			}
		}
	}
	next.Mode, next.From, next.Until, next.ActivatedBy = mode, tx.Now(), 0, p.Actor()
	tx.ActivateContract(&next)
	tx.AddLeaf(ledger.Activation(&next))
	tx.Audit(audit.Entry(p.Actor(), tx.Now(), "contract.activated", VersionName(contractID, next.Version), audit.Metadata{
		"contract_id": contractID, "version": next.Version, "digest": next.Digest, "mode": string(mode),
		"weaker": done.Weaker, "changes": told(done.Changes), "text_of_version": v.Version,
	}))
	done.Version, done.New = next, true
	return done, nil
}

// backersOf are the members who stand behind a version. Who has left does not any more.
func backersOf(tx store.Tx, v *store.ContractVersion) ([]access.MemberID, error) {
	members, err := tx.ListMembers()
	if err != nil {
		return nil, fmt.Errorf("read the members: %w", err)
	}
	var backers []access.MemberID
	for i := range members {
		if id := members[i].Member; id == v.Saver || slices.Contains(v.Approvers, id) {
			backers = append(backers, id)
		}
	}
	return backers, nil
}

// against compares a contract with the version that governs, or governed last, with
// the last one that governed live, and with the other contracts. Of those that the
// principal may not see no name is told.
func (s *Service) against(tx store.Tx, p access.Principal, k *contract.Contract, versions []store.ContractVersion) (changes []weakening.Change, weaker bool, err error) {
	var last, live *store.ContractVersion
	for i := range versions {
		v := &versions[i]
		if v.From == 0 {
			continue
		}
		if last == nil || later(v, last) {
			last = v
		}
		if v.Mode == verdict.Live && (live == nil || later(v, live)) {
			live = v
		}
	}
	if last != nil {
		if changes, err = s.changes(tx, k, last); err != nil {
			return nil, false, err
		}
		weaker = weakening.Suspect(changes)
	}
	if live != nil && live != last {
		more, err := s.changes(tx, k, live)
		if err != nil {
			return nil, false, err
		}
		weaker = weaker || weakening.Suspect(more)
	}
	beside, err := s.beside(tx, p, k, last)
	if err != nil {
		return nil, false, err
	}
	return append(changes, beside...), weaker || len(beside) > 0, nil
}

// later says whether a version began to govern after another one.
func later(v, than *store.ContractVersion) bool {
	return v.From > than.From || v.From == than.From && v.Version > than.Version
}

// changes compares a contract with a version that was kept.
func (s *Service) changes(tx store.Tx, k *contract.Contract, v *store.ContractVersion) ([]weakening.Change, error) {
	before, err := s.text(tx, v)
	if err != nil {
		return nil, err
	}
	return weakening.Compare(before, k), nil
}

// told are the changes that an audit names: those that somebody should have looked
// at, at most a hundred.
func told(changes []weakening.Change) []any {
	list := []any{}
	for _, c := range changes {
		if c.Suspect() && len(list) < 100 {
			list = append(list, map[string]any{"what": string(c.What), "where": c.Where, "direction": string(c.Direction)})
		}
	}
	return list
}

// Retire ends the version that governs. What is declared from now on under the
// contract's name is recorded and governed by nothing. Errors: [store.ErrNotFound]
// where none governs, those of [access.Principal.May].
func (s *Service) Retire(ctx context.Context, p access.Principal, contractID string) (*store.ContractVersion, error) {
	var ended store.ContractVersion
	err := s.do(ctx, p, func(tx store.Tx) error {
		if err := p.May(access.ActivateContract, tx.Now()); err != nil {
			return err
		}
		governing, err := tx.ActiveContracts([]string{contractID}, tx.Now())
		if err != nil {
			return fmt.Errorf("find the version that governs: %w", err)
		}
		v := governing[contractID]
		if v == nil {
			return store.ErrNotFound
		}
		ended = *v
		ended.Until = tx.Now()
		tx.RetireContract(contractID, ended.Until, p.Actor())
		tx.AddLeaf(ledger.Retirement(&ended))
		tx.Audit(audit.Entry(p.Actor(), tx.Now(), "contract.retired", VersionName(contractID, v.Version), audit.Metadata{
			"contract_id": contractID, "version": v.Version, "digest": v.Digest,
		}))
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("retire contract %s: %w", contractID, err)
	}
	return &ended, nil
}
