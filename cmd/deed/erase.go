package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

type eraseCmd struct {
	Call       string `help:"This call, by its id: request, answer and all between." placeholder:"ID"`
	Session    string `help:"The session whose id begins so." placeholder:"PREFIX"`
	Before     string `help:"Everything from before then (90d, 2026-11-30)." placeholder:"WHEN"`
	BodiesOnly bool   `help:"Only what was kept of the messages themselves; what was read from them stays."`
	DryRun     bool   `help:"Say what would go, and erase nothing." short:"n"`
	Yes        bool   `help:"Do not ask." short:"y"`
	JSON       bool   `help:"One JSON document, for programs; needs --yes or --dry-run." name:"json"`
}

// Help is printed under the flags of deed erase --help.
func (eraseCmd) Help() string {
	return `Example:
    deed erase --call 6d4e47f7.12
    deed erase --before 90d --bodies-only --yes
    deed erase --session 6d4e47f7 --dry-run

Deletes for good what was kept of calls: names, arguments, results, errors,
destinations and bodies, with the salts that bind them to the log. The entries
with their sizes, times and hashes stay, and so does a new entry that says what
was erased: deed verify still proves the rest, and lists the erasure.
On a terminal it asks first; elsewhere it needs --yes.
Exit code 1: it was not erased, because the answer was no.`
}

// Validate wants exactly one thing to erase.
func (c *eraseCmd) Validate() error {
	given := 0
	for _, one := range []string{c.Call, c.Session, c.Before} {
		if one != "" {
			given++
		}
	}
	switch {
	case given == 0:
		return errNothingAsked("what to erase", "deed erase --call 6d4e47f7.12, --session 6d4e47f7 or --before 90d")
	case given > 1:
		return errors.New("only one of --call, --session and --before can stand at a time")
	case c.JSON && !c.Yes && !c.DryRun:
		return errOnlyWith("--json", "--yes or --dry-run")
	}
	return nil
}

func (c *eraseCmd) Run(ctx context.Context, w *world) error {
	before, err := w.before(c.Before)
	if err != nil {
		return err
	}
	target := report.EraseTarget{Call: c.Call, Session: c.Session, Before: before}
	var erasing *report.Erasing
	// The reader is closed before anything is erased: it would keep old pages
	// alive in the database's side file.
	if err := w.ask(ctx, func(ctx context.Context, reader *journal.Reader) error {
		erasing, err = report.FindErasing(ctx, reader, w.clock, target, c.BodiesOnly)
		return err
	}); err != nil {
		return err
	}
	home, err := w.folder()
	if err != nil {
		return err
	}
	tellExposed(home, func(exposed error) { terminal.PrintError(w.stderr, exposed) })
	return interruptible(ctx, func(ctx context.Context) error { return c.erase(ctx, w, home, erasing) })
}

func (c *eraseCmd) erase(ctx context.Context, w *world, home string, erasing *report.Erasing) error {
	if c.DryRun || !c.Yes {
		request := erasing.Request
		request.DryRun = true
		would, err := journal.Erase(ctx, home, request)
		if err != nil {
			return fmt.Errorf("count what would be erased: %w", err)
		}
		if c.DryRun || would.Entries == 0 {
			return w.answer(&report.Erased{Erasing: erasing, Erasure: would, DryRun: true}, c.JSON)
		}
		if err := w.confirm(erasing.Plan(would), "erase it?"); err != nil {
			return err
		}
	}
	gone, err := journal.Erase(ctx, home, erasing.Request)
	if err != nil {
		return fmt.Errorf("erase: %w", err)
	}
	return w.answer(&report.Erased{Erasing: erasing, Erasure: gone}, c.JSON)
}

// confirm says what would happen and asks whether it may. Where nobody can be
// asked, the command line must say yes.
func (w *world) confirm(plan, question string) error {
	if !w.asks {
		return &misuse{terminal.WithHint(errors.New("nobody is here to be asked, so nothing was erased"), "see what would go: --dry-run\nerase it: --yes")}
	}
	if _, err := fmt.Fprint(w.stderr, plan); err != nil {
		return fmt.Errorf("ask whether to go on: %w", err)
	}
	yes, err := terminal.Ask(w.stdin, w.stderr, question)
	if err != nil {
		return err
	}
	if !yes {
		fmt.Fprintln(w.stderr, "deed: nothing was erased")
		return exitCode(exitNegative)
	}
	return nil
}
