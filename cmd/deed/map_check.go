package main

import (
	"context"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/deed-dev/deed/internal/intent/fit"
	"github.com/deed-dev/deed/internal/stdio"
)

type mapCheckCommand struct {
	Label   string   `help:"Name of this server, by which keys such as stripe.refund are its own (default: made from the command)." placeholder:"NAME"`
	JSON    bool     `help:"One JSON document, for programs." name:"json"`
	File    string   `arg:"" help:"The mapping; - is standard input."`
	Command []string `arg:"" optional:"" passthrough:"partial" name:"cmd" help:"The server and its arguments; without it the file alone is checked."`
}

// Help is printed under the flags of deed map check --help.
func (mapCheckCommand) Help() string {
	return `Example:

    deed map check files.yaml
    deed map check files.yaml -- npx -y @modelcontextprotocol/server-filesystem .

Says what is wrong with a mapping: the line, the tool and the key. With the
command of a server it starts the server, asks for its tools, calls none, and
says which of them are mapped, which mapped ones it does not have, and which
mapped places are not in a tool's schema.

Exit code 0: it fits. 1: something does not fit. 2: it is no mapping, and
deed run --map would not start with it.`
}

func (c *mapCheckCommand) Run(ctx context.Context, w *world) error {
	text, err := contractText(w, c.File)
	if err != nil {
		return err
	}
	argv := commandOf(c.Command)
	label := c.Label
	if label == "" && len(argv) > 0 {
		label = stdio.Label(argv)
	}
	m, err := intent.ParseFor(c.File, text, label)
	if err != nil {
		return mappingError(c.File, err)
	}
	checked := fit.Check(c.File, m)
	if len(argv) > 0 {
		tools, err := offered(ctx, argv)
		if err != nil {
			return err
		}
		checked = fit.CheckServer(c.File, m, label, tools)
	}
	if err := w.answer(mapCheck{checked}, c.JSON); err != nil {
		return err
	}
	if !checked.Fits {
		return exitCode(exitNegative)
	}
	return nil
}

// commandOf is a command without the dashes that set it apart.
func commandOf(argv []string) []string {
	if len(argv) > 0 && argv[0] == "--" {
		return argv[1:]
	}
	return argv
}
