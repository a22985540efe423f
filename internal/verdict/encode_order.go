package verdict

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/deed-dev/deed/internal/evidence"
)

// InOrder is the case with its lists in the order of its canonical form, which
// its digest is of. Whoever evaluates this one cannot see any other order.
func (c *Case) InOrder() *Case {
	sorted := *c
	sorted.Facts = inOrder(c.Facts, compareFacts)
	sorted.Sources = inOrder(c.Sources, compareSources)
	sorted.Rivals = inOrder(c.Rivals, compareRivals)
	sorted.History = inOrder(c.History, compareHistory)
	sorted.Shared = inOrder(c.Shared, compareShared)
	sorted.Compensators = inOrder(c.Compensators, compareCompensators)
	if t := c.Compensates; t != nil && len(t.Earlier) > 1 {
		target := *t
		target.Earlier = inOrder(t.Earlier, compareCompensators)
		sorted.Compensates = &target
	}
	if p := c.Previous; p != nil && len(p.Sources) > 1 {
		previous := *p
		previous.Sources = inOrder(p.Sources, compareSources)
		sorted.Previous = &previous
	}
	return &sorted
}

// inOrder is list itself if it is sorted, else a sorted copy: writing a case
// never changes it.
func inOrder[T any](list []T, compare func(a, b *T) int) []T {
	for i := 1; i < len(list); i++ {
		if compare(&list[i-1], &list[i]) > 0 {
			sorted := slices.Clone(list)
			slices.SortStableFunc(sorted, func(a, b T) int { return compare(&a, &b) })
			return sorted
		}
	}
	return list
}

// firstOf is the first comparison that found a difference.
func firstOf(differences ...int) int { return cmp.Or(differences...) }

// compareFacts orders revisions by what they are about and then by age. Those
// that agree in all of that are ordered by their content, so that there is one
// order whatever came first.
func compareFacts(x, y *evidence.Fact) int {
	if order := firstOf(
		cmp.Compare(x.Source, y.Source),
		cmp.Compare(x.Type, y.Type),
		cmp.Compare(x.ExternalID, y.ExternalID),
		cmp.Compare(x.Revision, y.Revision),
		cmp.Compare(x.ObservedAt, y.ObservedAt),
	); order != 0 {
		return order
	}
	return bytes.Compare(appendFact(nil, x), appendFact(nil, y))
}

func compareShared(x, y *Shared) int {
	return firstOf(
		cmp.Compare(x.Source, y.Source),
		cmp.Compare(x.Type, y.Type),
		cmp.Compare(x.ExternalID, y.ExternalID),
		cmp.Compare(x.ActionID, y.ActionID),
		cmp.Compare(x.ContractID, y.ContractID),
	)
}

func compareHistory(x, y *History) int { return cmp.Compare(x.Limit, y.Limit) }

func compareRivals(x, y *Declaration) int { return cmp.Compare(x.ActionID, y.ActionID) }

func compareSources(x, y *evidence.Source) int { return cmp.Compare(x.Name, y.Name) }

func compareCompensators(x, y *Compensator) int {
	return firstOf(cmp.Compare(x.DeclaredAt, y.DeclaredAt), cmp.Compare(x.ActionID, y.ActionID))
}
