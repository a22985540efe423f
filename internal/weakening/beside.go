package weakening

import (
	"fmt"

	"github.com/deed-dev/deed/internal/contract"
)

// Beside compares a contract with another one that governs: an action names its
// contract, so that whoever declares may choose between two that are for it. before is
// what the contract was while it governed until now; nil if it does not. ok is false
// where the two are for no action in common that they were not for before. name is
// what the reader may know of the other.
func Beside(before, now, other *contract.Contract, name string) (c Change, ok bool) {
	both, ok := common(now.AppliesTo, other.AppliesTo)
	if !ok || before != nil && covers(before.AppliesTo, both) {
		return Change{}, false
	}
	what := both.ActionType
	if what == "" {
		what = "any action"
	}
	if both.SubjectKind != "" {
		what += " of the kind " + both.SubjectKind
	}
	where := "applies_to"
	if now.AppliesTo.ActionType != "" {
		where = "applies_to.action_type"
	}
	beside := "new contract beside"
	if before != nil {
		beside = "it is wider than before, and beside"
	}
	return Change{
		What: ContractBeside, Where: where, New: now.AppliesTo.ActionType, Direction: Unclear,
		Sentence: fmt.Sprintf("%s %s covers %s: who declares an action may choose between them", beside, name, what),
	}, true
}

// common is what two are both for.
func common(a, b contract.AppliesTo) (contract.AppliesTo, bool) {
	action, ok := narrower(a.ActionType, b.ActionType)
	subject, also := narrower(a.SubjectKind, b.SubjectKind)
	return contract.AppliesTo{ActionType: action, SubjectKind: subject}, ok && also
}

// narrower is what two texts stand for in common; an empty one stands for any.
func narrower(a, b string) (string, bool) {
	switch {
	case a == "":
		return b, true
	case b == "", a == b:
		return a, true
	}
	return "", false
}

// covers says whether all that the narrow one is for is among what the wide one is for.
func covers(wide, narrow contract.AppliesTo) bool {
	return (wide.ActionType == "" || wide.ActionType == narrow.ActionType) &&
		(wide.SubjectKind == "" || wide.SubjectKind == narrow.SubjectKind)
}
