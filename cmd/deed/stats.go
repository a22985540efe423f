package main

import (
	"context"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
)

type statsCmd struct {
	scopeFlags
	All  bool `help:"Every tool and destination, not only the first ones."`
	JSON bool `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed stats --help.
func (statsCmd) Help() string {
	return `Example:
    deed stats --since 7d

One line a tool, the one that returned most first: calls, errors, calls
without an answer, how long answers took (median and 95th percentile, within
1 %), what was returned in all, and the largest answer that was no error.
Under it, where data was going: hosts, mail addresses and network addresses.`
}

func (c *statsCmd) Run(ctx context.Context, w *world) error {
	scope, err := c.scope(w)
	if err != nil {
		return err
	}
	return w.ask(ctx, func(ctx context.Context, reader *journal.Reader) error {
		stats, err := report.ToolFigures(ctx, reader, w.clock, scope, c.All)
		if err != nil {
			return err
		}
		return w.answer(stats, c.JSON)
	})
}
