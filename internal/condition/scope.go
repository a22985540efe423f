package condition

import (
	"maps"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/value"
)

// What every action and every fact has by itself.
var (
	actionKinds = map[string]value.Kind{
		"action_id": value.String, "contract_id": value.String, "action_type": value.String,
		"subject_id": value.String, "subject_kind": value.String, "agent_id": value.String,
		"workflow_id": value.String, "channel": value.String,
		"requested_at": value.Time, "received_at": value.Time,
	}
	factKinds = map[string]value.Kind{
		"source": value.String, "type": value.String, "external_id": value.String,
		"subject_id": value.String, "subject_kind": value.String, "occurred_at": value.Time,
	}
)

// ActionKinds are the attributes of an action with their kinds.
func ActionKinds() map[string]value.Kind { return maps.Clone(actionKinds) }

// FactKinds are a fact's own fields with their kinds. They win over attributes
// of the same name; every other name is an attribute, whose kind is not known
// before there is a fact.
func FactKinds() map[string]value.Kind { return maps.Clone(factKinds) }

// names that may follow the root, for hints; facts have any.
func (s Scope) names(root Root) []string {
	switch root {
	case Action:
		return slices.Sorted(maps.Keys(actionKinds))
	case Params:
		return slices.Sorted(maps.Keys(s.Params))
	}
	return slices.Sorted(maps.Keys(factKinds))
}

// kind of an attribute, and whether there is such a one.
func (s Scope) kind(ref Ref) (value.Kind, bool) {
	switch ref.Root {
	case Action:
		kind, ok := actionKinds[ref.Name]
		return kind, ok
	case Params:
		kind, ok := s.Params[ref.Name]
		return kind, ok
	}
	if namesCurrency(ref) {
		return value.Currency, true
	}
	return factKinds[ref.Name], true
}

// namesCurrency reports an attribute of a fact that by its name is a currency.
// Sources give codes in either case, and usd is USD.
func namesCurrency(ref Ref) bool {
	return ref.Root == Fact && (ref.Name == "currency" || strings.HasSuffix(ref.Name, "_currency"))
}
