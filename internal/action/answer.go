package action

import (
	"fmt"
	"slices"
	"time"

	"github.com/deed-dev/deed/internal/verdict"
)

// answer completes what is told about a declaration with how its action stands.
func (u *declaring) answer(r *Result, id string, allowance Allowance) {
	a := u.subjects[id]
	r.Action, r.Allowance = a.action, allowance
	switch {
	case a.finding != nil:
		r.Verdict = a.finding.Verdict
	case a.stored != nil:
		r.Verdict = a.stored.Verdict
	}
	r.Warnings = slices.Concat(r.Warnings, governed(a, &r.Verdict))
	if allowance.Over() {
		r.Warnings = append(r.Warnings, Warning{
			Code: OverAllowance, Message: fmt.Sprintf("the plan includes %d actions in %s; this one is recorded and verified all the same", allowance.Included, allowance.Period),
		})
	}
}

// governed are the warnings about which contract governs, and since when.
func governed(a *subject, v *verdict.Verdict) []Warning {
	d := &a.action.Declaration
	var warnings []Warning
	switch {
	case slices.Contains(v.Outcome.Codes, verdict.ContractNotFound) && d.ContractID == "":
		return []Warning{{Code: ContractNotFound, Field: "contract_id", Message: "no contract is named; the action is recorded and will not be governed later"}}
	case slices.Contains(v.Outcome.Codes, verdict.ContractNotFound):
		return []Warning{{Code: ContractNotFound, Field: "contract_id", Message: fmt.Sprintf("no contract %q is active; the action is recorded and will not be governed later", d.ContractID)}}
	case slices.Contains(v.Outcome.Codes, verdict.ContractDoesNotApply):
		return []Warning{doesNotApply(a)}
	}
	if d.ContractVersion != 0 && d.ContractVersion != a.action.Version {
		warnings = append(warnings, Warning{
			Code: ContractVersionIgnored, Field: "contract_version", Message: fmt.Sprintf("version %d is active and governs", a.action.Version),
		})
	}
	if late := d.ReceivedAt.Sub(d.RequestedAt); d.RequestedAt != 0 && a.governing != nil && late > a.governing.Contract.Settle.MaxSkew {
		warnings = append(warnings, Warning{
			Code: DeclaredLate, Field: "requested_at", Message: fmt.Sprintf("received %s after it was requested", late.Round(time.Millisecond)),
		})
	}
	return warnings
}

// doesNotApply says for what else the contract is.
func doesNotApply(a *subject) Warning {
	w := Warning{Code: ContractDoesNotApply, Field: "contract_id", Message: "the contract does not apply; the action is recorded and will not be governed later"}
	if a.governing == nil {
		return w
	}
	to, d := a.governing.Contract.AppliesTo, &a.action.Declaration
	switch {
	case to.ActionType != "" && to.ActionType != d.ActionType:
		w.Field = "action_type"
		w.Message = fmt.Sprintf("contract %s is for actions of type %q; the action is recorded and will not be governed later", a.governing.Contract.ID, to.ActionType)
	case to.SubjectKind != "" && to.SubjectKind != d.SubjectKind:
		w.Field = "subject_kind"
		w.Message = fmt.Sprintf("contract %s is for subjects of kind %q; the action is recorded and will not be governed later", a.governing.Contract.ID, to.SubjectKind)
	}
	return w
}

// changes are the warnings about what was declared otherwise before.
func changes(found []difference) []Warning {
	var warnings []Warning
	for _, d := range found {
		message := "not declared before; the first declaration governs"
		if d.was != "" {
			message = fmt.Sprintf("declared before as %s; the first declaration governs", d.was)
		}
		warnings = append(warnings, Warning{Code: DeclarationChanged, Field: d.field, Message: message})
	}
	return warnings
}
