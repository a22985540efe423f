package main

// server is a public MCP server that starts offline and without credentials.
// In its texts $WORK stands for the empty folder that it is run in. What it
// would ask of the network goes to a port of the machine where nobody listens.
type server struct {
	name  string   // of the npm package
	entry string   // file in the package
	args  []string // behind it
	env   []string
}

// servers is the list of the census: the packages of test/npm, which pins
// their versions.
func servers() []server {
	return []server{
		{name: "@allpepper/memory-bank-mcp", entry: "dist/main/index.js", env: []string{"MEMORY_BANK_ROOT=$WORK"}},
		{name: "@antv/mcp-server-chart", entry: "build/index.js", env: []string{"VIS_REQUEST_SERVER=http://127.0.0.1:1/chart"}},
		{name: "@coo-quack/calc-mcp", entry: "dist/index.js"},
		{name: "@drawio/mcp", entry: "src/index.js"},
		{name: "@eslint/mcp", entry: "src/mcp-cli.js"},
		{name: "@gongrzhe/server-travelplanner-mcp", entry: "dist/index.js"},
		{name: "@itseasy21/mcp-knowledge-graph", entry: "dist/index.js", env: []string{"MEMORY_FILE_PATH=$WORK/graph.json"}},
		{
			name: "@ivotoby/openapi-mcp-server", entry: "bin/mcp-server.js",
			args: []string{"--api-base-url", "http://127.0.0.1:1", "--spec-inline", `{"openapi":"3.0.0","info":{"title":"Shop","version":"1"},"paths":{"/orders":{"get":{"operationId":"listOrders","summary":"List orders","responses":{"200":{"description":"ok"}}}}}}`},
		},
		{name: "@kazuph/mcp-taskmanager", entry: "dist/index.js", env: []string{"TASK_MANAGER_FILE_PATH=$WORK/tasks.json"}},
		{name: "@mcp-get-community/server-curl", entry: "dist/index.js"},
		{name: "@modelcontextprotocol/server-everything", entry: "dist/index.js"},
		{name: "@modelcontextprotocol/server-filesystem", entry: "dist/index.js", args: []string{"$WORK"}},
		{name: "@modelcontextprotocol/server-memory", entry: "dist/index.js", env: []string{"MEMORY_FILE_PATH=$WORK/memory.json"}},
		{name: "@modelcontextprotocol/server-sequential-thinking", entry: "dist/index.js"},
		{name: "@primevue/mcp", entry: "dist/index.js"},
		{name: "@vuetify/mcp", entry: "bin/cli.js"},
		{name: "mcp-fetch-server", entry: "dist/index.js"},
		{name: "mcp-git", entry: "dist/cli.js"},
		{name: "mcp-hello-world", entry: "build/stdio.js"},
		{name: "mcp-sequentialthinking-tools", entry: "dist/index.js"},
	}
}

// leftOut are packages of test/npm that are not measured, and why.
func leftOut() map[string]string {
	const banner = "it prints lines that are no messages, which the client takes for an error"
	const kit = "it is a kit to build clients and servers with"
	return map[string]string{
		"@modelcontextprotocol/sdk":          "it is the client",
		"@modelcontextprotocol/client":       kit,
		"@modelcontextprotocol/server":       kit,
		"sdk-2024-11-05":                     kit,
		"sdk-2025-03-26":                     kit,
		"sdk-2025-06-18":                     kit,
		"zod":                                "it describes the inputs of such servers",
		"@agent-infra/mcp-server-filesystem": banner,
		"time-mcp":                           banner,
	}
}

// quickServers start fast and answer fast.
func quickServers() []string {
	return []string{"@modelcontextprotocol/server-memory", "mcp-hello-world"}
}
