package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/terminal"
)

type watchCmd struct {
	scopeFlags
	Errors bool `help:"Only calls that failed or were never answered, gaps and unclean ends."`
	Limit  *int `help:"End after so many calls." short:"n" placeholder:"N"`
	JSON   bool `help:"One JSON document a line, for programs." name:"json"`
}

// Help is printed under the flags of deed watch --help.
func (watchCmd) Help() string {
	return `Example:
    deed watch
    deed watch --errors --json | jq -r .tool

Follows all recorders of this home: one line for each tool call as it ends,
for sessions that begin and end, and for what was not seen. With --since it
begins with what happened since then. The columns are those of deed tail.
It goes on until Ctrl-C, which ends it with exit code 130, until its reader
goes away (0), or until -n calls were told (0).`
}

// Validate refuses a number of calls that is none.
func (c *watchCmd) Validate() error {
	if c.Limit != nil && *c.Limit < 1 {
		return terminal.WithHint(errTooSmall("-n", *c.Limit), "leave -n out to go on until Ctrl-C")
	}
	return nil
}

// limit is after how many calls to end; 0 for none.
func (c *watchCmd) limit() int {
	if c.Limit == nil {
		return 0
	}
	return *c.Limit
}

// watchPause is how often the journal is asked. A call that ends is told
// within a quarter of a second, and a question costs some µs.
const watchPause = 250 * time.Millisecond

func (c *watchCmd) Run(ctx context.Context, w *world) error {
	scope, err := c.scope(w)
	if err != nil {
		return err
	}
	return interruptible(ctx, func(ctx context.Context) error {
		reader, err := w.awaitJournal(ctx)
		if err != nil {
			return err
		}
		defer reader.Close() // nothing was written that could be lost
		query := report.WatchQuery{Scope: scope, Errors: c.Errors, Limit: c.limit(), JSON: c.JSON}
		return report.Watch(ctx, reader, w.view(), query, w.stdout, pause)
	})
}

// awaitJournal opens the journal, or waits for the first recorder to make one:
// whoever wants to watch may well begin before there is anything.
func (w *world) awaitJournal(ctx context.Context) (*journal.Reader, error) {
	home, err := w.folder()
	if err != nil {
		return nil, err
	}
	for told := false; ; told = true {
		reader, err := journal.OpenReader(home)
		if !errors.Is(err, journal.ErrNoJournal) {
			return reader, err
		}
		if !told {
			fmt.Fprintln(w.stderr, "deed: nothing recorded yet; waiting for the first session")
		}
		if err := pause(ctx); err != nil {
			return nil, err
		}
	}
}

func pause(ctx context.Context) error {
	timer := time.NewTimer(watchPause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
