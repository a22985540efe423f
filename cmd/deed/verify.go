package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

type verifyCmd struct {
	Against string `help:"A checkpoint that was kept elsewhere, as deed checkpoint printed it." placeholder:"FILE" type:"path"`
	Key     string `help:"The journal's verifier key, as it was kept elsewhere." placeholder:"VKEY"`
	JSON    bool   `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed verify --help.
func (verifyCmd) Help() string {
	return `Example:

    deed verify
    deed verify --against /media/stick/deed-checkpoint

Reads every entry once and finds what was edited, deleted, inserted or put in
another order, a cut end, and columns that do not say what their entry says.
Without a checkpoint from outside it cannot find that somebody who can write
the folder wrote all of it anew, and says so first.

Exit code 0: intact. 1: something was found. 2: there is nothing to check, or
it could not be checked.`
}

func (c *verifyCmd) Run(ctx context.Context, w *world) error {
	home, err := w.folder()
	if err != nil {
		return err
	}
	options := journal.VerifyOptions{Key: c.Key, Progress: func(done, total int64) {
		w.progress.Tell("checked", done, total)
	}}
	if c.Against != "" {
		if options.Against, err = os.ReadFile(c.Against); err != nil {
			return &misuse{terminal.WithHint(fmt.Errorf("read the checkpoint to compare with: %w", err), "make one with: deed checkpoint > FILE")}
		}
	}
	var found journal.VerifyReport
	err = interruptible(ctx, func(ctx context.Context) error {
		found, err = journal.Verify(ctx, home, options)
		return err
	})
	w.progress.Clear()
	if err != nil {
		return uncheckedError(err)
	}
	verification := &report.Verification{Report: found, Against: options.Against != nil}
	if err := w.answer(verification, c.JSON); err != nil {
		return err
	}
	if !found.Intact() {
		return exitCode(exitNegative)
	}
	return nil
}

// uncheckedError keeps what could not be checked apart from what was checked
// and is broken. A database that cannot be read any more is broken.
func uncheckedError(err error) error {
	if errors.As(err, new(*journal.BadKeyError)) {
		return &misuse{terminal.WithHint(err, "deed verify says the journal's own in its line \"key\": name+hash+key, as it was kept elsewhere")}
	}
	var corrupt *journal.CorruptError
	if errors.As(err, &corrupt) || errors.Is(err, context.Canceled) {
		return err
	}
	return &misuse{err}
}
