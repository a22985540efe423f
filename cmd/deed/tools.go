package main

import (
	"context"

	"github.com/deed-dev/deed/internal/journal"
	"github.com/deed-dev/deed/internal/report"
)

type toolsCmd struct {
	Label string `help:"Only the tools of this server." placeholder:"NAME"`
	scopeFlags
	Changes  bool `help:"Only what changed about definitions."`
	ExitCode bool `help:"With --changes: exit code 1 when anything changed."`
	All      bool `help:"Every tool, not only the first ones."`
	JSON     bool `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed tools --help.
func (toolsCmd) Help() string {
	return `Example:
    deed tools
    deed tools --changes --since 7d
    deed tools --changes --exit-code --since yesterday || echo look at this

The tools that servers offered: how often each was called, when it was first
and last in a list, and a hash of its definition. Definitions that changed come
first, with what changed: a server that gives a tool another description tells
the model something else than what somebody once agreed to.
Exit code 1 with --exit-code: a definition changed since then.`
}

// Validate refuses flags that would have no effect.
func (c *toolsCmd) Validate() error {
	if c.ExitCode && !c.Changes {
		return errOnlyWith("--exit-code", "--changes")
	}
	return nil
}

func (c *toolsCmd) Run(ctx context.Context, w *world) error {
	scope, err := c.scope(w)
	if err != nil {
		return err
	}
	changed := false
	err = w.ask(ctx, func(ctx context.Context, reader *journal.Reader) error {
		tools, err := report.ListTools(ctx, reader, w.clock, report.ToolsQuery{Scope: scope, Label: c.Label, Changes: c.Changes, All: c.All})
		if err != nil {
			return err
		}
		changed = tools.Changed()
		return w.answer(tools, c.JSON)
	})
	if err == nil && changed && c.ExitCode {
		return exitCode(exitNegative)
	}
	return err
}
