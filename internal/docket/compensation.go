package docket

import (
	"cmp"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/verdict"
)

// maxChain is how far the way from an action to what it undoes, and what that
// undoes, is followed.
const maxChain = 64

// addCompensation adds what undoes the action, and what the action undoes.
func addCompensation(records Records, c *verdict.Case) error {
	self := &c.Declarations[0]
	var err error
	if c.Compensators, err = compensators(records, self.ActionID, c, func(*verdict.Declaration) bool { return true }); err != nil {
		return err
	}
	if self.Compensates == "" {
		return nil
	}
	target, err := first(records, self.Compensates, c)
	if target == nil || err != nil {
		return err
	}
	t := &verdict.Target{ActionID: target.ActionID}
	governing, err := records.Active(target.ContractID, target.ReceivedAt)
	if err != nil {
		return err
	}
	if governing != nil && governing.Contract.Compensation != nil {
		t.By = governing.Contract.Compensation.By
	}
	for next := target; next != nil && next.Compensates != "" && len(t.Chain) < maxChain; {
		if slices.Contains(t.Chain, next.Compensates) {
			break
		}
		t.Chain = append(t.Chain, next.Compensates)
		if next, err = first(records, next.Compensates, c); err != nil {
			return err
		}
	}
	t.Earlier, err = compensators(records, target.ActionID, c, func(d *verdict.Declaration) bool {
		return d.ActionID != self.ActionID && cmp.Or(cmp.Compare(d.ReceivedAt, self.ReceivedAt), strings.Compare(d.ActionID, self.ActionID)) < 0
	})
	c.Compensates = t
	return err
}

// first is an action's first declaration, or nil if there was none yet.
func first(records Records, actionID string, c *verdict.Case) (*verdict.Declaration, error) {
	revisions, err := records.Revisions(actionID)
	if err != nil {
		return nil, err
	}
	known := distinct(revisions, c.At)
	if len(known) == 0 {
		return nil, nil
	}
	return &known[0], nil
}

// compensators are the actions that say they undo one, in the order of their
// declaration, with what is known of them.
func compensators(records Records, actionID string, c *verdict.Case, wanted func(*verdict.Declaration) bool) ([]verdict.Compensator, error) {
	declared, err := records.Compensating(actionID)
	if err != nil {
		return nil, err
	}
	var all []verdict.Compensator
	for i := range declared {
		d := &declared[i]
		if d.ReceivedAt > c.At || d.Compensates != actionID || !wanted(d) {
			continue
		}
		one := verdict.Compensator{
			ActionID: d.ActionID, ContractID: d.ContractID, DeclaredAt: d.ReceivedAt,
			Status: verdict.Recorded, Outcome: verdict.Unknown,
		}
		stored, err := records.Latest(d.ActionID)
		if err != nil {
			return nil, err
		}
		if stored != nil {
			one.Status, one.Outcome, one.Verified = stored.Verdict.Status, stored.Verdict.Outcome.Result, stored.Verdict.VerifiedAmount
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b verdict.Compensator) int {
		return cmp.Or(cmp.Compare(a.DeclaredAt, b.DeclaredAt), strings.Compare(a.ActionID, b.ActionID))
	})
	return all, nil
}
