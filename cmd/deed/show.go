package main

import (
	"context"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
)

type showCmd struct {
	Call string `arg:"" help:"The call's id, as deed tail and deed last print it."`
	JSON bool   `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed show --help.
func (showCmd) Help() string {
	return `Example:

    deed show 6d4e47f7.12

Prints the request, what belongs to it and its answer: sizes, times, the shape
of arguments and result (names, types and sizes; no values), whatever was odd,
the hashes, and where the entries stand in the log.

Exit code 1: there is no such call.`
}

func (c *showCmd) Run(ctx context.Context, w *world) error {
	return w.ask(ctx, func(ctx context.Context, history *journal.Reader) error {
		story, err := report.ShowCall(ctx, history, w.clock, c.Call)
		if err != nil {
			return err
		}
		return w.answer(story, c.JSON)
	})
}
