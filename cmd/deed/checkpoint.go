package main

import (
	"context"

	"github.com/deed-dev/deed/internal/journal"
)

type checkpointCmd struct{}

// Help is printed under the flags of deed checkpoint --help.
func (checkpointCmd) Help() string {
	return `Example:

    deed checkpoint > /media/stick/deed-checkpoint
    deed verify --against /media/stick/deed-checkpoint

The checkpoint is a signed note of a few lines: how many entries the journal
has and what they hash to. Whoever can write the journal's folder could write
it anew from the start; a checkpoint that is kept out of their reach (on
another machine, in a mail, on paper) is what shows it.`
}

func (c *checkpointCmd) Run(ctx context.Context, w *world) error {
	return w.ask(ctx, func(ctx context.Context, reader *journal.Reader) error {
		note, err := reader.Checkpoint(ctx)
		if err != nil {
			return err
		}
		return w.print(string(note))
	})
}
