package main

import (
	"context"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
)

type tailCmd struct {
	Limit   int    `help:"How many calls." short:"n" default:"20"`
	Session string `help:"Only the session whose id begins so." placeholder:"PREFIX"`
	Since   string `help:"Only calls since then (14d, 90m, today, 2026-11-30T14:05)." placeholder:"WHEN"`
	Errors  bool   `help:"Only calls that failed or were never answered."`
	All     bool   `help:"Requests of every method, from both sides, not only tool calls."`
	JSON    bool   `help:"One JSON document a line, for programs." name:"json"`
}

// Help is printed under the flags of deed tail --help.
func (tailCmd) Help() string {
	return `Example:

    deed tail                          the 20 newest calls
    deed tail --errors --since 14d     what failed in two weeks
    deed tail --json -n 1000 | jq .tool

The columns: when, ok or ERR or none (never answered) or … (not yet), which
tool, the bytes that went in and came out, how long it took, and the call's
id, which deed show takes.`
}

// Validate refuses a list of nothing.
func (c *tailCmd) Validate() error {
	if c.Limit < 1 {
		return errTooSmall("-n", c.Limit)
	}
	return nil
}

func (c *tailCmd) Run(ctx context.Context, w *world) error {
	since, err := w.since(c.Since)
	if err != nil {
		return err
	}
	return w.ask(ctx, func(ctx context.Context, history *journal.Reader) error {
		tail, err := report.TailCalls(ctx, history, w.clock, report.TailQuery{
			Limit: c.Limit, Session: c.Session, Since: since, Errors: c.Errors, All: c.All,
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return report.WriteJSONLines(w.stdout, tail.Documents())
		}
		return w.print(tail.Text(w.view()))
	})
}
