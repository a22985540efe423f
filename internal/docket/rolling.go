package docket

import (
	"strings"

	"github.com/deed-dev/deed/internal/condition"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// Group is the bucket of a rolling limit that an action falls into. Actions
// that lack the value by which the limit groups share the empty one.
func Group(limit *contract.Limit, action engine.Claimant) string {
	per := limit.Rolling.Per
	if per == "" {
		return ""
	}
	ref := condition.Ref{Root: condition.Action, Name: per}
	if name, isParam := strings.CutPrefix(per, "params."); isParam {
		ref = condition.Ref{Root: condition.Params, Name: name}
	}
	v := action.Reading(nil).Value(ref)
	if v.IsMissing() {
		return ""
	}
	if v.Kind() == value.Decimal { // 7 and 7.0 are one number
		return plain(v.Decimal())
	}
	text, err := v.AppendJSON(nil)
	if err != nil {
		return ""
	}
	return string(text)
}

// Amount is what an action adds to a rolling total. It has none (false) for a
// limit that counts, or where the declaration gives no readable amount.
func Amount(limit *contract.Limit, action engine.Claimant) (money.Amount, bool) {
	if limit.Rolling.Total == nil {
		return money.Amount{}, false
	}
	v, _ := limit.Rolling.Total.Value(action.Reading(nil))
	return v.Amount(), v.Kind() == value.Money
}

// plain writes a number without needless zeros, so that a total reads the same
// whatever other numbers were added and taken away on the way to it.
func plain(d money.Decimal) string {
	text := money.Text(d)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// shortest is the number of [plain].
func shortest(d money.Decimal) money.Decimal {
	short, err := money.ParseDecimal(plain(d))
	if err != nil {
		return d // more digits than any amount has
	}
	return short
}
