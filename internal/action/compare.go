package action

import (
	"maps"
	"slices"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// difference is a member in which two declarations of one action differ.
type difference struct {
	field string
	was   string // what the earlier one has, as JSON; empty for nothing
}

// differences holds a declaration against an earlier one of the action. Parameters
// are compared with the types that the contract gives them, nil for none; when the
// declarations were made and how they came does not count.
func differences(k *contract.Contract, before, now *verdict.Declaration) []difference {
	var found []difference
	for _, member := range []struct{ field, was, is string }{
		{"contract_id", before.ContractID, now.ContractID},
		{"action_type", before.ActionType, now.ActionType},
		{"subject_id", before.SubjectID, now.SubjectID},
		{"subject_kind", before.SubjectKind, now.SubjectKind},
		{"agent_id", before.AgentID, now.AgentID},
		{"workflow_id", before.WorkflowID, now.WorkflowID},
		{"compensates", before.Compensates, now.Compensates},
	} {
		if member.was != member.is {
			d := difference{field: member.field}
			if member.was != "" {
				d.was = string(value.AppendString(nil, member.was))
			}
			found = append(found, d)
		}
	}
	var typedBefore, typedNow map[string]value.Value
	if k != nil {
		typedBefore, _ = k.Bind(before.Params)
		typedNow, _ = k.Bind(now.Params)
	}
	names := slices.Collect(maps.Keys(before.Params))
	for name := range now.Params {
		if _, both := before.Params[name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		if name == "mcp_request_id" || name == "mcp_tool" {
			continue
		}
		was, is := before.Params[name], now.Params[name]
		if same(was, is, typedBefore[name], typedNow[name]) {
			continue
		}
		d := difference{field: "params." + name}
		if text, err := was.AppendJSON(nil); err == nil && !was.IsMissing() {
			d.was = string(text)
		}
		found = append(found, d)
	}
	return found
}

// same compares a parameter as the contract types it, or as it came. What was left
// out is not what was declared, even where a default says the same.
func same(was, is, typedWas, typedIs value.Value) bool {
	if was.IsMissing() || is.IsMissing() {
		return was.IsMissing() == is.IsMissing()
	}
	return value.Same(was, is) || value.Compare(typedWas, typedIs) == value.Equal
}
