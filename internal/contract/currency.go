package contract

import (
	"slices"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/value"
)

// currencyCompared warns of a step that compares a fact's amount with a
// parameter and nothing that says in which currency the fact is. Amounts of two
// currencies are neither equal nor unequal, so that a payment in another one
// leaves the step unknown, where who wrote it wants it to fail.
func (r *reader) currencyCompared(g fields, where *condition.Expr) {
	if where == nil {
		return
	}
	var amount *Param
	currency := false
	walk(where.Tree(), func(n *condition.Node) {
		if !compares(n.Op) {
			return
		}
		if !readsFact(n) {
			return
		}
		for _, side := range n.Args {
			currency = currency || side.Kind == value.Currency
		}
		if amount == nil {
			amount = r.moneyOf(n)
		}
	})
	if amount == nil || currency {
		return
	}
	code := `"USD"`
	switch {
	case amount.Currency != "":
		code = "params." + amount.Currency
	case amount.Fixed != "":
		code = `"` + string(amount.Fixed) + `"`
	}
	r.warn(g.get("where"), g.at("where"), "add `&& fact.currency == "+code+"`",
		"an amount is compared with params.%s and no currency with any, so that an amount in another currency leaves the step UNKNOWN instead of FAIL", amount.Name)
}

// moneyOf is the first parameter of type money that is compared by n.
func (r *reader) moneyOf(n *condition.Node) (found *Param) {
	walk(n, func(n *condition.Node) {
		if found == nil && n.Op == condition.Reference && n.Ref.Root == condition.Params && n.Kind == value.Money {
			found = r.contract.param(n.Ref.Name)
		}
	})
	return found
}

func readsFact(n *condition.Node) (reads bool) {
	walk(n, func(n *condition.Node) {
		reads = reads || n.Op == condition.Reference && n.Ref.Root == condition.Fact
	})
	return reads
}

func compares(op condition.Op) bool {
	return slices.Contains([]condition.Op{
		condition.Equal, condition.NotEqual, condition.Less, condition.LessOrEqual,
		condition.Greater, condition.GreaterOrEqual, condition.In,
	}, op)
}

func walk(n *condition.Node, visit func(*condition.Node)) {
	visit(n)
	for _, arg := range n.Args {
		walk(arg, visit)
	}
}
