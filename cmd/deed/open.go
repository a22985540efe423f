package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/deed-dev/deed/internal/journal"
)

// ask opens the journal of the home for reading and has a question answered.
// Ctrl-C ends the question; deed run, which has signals to pass on instead,
// does not come here.
func (w *world) ask(ctx context.Context, question func(context.Context, *journal.Reader) error) error {
	home, err := w.folder()
	if err != nil {
		return err
	}
	reader, err := journal.OpenReader(home)
	if err != nil {
		return err
	}
	defer reader.Close() // nothing was written that could be lost
	return interruptible(ctx, func(ctx context.Context) error { return question(ctx, reader) })
}

// untilInterrupted ends the context at Ctrl-C.
func untilInterrupted(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt)
}

// interruptible does something that Ctrl-C ends. The error is then
// context.Canceled, whatever the work made of being stopped.
func interruptible(ctx context.Context, work func(context.Context) error) error {
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	err := work(ctx)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return err
}
