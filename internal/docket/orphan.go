package docket

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// Orphans are the effects that a contract looks for and that no action claims:
// current facts known at a time that no verdict has seen as its action's, right
// or wrong. The contract's `orphans: where` leaves out those for which it is
// false; where it is unknown, the fact stays in the list. They are ordered by
// when they occurred.
func Orphans(records Records, k *contract.Contract, at value.Instant, verdicts []verdict.Verdict) ([]evidence.Fact, error) {
	claimed := map[evidence.Identity]bool{}
	for i := range verdicts {
		for _, check := range verdicts[i].Checks {
			for _, seen := range check.Seen {
				if seen.Role != verdict.Elsewhere {
					claimed[seen.Identity()] = true
				}
			}
		}
	}
	var found []evidence.Fact
	asked := map[FactKey]bool{}
	for _, step := range k.Steps {
		for _, source := range step.From {
			key := FactKey{Source: source, Type: step.Expect}
			if asked[key] {
				continue
			}
			asked[key] = true
			facts, err := records.Facts(key)
			if err != nil {
				return nil, fmt.Errorf("read the facts %s of %s: %w", step.Expect, source, err)
			}
			for _, r := range evidence.Current(facts, at) {
				f := r.Fact
				if f.Type != step.Expect || f.Source != source || f.Retracted || f.Mode == evidence.State || claimed[f.Identity()] {
					continue
				}
				if OrphanTruth(k, f) != condition.False {
					found = append(found, *f)
				}
			}
		}
	}
	slices.SortFunc(found, func(a, b evidence.Fact) int {
		return cmp.Or(cmp.Compare(a.OccurredAt, b.OccurredAt), evidence.Compare(&a, &b))
	})
	return found, nil
}

// OrphanTruth says whether a contract wants a fact that no action claims in the list
// of its orphans: False leaves it out.
func OrphanTruth(k *contract.Contract, f *evidence.Fact) condition.Truth {
	if k.Orphans == nil {
		return condition.True
	}
	return k.Orphans.Truth(factOnly{f}).Truth
}

// factOnly lets an expression read a fact that belongs to no action.
type factOnly struct{ fact *evidence.Fact }

// Value implements [condition.Names].
func (n factOnly) Value(ref condition.Ref) value.Value {
	if ref.Root != condition.Fact {
		return value.Value{}
	}
	nobody := engine.NewClaimant(&contract.Contract{}, &verdict.Declaration{})
	return nobody.Reading(n.fact).Value(ref)
}
