package main

import (
	"context"
	"errors"
	"time"

	"github.com/deed-dev/deed/internal/terminal"
)

// recorderCmd is deed run --map under the flags of a recorder that people may
// have in their configurations already.
type recorderCmd struct {
	declareFlags
	Label   string   `help:"Name of this server in the answers (default: made from the command)." placeholder:"NAME"`
	Command []string `arg:"" optional:"" passthrough:"partial" name:"cmd" help:"The server and its arguments."`
}

// Help is what deed recorder --help says besides its flags.
func (c *recorderCmd) Help() string {
	return `Example:

  deed recorder --map refunds.json --agent-id support-bot -- npx -y @stripe/mcp --tools=all

The same as deed run --map FILE, which has more flags. The key is $DEED_API_KEY,
the server $DEED_API_URL; where those are not set, $COMMITLAYER_API_KEY,
$COMMITLAYER_API_URL and $COMMITLAYER_RECORDER_MAP are read. Without a key and a
server there is one warning, and then the traffic passes and is recorded.

Exit code 2: the mapping cannot be used. Else the server's, as for deed run.`
}

func (c *recorderCmd) Run(ctx context.Context, w *world) error {
	c.fill()
	if c.Map == "" {
		return &misuse{terminal.WithHint(errors.New("no mapping"), "name its file: deed recorder --map FILE -- SERVER\nwithout one: deed run -- SERVER")}
	}
	run := runCmd{declareFlags: c.declareFlags, Label: c.Label, Capture: "redacted", Linger: 30 * time.Second, Command: c.Command}
	return run.Run(ctx, w)
}
