package verdict

import (
	"slices"

	"github.com/deed-dev/deed/internal/money"
)

// compensate views what undoes the action and what it undoes. It changes no
// verdict: what happened has happened, and undoing it is another action.
func (t *trial) compensate(v *Verdict) {
	var view Compensation
	if d := t.self.declared; d.Compensates != "" && (t.c.Compensates != nil || d.Compensates == d.ActionID) {
		if reason := t.refusal(); reason != "" {
			t.note(Reason{Code: CompensationRefused, About: reason})
		} else {
			view.Of = d.Compensates
		}
	}
	view.By = t.c.Compensators
	if len(view.By) > 0 {
		t.note(Reason{Code: Compensated, About: view.By[0].ActionID})
		t.net(v, &view)
	}
	if view.Of != "" || len(view.By) > 0 {
		v.Compensation = &view
	}
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
		if earlier.Status == Provisional || earlier.Status == Recorded || earlier.Outcome != Fail {
			return "an action that " + earlier.ActionID + " undoes already"
		}
	}
	return ""
}

// net is what remains of the effect after the compensators that passed.
func (t *trial) net(v *Verdict, view *Compensation) {
	asked := t.k.Compensation != nil && t.k.Compensation.NetZero
	if asked {
		view.NetZero = Unknown
	}
	if v.VerifiedAmount == nil {
		return
	}
	net := money.Amount{Value: v.VerifiedAmount.Value, Currency: v.VerifiedAmount.Currency}
	waiting := false
	for _, by := range view.By {
		if by.Outcome != Pass {
			waiting = waiting || by.Outcome != Fail
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
		view.NetZero = Pass
	case !waiting:
		view.NetZero = Fail
	}
}
