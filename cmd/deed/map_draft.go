package main

import (
	"context"
	"errors"

	"github.com/deed-dev/deed/internal/intent/fit"
	"github.com/deed-dev/deed/internal/terminal"
)

type mapDraftCommand struct {
	All     bool     `help:"Also tools that seem only to read."`
	Command []string `arg:"" optional:"" passthrough:"partial" name:"cmd" help:"The server and its arguments."`
}

// Help is printed under the flags of deed map draft --help.
func (mapDraftCommand) Help() string {
	return `Example:

    deed map draft -- npx -y @modelcontextprotocol/server-filesystem . > files.yaml

Starts the server, asks for its tools, calls none, and prints a mapping with a
proposal for each tool that is not known only to read. Where a person must
choose, a comment says CHOOSE. What is printed is a mapping as it is.

Exit code 0: a draft was printed. 1: the server did not tell its tools.`
}

func (c *mapDraftCommand) Run(ctx context.Context, w *world) error {
	argv := commandOf(c.Command)
	if len(argv) == 0 {
		return &misuse{terminal.WithHint(errors.New("no server to draft from"), "put its command behind --: deed map draft -- npx -y @modelcontextprotocol/server-everything")}
	}
	tools, err := offered(ctx, argv)
	if err != nil {
		return err
	}
	return w.print(fit.Draft(tools, c.All))
}
