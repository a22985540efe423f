package main

import (
	"context"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
)

type duCmd struct {
	JSON bool `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed du --help.
func (duCmd) Help() string {
	return `Example:
    deed du

How many bytes the journal takes: entries and their hashes, details, bodies,
and what the database needs besides; which sessions take the most; and what
will be removed next, because it is too old or too much to keep. Only bodies
are ever removed so, and an entry of the log says it.`
}

func (c *duCmd) Run(ctx context.Context, w *world) error {
	home, err := w.folder()
	if err != nil {
		return err
	}
	return w.ask(ctx, func(ctx context.Context, reader *journal.Reader) error {
		usage, err := journal.UsageOf(ctx, home, journal.Policy{})
		if err != nil {
			return err
		}
		disk, err := report.DiskUse(ctx, reader, w.clock, usage)
		if err != nil {
			return err
		}
		return w.answer(disk, c.JSON)
	})
}
