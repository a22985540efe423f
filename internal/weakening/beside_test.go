package weakening_test

import (
	"testing"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/weakening"
)

func TestAContractIsBesideAnotherWhereBothAreForAnAction(t *testing.T) {
	t.Parallel()
	is := func(action, kind string) *contract.Contract {
		return &contract.Contract{AppliesTo: contract.AppliesTo{ActionType: action, SubjectKind: kind}}
	}
	for name, test := range map[string]struct {
		before, now, other *contract.Contract
		want               string // empty: it is not
	}{
		"the same action":                      {nil, is("refund_order", ""), is("refund_order", ""), "new contract beside x covers refund_order: who declares an action may choose between them"},
		"another action":                       {nil, is("refund_order", ""), is("ship_order", ""), ""},
		"any action, and one":                  {nil, is("", ""), is("refund_order", ""), "new contract beside x covers refund_order: who declares an action may choose between them"},
		"one action, and any":                  {nil, is("refund_order", ""), is("", ""), "new contract beside x covers refund_order: who declares an action may choose between them"},
		"any, and any":                         {nil, is("", ""), is("", ""), "new contract beside x covers any action: who declares an action may choose between them"},
		"the same action on another kind":      {nil, is("refund_order", "order"), is("refund_order", "ticket"), ""},
		"any action on a kind":                 {nil, is("", "order"), is("refund_order", ""), "new contract beside x covers refund_order of the kind order: who declares an action may choose between them"},
		"it was for that before":               {is("refund_order", ""), is("refund_order", ""), is("refund_order", ""), ""},
		"it was for any before":                {is("", ""), is("refund_order", ""), is("refund_order", ""), ""},
		"it was for something else before":     {is("ship_order", ""), is("", ""), is("refund_order", ""), "it is wider than before, and beside x covers refund_order: who declares an action may choose between them"},
		"it was for a part of the other's":     {is("refund_order", ""), is("", ""), is("", ""), "it is wider than before, and beside x covers any action: who declares an action may choose between them"},
		"it was for one kind of the other's":   {is("refund_order", "order"), is("refund_order", ""), is("refund_order", "order"), ""},
		"it was for another kind than is left": {is("refund_order", "ticket"), is("refund_order", ""), is("refund_order", "order"), "it is wider than before, and beside x covers refund_order of the kind order: who declares an action may choose between them"},
	} {
		change, beside := weakening.Beside(test.before, test.now, test.other, "x")
		if beside != (test.want != "") || change.Sentence != test.want || beside && (!change.Suspect() || change.What != weakening.ContractBeside) {
			t.Errorf("%s: %v, %+v, want %q", name, beside, change, test.want)
		}
	}
}
