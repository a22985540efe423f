package demo

import (
	"bytes"
	"encoding/json"
	"strings"
)

// next says how to go on: the same for a server that somebody uses already.
func (d *Demo) next() {
	d.heading("What to do next")
	d.say(`To record a server that you use, put deed run -- in front of its command.

Claude Code:
  claude mcp add memory -- %s run --label memory -- npx -y @modelcontextprotocol/server-memory

Claude Desktop (claude_desktop_config.json) and Cursor (~/.cursor/mcp.json):
%s

Restart the client, let it work, and ask:
  deed last      what happened: failures first, then what was enormous
  deed tail      the latest calls
  deed stats     what each tool did: calls, errors, times, where data went
  deed cost      what the answers cost a model that reads them
  deed verify    whether anything was altered since it was written`,
		shellWord(d.Program), d.entry())
	if len(d.Command) == 0 {
		d.say("\nTo try a public server first:\n  deed demo -- npx -y @modelcontextprotocol/server-everything")
	}
}

// entry is what a client's configuration file needs. The program stands there
// with its whole path: clients with windows often have a short PATH.
func (d *Demo) entry() string {
	return `  { "mcpServers": { "memory": {
      "command": ` + jsonText(d.Program) + `,
      "args": ["run", "--label", "memory", "--", "npx", "-y", "@modelcontextprotocol/server-memory"]
  } } }`
}

// jsonText writes text as JSON, with & and < as they are.
func jsonText(text string) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	// Text can always be written.
	_ = encoder.Encode(text)
	return strings.TrimRight(b.String(), "\n")
}

// shellWord quotes a path for a shell where it needs that. Double quotes are
// understood by all of them.
func shellWord(path string) string {
	if strings.ContainsAny(path, " \t'&()") {
		return `"` + path + `"`
	}
	return path
}
