package engine

import (
	"slices"

	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/verdict"
)

// compensate views what undoes the action and what it undoes. It changes no
// verdict: what happened has happened, and undoing it is another action.
func (t *trial) compensate(v *verdict.Verdict) {
	var view verdict.Compensation
	if d := t.self.declared; d.Compensates != "" && (t.c.Compensates != nil || d.Compensates == d.ActionID) {
		if reason := t.refusal(); reason != "" {
			t.note(verdict.Reason{Code: verdict.CompensationRefused, About: reason})
		} else {
			view.Of = d.Compensates
		}
	}
	t.accept(&view)
	if len(view.By) > 0 {
		t.note(verdict.Reason{Code: verdict.Compensated, About: view.By[0].ActionID})
		t.net(v, &view)
	}
	if view.Of != "" || len(view.By) > 0 || len(view.Refused) > 0 {
		v.Compensation = &view
	}
}

// accept tells the actions that undo this one from those that may not: the
// first that is not known to have failed keeps others out.
func (t *trial) accept(view *verdict.Compensation) {
	undone := false
	for _, by := range t.c.Compensators {
		own := by.ActionID == t.self.declared.ActionID || by.ActionID == t.self.declared.Compensates ||
			t.c.Compensates != nil && slices.Contains(t.c.Compensates.Chain, by.ActionID)
		if own || undone || t.k.Compensation == nil || by.ContractID != t.k.Compensation.By {
			view.Refused = append(view.Refused, by.ActionID)
			continue
		}
		view.By = append(view.By, by)
		undone = !undidNothing(&by)
	}
}

// undidNothing says that the compensator has settled as having done nothing.
func undidNothing(c *verdict.Compensator) bool {
	return c.Status != verdict.Provisional && c.Status != verdict.Recorded && c.Outcome == verdict.Fail
}

// refusal says why the action may not undo what it names; empty if it may.
func (t *trial) refusal() string {
	d, target := t.self.declared, t.c.Compensates
	switch {
	case d.Compensates == d.ActionID:
		return "itself"
	case slices.Contains(target.Chain, d.ActionID):
		return "an action that undoes this one"
	case target.By != "" && target.By != t.k.ID, target.By == "":
		return "an action of a contract that this one does not undo"
	}
	for _, earlier := range target.Earlier {
		if !undidNothing(&earlier) {
			return "an action that " + earlier.ActionID + " undoes already"
		}
	}
	return ""
}

// net is what remains of the effect after the compensators that passed.
func (t *trial) net(v *verdict.Verdict, view *verdict.Compensation) {
	asked := t.k.Compensation != nil && t.k.Compensation.NetZero
	if asked {
		view.NetZero = verdict.Unknown
	}
	if v.VerifiedAmount == nil {
		return
	}
	net := money.Amount{Value: v.VerifiedAmount.Value, Currency: v.VerifiedAmount.Currency}
	waiting := false
	for _, by := range view.By {
		if by.Outcome != verdict.Pass {
			waiting = waiting || by.Outcome != verdict.Fail
			continue
		}
		if by.Verified == nil {
			return
		}
		rest, ok := net.Sub(*by.Verified)
		if !ok {
			return
		}
		net = rest
	}
	view.Net = &net
	switch {
	case !asked:
	case net.IsZero():
		view.NetZero = verdict.Pass
	case !waiting:
		view.NetZero = verdict.Fail
	}
}
