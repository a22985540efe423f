package main

import (
	"context"
	"fmt"
	"os"

	"github.com/deed-dev/deed/internal/demo"
)

type demoCmd struct {
	Keep    bool     `help:"Keep the journal of the demo and say where it is."`
	Command []string `arg:"" optional:"" passthrough:"partial" name:"cmd" help:"A server to drive in place of the built-in shop; only what is safe is called."`
}

// Help is what deed demo --help says besides its flags.
func (c *demoCmd) Help() string {
	return `Example:

  deed demo
  deed demo -- npx -y @modelcontextprotocol/server-everything

The journal is a temporary folder; yours is not touched. The exit code is 1
when no tool could be called.`
}

func (c *demoCmd) Run(ctx context.Context, w *world) error {
	server := c.Command
	if len(server) > 0 && server[0] == "--" {
		server = server[1:]
	}
	program, err := os.Executable()
	if err != nil {
		return fmt.Errorf("find the deed program itself: %w", err)
	}
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	show := &demo.Demo{
		Program: program, Version: buildVersion().Version, Command: server, Keep: c.Keep,
		Out: w.stdout, Err: w.stderr, Style: w.style,
	}
	return show.Run(ctx)
}
