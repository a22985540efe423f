package api

import (
	"context"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/trail"
	"github.com/deed-dev/deed/internal/view"
)

// Trail says who did what, and how much of it there was; see [trail.Service] for the
// errors.
type Trail interface {
	Audit(ctx context.Context, p access.Principal, page store.Page) ([]store.AuditEntry, store.Cursor, error)
	Usage(ctx context.Context, p access.Principal, month string) (*trail.Usage, error)
}

type auditList struct {
	Entries    []view.AuditEntry `json:"entries" jsonschema:"the latest first"`
	NextCursor *store.Cursor     `json:"next_cursor"`
}

func listAudit(c *call) (reply, error) {
	found, next, err := c.services.Trail.Audit(c.ctx, c.principal, c.query.page())
	list := auditList{Entries: make([]view.AuditEntry, 0, len(found)), NextCursor: cursor(next)}
	for i := range found {
		list.Entries = append(list.Entries, view.AuditEntryOf(&found[i]))
	}
	return answered(list, err)
}

type usage struct {
	Plan      string         `json:"plan"`
	Title     string         `json:"title" jsonschema:"of the plan, for people"`
	Limits    planLimits     `json:"limits"`
	Features  []plan.Feature `json:"features" jsonschema:"those that the plan includes"`
	UpgradeTo string         `json:"upgrade_to,omitzero" jsonschema:"the next plan up"`
	Period    string         `json:"period" jsonschema:"a month"`
	Actions   usedActions    `json:"actions"`
}

type planLimits struct {
	ActionsPerMonth *int64 `json:"actions_per_month" jsonschema:"null where there is no limit"`
}

type usedActions struct {
	Recorded int64  `json:"recorded"`
	Included *int64 `json:"included" jsonschema:"null where there is no limit"`
	Over     bool   `json:"over"`
}

var monthParam = param{name: "period", about: "a month (2026-11), this one without it"}

func getUsage(c *call) (reply, error) {
	month := view.MonthOf(c.at)
	if c.query.has(monthParam.name) {
		month = c.query.text(monthParam.name)
		if _, err := view.Month(month); err != nil {
			return reply{}, &RequestError{Field: monthParam.name, Message: "is a month, as in 2026-11"}
		}
	}
	u, err := c.services.Trail.Usage(c.ctx, c.principal, month)
	if err != nil {
		return reply{}, err
	}
	has := &u.Plan
	out := usage{
		Plan: has.Name, Title: has.Title, Features: append([]plan.Feature{}, has.Features...), UpgradeTo: has.UpgradeTo,
		Period: u.Period, Actions: usedActions{Recorded: u.Recorded, Over: u.Over()},
	}
	if has.Limited {
		out.Limits.ActionsPerMonth, out.Actions.Included = &has.ActionsPerMonth, &has.ActionsPerMonth
	}
	return answered(out, nil)
}
