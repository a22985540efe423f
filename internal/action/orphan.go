package action

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// mostLooks is how many pages of facts are looked through for one page of orphans.
const mostLooks = 10

// OrphanQuery asks for the effects of a contract that occurred in [From, To); zero is
// open.
type OrphanQuery struct {
	ContractID string
	From, To   value.Instant
}

// Orphans are the effects that the active version of a contract looks for and that no
// verdict has seen as its action's, those that were kept last first. The contract's
// `orphans: where` leaves out those for which it is false. A page may be short though
// more follow. Errors: an [access.ScopeError], an [intake.LimitedError],
// [store.ErrNotFound] where no version is active, a [store.CursorError].
func (s *Service) Orphans(ctx context.Context, p access.Principal, q OrphanQuery, page store.Page) (facts []evidence.Fact, next store.Cursor, err error) {
	if err := intake.MayRead(p); err != nil {
		return nil, "", err
	}
	err = s.view(ctx, p, func(tx store.Tx) error {
		governing := docket.Question{Active: &docket.ActiveKey{ContractID: q.ContractID, At: tx.Now()}}
		if err := tx.Ask([]*docket.Question{&governing}); err != nil {
			return err
		}
		if len(governing.Governing) == 0 || q.ContractID == "" {
			return store.ErrNotFound
		}
		facts, next, err = orphans(tx, governing.Governing[0].Contract, q, page)
		return err
	})
	if err != nil {
		return nil, "", fmt.Errorf("look for effects of contract %s that no action claims: %w", q.ContractID, err)
	}
	return facts, next, nil
}

// telling is what one step looks for in one source.
type telling struct{ source, factType string }

func tellings(k *contract.Contract) []telling {
	var all []telling
	for i := range k.Steps {
		for _, source := range k.Steps[i].From {
			if t := (telling{source, k.Steps[i].Expect}); !slices.Contains(all, t) {
				all = append(all, t)
			}
		}
	}
	return all
}

// orphans goes through the facts of one telling after the other. A cursor says which
// telling, and where in its list.
func orphans(tx store.Tx, k *contract.Contract, q OrphanQuery, page store.Page) (found []evidence.Fact, next store.Cursor, err error) {
	all := tellings(k)
	number, after, _ := strings.Cut(string(page.After), ".")
	at, err := strconv.Atoi(number)
	if page.After == "" {
		at, err = 0, nil
	}
	if err != nil || at < 0 || at >= len(all) {
		return nil, "", &store.CursorError{List: "orphans"}
	}
	for range mostLooks {
		filter := store.FactFilter{Source: all[at].source, Type: all[at].factType, From: q.From, To: q.To}
		facts, more, err := tx.ListFacts(filter, store.Page{After: store.Cursor(after), Limit: page.Limit})
		if err != nil {
			return nil, "", err
		}
		if found, err = unclaimed(tx, k, all[at], facts); err != nil {
			return nil, "", err
		}
		if after = string(more); more == "" {
			at++
		}
		if next = ""; at < len(all) {
			next = store.Cursor(strconv.Itoa(at) + "." + after)
		}
		if len(found) > 0 || next == "" {
			break
		}
	}
	return found, next, nil
}

// unclaimed are the facts that stand as they were told, and belong to nobody.
func unclaimed(tx store.Tx, k *contract.Contract, t telling, facts []store.Fact) (found []evidence.Fact, err error) {
	inquiry := docket.NewInquiry(tx.Ask)
	err = inquiry.Until(func(r docket.Records) error {
		found = nil
		for i := range facts {
			f := &facts[i].Fact
			stands, err := current(r, f, tx.Now())
			if err != nil {
				return err
			}
			if !stands || f.Type != t.factType || f.Retracted || f.Mode == evidence.State || docket.OrphanTruth(k, f) == condition.False {
				continue
			}
			claimed, err := claimed(r, f.Identity())
			if err != nil {
				return err
			}
			if !claimed {
				found = append(found, *f)
			}
		}
		return nil
	})
	return found, err
}

// current says whether a revision of a fact is the one that stands.
func current(r docket.Records, f *evidence.Fact, at value.Instant) (bool, error) {
	revisions, err := r.Fact(f.Identity())
	if err != nil {
		return false, err
	}
	for _, resolved := range evidence.Current(revisions, max(at, f.IngestedAt)) {
		if evidence.Compare(resolved.Fact, f) == 0 {
			return true, nil
		}
	}
	return false, nil
}

// claimed says whether a verdict has seen a fact as its action's, right or wrong.
func claimed(r docket.Records, id evidence.Identity) (bool, error) {
	ids, _, err := docket.Claimants(r, id) // those beside see it elsewhere at most
	if err != nil {
		return false, err
	}
	found := false
	for _, actionID := range ids {
		stored, err := r.Latest(actionID)
		if err != nil {
			return false, err
		}
		if stored == nil {
			continue
		}
		for i := range stored.Verdict.Checks {
			found = found || slices.ContainsFunc(stored.Verdict.Checks[i].Seen, func(s verdict.Seen) bool {
				return s.Role != verdict.Elsewhere && s.Identity() == id
			})
		}
	}
	return found, nil
}
