package demo

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/terminal"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The most that is asked of a stranger's server.
const (
	mostCalls = 25
	mostTools = 2000
)

// leftOut is a tool that was not called, and why.
type leftOut struct{ tool, reason string }

// visit drives a server that is not ours: it calls what is safe and names
// what it left out. A call that fails is an answer like any other.
func (d *Demo) visit(ctx context.Context, home string) error {
	d.say("Starting the server through deed run. Only tools that are safe to call are called.\n")
	d.say("$ deed run -- %s\n", terminal.Clean(strings.Join(d.Command, " ")))
	c, err := d.connect(ctx, home, "", d.Command)
	if err != nil {
		return err
	}
	defer c.session.Close() // harmless after close

	tools, err := d.tools(ctx, c)
	if err != nil {
		return err
	}
	d.introduce(c, tools)
	calls, refused, skipped := d.callSafe(ctx, c, tools)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	width := columnFor(tools)
	d.name("Refused", width, refused)
	d.name("Skipped", width, skipped)
	// A server that does not end well was still recorded, and says so in the
	// journal; that is no failure of the demo.
	if err := c.close(); err != nil {
		d.say("\nThe server did not end well: %s", oneLine(err.Error()))
	}
	if calls == 0 {
		return terminal.WithHint(ErrNoCall, "a server whose tools promise to only read (readOnlyHint) shows more\nwithout a server of your own: deed demo")
	}
	return nil
}

// tools lists all tools, page by page. A server without tools has none.
func (d *Demo) tools(ctx context.Context, c *client) ([]*mcp.Tool, error) {
	if c.session.InitializeResult().Capabilities.Tools == nil {
		return nil, nil
	}
	within, cancel := context.WithTimeout(ctx, d.limits.list)
	defer cancel()
	var tools []*mcp.Tool
	for tool, err := range c.session.Tools(within, nil) {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			err = fmt.Errorf("list the tools: %w", err)
			if said := c.stderr.String(); said != "" {
				err = terminal.WithHint(err, said)
			}
			return nil, err
		}
		if tools = append(tools, tool); len(tools) == mostTools {
			break
		}
	}
	return tools, nil
}

func (d *Demo) introduce(c *client, tools []*mcp.Tool) {
	name := "The server"
	if info := c.session.InitializeResult().ServerInfo; info != nil && info.Name != "" {
		name = strings.TrimSpace(oneLine(info.Name) + " " + oneLine(info.Version))
	}
	d.say("%s has %s.", name, terminal.Plural(int64(len(tools)), "tool"))
}

// callSafe judges every tool and calls those that may be called.
func (d *Demo) callSafe(ctx context.Context, c *client, tools []*mcp.Tool) (calls int, refused, skipped []leftOut) {
	deadline := time.Now().Add(d.limits.total)
	width := columnFor(tools)
	ended := false
	for _, tool := range tools {
		if reason, safe := judge(tool); !safe {
			refused = append(refused, leftOut{tool.Name, reason})
			continue
		}
		values, reason := arguments(tool)
		switch {
		case reason != "":
		case ended:
			reason = "the server had ended"
		case calls == mostCalls:
			reason = fmt.Sprintf("%d calls are enough to see how it works", mostCalls)
		case time.Now().After(deadline):
			reason = "the time for calls was used up"
		}
		if reason != "" {
			skipped = append(skipped, leftOut{tool.Name, reason})
			continue
		}
		if calls == 0 {
			d.heading("Called")
		}
		calls++
		a := c.call(ctx, tool.Name, values)
		if ctx.Err() != nil {
			return calls, refused, skipped
		}
		d.callLine(tool.Name, width, a, a.text()+slowly(a))
		if given := brief(values); given != "" {
			d.say("  %-*s %s", width, "", d.Style.Faint("with "+oneLine(given)))
		}
		ended = a.ended()
	}
	return calls, refused, skipped
}

// name lists what was left out.
func (d *Demo) name(title string, width int, tools []leftOut) {
	if len(tools) == 0 {
		return
	}
	d.heading(title)
	for _, t := range tools {
		d.say("  %-*s %s", width, oneLine(t.tool), terminal.Clean(t.reason))
	}
}

// columnFor is how wide the column of names is: as wide as the longest, but
// not so wide that nothing is left for the rest.
func columnFor(tools []*mcp.Tool) int {
	width := nameWidth
	for _, tool := range tools {
		width = max(width, utf8.RuneCountInString(oneLine(tool.Name)))
	}
	return min(width, 36)
}
