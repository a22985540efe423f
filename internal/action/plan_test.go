package action_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/plan"
)

// noon is on 2 November 2026: December begins 28 and a half days later.
const toDecember = 28*24*time.Hour + 12*time.Hour

func TestEachMonthBeginsWithNothingUsed(t *testing.T) {
	t.Parallel()
	p := governed(t, withPlans(t, "plans: {team: {actions_per_month: 1}}"))
	for i, one := range []struct {
		pass     time.Duration
		period   string
		recorded int64
		over     bool
	}{
		{0, "2026-11", 1, false},
		{0, "2026-11", 2, true},
		{toDecember - time.Microsecond, "2026-11", 3, true},
		{time.Microsecond, "2026-12", 1, false},
		{0, "2026-12", 2, true},
		{31 * 24 * time.Hour, "2027-01", 1, false},
	} {
		p.pass(one.pass)
		a := p.declare(t, fmt.Sprintf(`{"action_id": "a%d", "subject_id": "o-1"}`, i)).Allowance
		if a.Period != one.period || a.Recorded != one.recorded || a.Over() != one.over {
			t.Errorf("number %d has the allowance %+v, want %+v", i+1, a, one)
		}
	}
}

func TestADryRunIsRefusedWhereThePlanLeavesItOut(t *testing.T) {
	t.Parallel()
	p := governed(t, withPlans(t, "plans: {team: {features: [drafts]}}"))
	_, err := p.actions.DryRun(t.Context(), p.member(t), action.DryOrder{ContractID: "refunds"})
	refused, is := errors.AsType[*plan.RequiredError](err)
	if !is || refused.Feature != plan.DryRuns || refused.Plan != "team" {
		t.Errorf("it is %v", err)
	}
}
