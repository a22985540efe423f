package stdio

import (
	"strings"
	"testing"
)

func TestAServerIsNamedAfterWhatItsRunnerRuns(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"npx -y @modelcontextprotocol/server-everything":           "@modelcontextprotocol/server-everything",
		"npx -y @modelcontextprotocol/server-filesystem@1.2 /data": "@modelcontextprotocol/server-filesystem",
		"npx --package foo -- bar":                                 "bar",
		"/usr/bin/npx mcp-server":                                  "mcp-server",
		"npx.cmd mcp-server":                                       "mcp-server",
		"npm exec -y -- thing@latest":                              "thing",
		"npm start":                                                "npm",
		"uvx --from git+https://x@y mcp-server-git --repository r": "mcp-server-git",
		"uv --directory /secret run server.py":                     "server",
		"python -m my_server --token abc":                          "my_server",
		"python3 /home/me/tools/server.py":                         "server",
		"node dist/index.js --key=abc":                             "index",
		"node --import tsx src/main.ts":                            "main",
		"docker run -i image":                                      "docker",
		"/opt/bin/my-server --port 1":                              "my-server",
		"server.exe":                                               "server",
		"npx":                                                      "npx",
		"npx https://user:pw@host/x.tgz":                           "npx",
		"":                                                         "",
	} {
		if got := Label(strings.Fields(command)); got != want {
			t.Errorf("%q is called %q, want %q", command, got, want)
		}
	}
}
