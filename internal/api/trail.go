package api

import (
	"context"

	"github.com/deed-dev/deed/internal/access"
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
	Plan    string      `json:"plan"`
	Period  string      `json:"period" jsonschema:"a month"`
	Actions usedActions `json:"actions"`
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
	out := usage{Plan: u.Plan, Period: u.Period, Actions: usedActions{Recorded: u.Recorded, Over: u.Over()}}
	if u.Limited {
		out.Actions.Included = &u.Included
	}
	return answered(out, nil)
}
