package main

import (
	"context"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
)

type lastCmd struct {
	Session string `help:"The session whose id begins so, instead of the newest." placeholder:"PREFIX"`
	Runs    bool   `help:"List the newest sessions instead."`
	Limit   int    `help:"How many sessions --runs lists." short:"n" default:"10"`
	Since   string `help:"With --runs: only those that did something since then (14d, 24h, today, 2026-11-30)." placeholder:"WHEN"`
	JSON    bool   `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed last --help.
func (lastCmd) Help() string {
	return `Example:

    deed last                      the newest session that called a tool
    deed last --runs               the newest sessions, one a line
    deed last --session 6d4e47f7   one of them

Exit code 1: nothing is recorded, or there is no such session.`
}

// Validate refuses flags that would have no effect.
func (c *lastCmd) Validate() error {
	switch {
	case c.Runs && c.Session != "":
		return errTogether("--runs", "--session")
	case !c.Runs && c.Since != "":
		return errOnlyWith("--since", "--runs")
	case c.Limit < 1:
		return errTooSmall("-n", c.Limit)
	}
	return nil
}

func (c *lastCmd) Run(ctx context.Context, w *world) error {
	since, err := w.since(c.Since)
	if err != nil {
		return err
	}
	return w.ask(ctx, func(ctx context.Context, history *journal.Reader) error {
		if c.Runs {
			runs, err := report.ListRuns(ctx, history, w.clock, since, c.Limit)
			if err != nil {
				return err
			}
			return w.answer(runs, c.JSON)
		}
		last, err := report.LastRun(ctx, history, w.clock, c.Session)
		if err != nil {
			return err
		}
		return w.answer(last, c.JSON)
	})
}
