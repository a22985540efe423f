package governance

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

const (
	// pageOfActions is how many are brought up at once. Whoever declares waits meanwhile.
	pageOfActions = 200
	// slack covers the coarsest unit of a source's times on both sides, and clocks.
	slack = 3 * 24 * time.Hour
)

// traces are what a version asks of earlier actions that no version before it asked
// for: the keys of rolling limits, and parameters by which facts link.
type traces struct {
	contract *contract.Contract
	limits   map[string]bool
	params   map[string]bool
	since    value.Instant // earlier actions bear on nothing that the version will govern
}

func (t *traces) empty() bool { return t == nil || len(t.limits) == 0 && len(t.params) == 0 }

// missing says what actions that other versions governed may not have.
func (s *Service) missing(tx store.Tx, k *contract.Contract, v *store.ContractVersion) (*traces, error) {
	versions, err := tx.ContractVersions(k.ID, false)
	if err != nil {
		return nil, fmt.Errorf("read the versions: %w", err)
	}
	t := &traces{contract: k, limits: map[string]bool{}, params: map[string]bool{}, since: tx.Now().Add(-reach(k))}
	for i := range versions {
		other := &versions[i]
		// What no version governed counts nowhere, and neither does what is too old.
		if other.From == 0 || other.Version == v.Version || other.Until != 0 && other.Until < t.since {
			continue
		}
		whole, err := tx.ContractVersion(k.ID, other.Version)
		if err != nil {
			return nil, fmt.Errorf("read version %d: %w", other.Version, err)
		}
		had, err := s.stored(whole)
		if err != nil {
			return nil, err
		}
		addLacking(t.limits, limitKeys(k), limitKeys(had))
		addLacking(t.params, linkParams(k), linkParams(had))
	}
	return t, nil
}

// addLacking adds the names that are wanted and were not there.
func addLacking(to, wanted, had map[string]bool) {
	for name := range wanted {
		if !had[name] {
			to[name] = true
		}
	}
}

func limitKeys(k *contract.Contract) map[string]bool {
	keys := map[string]bool{}
	for i := range k.Limits {
		if key := docket.LimitKey(k, &k.Limits[i]); key != "" {
			keys[key] = true
		}
	}
	return keys
}

func linkParams(k *contract.Contract) map[string]bool {
	names := map[string]bool{}
	rules := slices.Clone(k.Link)
	for i := range k.Approvals {
		rules = append(rules, k.Approvals[i].Link...)
	}
	for _, rule := range rules {
		if rule.By == contract.ByParam {
			names[rule.Param] = true
		}
	}
	return names
}

// reach is how far before now an action may have started and still bear on one that
// is declared now: it is in a limit's span, or could claim the same fact.
func reach(k *contract.Contract) time.Duration {
	claim := k.Settle.MaxSkew
	for i := range k.Approvals {
		claim = max(claim, k.Approvals[i].Lookback)
	}
	far := claim + k.Settle.After
	for i := range k.Limits {
		if r := k.Limits[i].Rolling; r != nil {
			far = max(far, r.Over)
		}
	}
	return far + slack
}

// backfill brings up what is missing, a page of actions in a unit of its own. Doing
// it twice does no harm.
func (s *Service) backfill(ctx context.Context, w access.WorkspaceID, t *traces) error {
	if t.empty() {
		return nil
	}
	return s.eachPage(ctx, w, t, store.Alone, func(tx store.Tx, listed []store.Listed) {
		for i := range listed {
			if a := &listed[i].Action; a.Version != 0 {
				t.bring(tx, a)
			}
		}
	})
}

// eachPage does something for each page of the actions within reach, in a unit of its
// own that has a turn.
func (s *Service) eachPage(ctx context.Context, w access.WorkspaceID, t *traces, turn store.Turn, do func(store.Tx, []store.Listed)) error {
	filter := store.Filter{ContractID: t.contract.ID, From: t.since}
	for after := store.Cursor(""); ; {
		var next store.Cursor
		err := s.store.Do(ctx, w, func(tx store.Tx) error {
			tx.Turn(turn)
			listed, cursor, err := tx.ListActions(filter, store.Page{After: after, Limit: pageOfActions})
			if err != nil {
				return err
			}
			next = cursor
			do(tx, listed)
			return nil
		})
		if err != nil {
			return fmt.Errorf("bring up earlier actions: %w", err)
		}
		if next == "" {
			return nil
		}
		after = next
	}
}

// wakeGoverned has those actions looked at again that a version governed before all that
// it counts was brought up.
func (s *Service) wakeGoverned(ctx context.Context, w access.WorkspaceID, t *traces, version int) error {
	if t.empty() {
		return nil
	}
	return s.eachPage(ctx, w, t, store.Together, func(tx store.Tx, listed []store.Listed) {
		for i := range listed {
			if a := &listed[i].Action; a.Version == version {
				tx.Wake(store.Wake{Kind: store.WakeAction, Ref: a.Ref})
			}
		}
	})
}

// bring adds what one action lacks.
func (t *traces) bring(tx store.Tx, a *store.Action) {
	versions := []*contract.Contract{t.contract}
	var limits []store.LimitEntry
	for _, e := range docket.Entries(versions, &a.Declaration) {
		if !t.limits[e.Key] {
			continue
		}
		entry := store.LimitEntry{Key: e.Key, Group: e.Group, Shadow: a.Mode == verdict.Shadow, Start: e.Start}
		if e.Amount.Currency != "" {
			entry.Amount, entry.Currency = money.Text(e.Amount.Value), string(e.Amount.Currency)
		}
		limits = append(limits, entry)
	}
	params := docket.LinkParams(versions, &a.Declaration)
	maps.DeleteFunc(params, func(name, _ string) bool { return !t.params[name] })
	if len(limits) > 0 || len(params) > 0 {
		tx.BackfillLinks(a.Ref, limits, params)
	}
}
