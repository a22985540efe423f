package npmtest

// server is a public MCP server and what the client does with it. In its
// texts $WORK stands for the folder that each run begins with anew, and $HTTP
// for a web server on the same machine.
type server struct {
	name    string   // of the package
	variant string   // where one package is run in several ways
	entry   string   // file in the package
	args    []string // behind it
	npx     string   // program to start by way of npx instead
	env     []string
	quietMS int // for servers that change their mind after initialize

	calls    []call // one after the other
	together []call // at once
	prompts  []prompt
}

type call struct {
	Name      string         `json:"name"`
	Arguments map[string]any `json:"arguments,omitempty"`
	Progress  bool           `json:"progress,omitempty"`
	CancelMS  int            `json:"cancelMS,omitempty"` // give up after so many ms
}

type prompt struct {
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// m keeps the table readable.
type m = map[string]any

// oddText has what relays like to damage: text outside ASCII and outside the
// basic plane, characters that some take for line ends, and a NUL.
const oddText = "h\u00e9llo \u2028\u2029\u0085 \U0001F600 \x00 \ufeff \"\\ end"

// servers are the servers of the test. All of them start without a network
// and without credentials; calls that would leave the machine are made to
// addresses where nobody listens.
func servers() []server {
	const entity = "deed"
	graph := []call{
		{Name: "read_graph"},
		{Name: "create_entities", Arguments: m{"entities": []m{{"name": entity, "entityType": "tool", "observations": []string{oddText}}}}},
		{Name: "create_relations", Arguments: m{"relations": []m{{"from": entity, "to": entity, "relationType": "is"}}}},
		{Name: "add_observations", Arguments: m{"observations": []m{{"entityName": entity, "contents": []string{"keeps a journal"}}}}},
		{Name: "search_nodes", Arguments: m{"query": "journal"}},
		{Name: "open_nodes", Arguments: m{"names": []string{entity}}},
		{Name: "add_observations", Arguments: m{"observations": []m{{"entityName": "nobody", "contents": []string{"x"}}}}},
		{Name: "delete_entities", Arguments: m{"entityNames": []string{entity}}},
		{Name: "read_graph"},
	}
	files := []call{
		{Name: "list_allowed_directories"},
		{Name: "list_directory", Arguments: m{"path": "$WORK/files"}},
		{Name: "read_file", Arguments: m{"path": "$WORK/files/odd.txt"}},
		{Name: "read_file", Arguments: m{"path": "$WORK/files/big.txt"}},
		{Name: "read_multiple_files", Arguments: m{"paths": []string{"$WORK/files/odd.txt", "$WORK/files/missing.txt"}}},
		{Name: "get_file_info", Arguments: m{"path": "$WORK/files/odd.txt"}},
		{Name: "search_files", Arguments: m{"path": "$WORK/files", "pattern": "**/*.txt"}},
		{Name: "directory_tree", Arguments: m{"path": "$WORK/files"}},
		{Name: "write_file", Arguments: m{"path": "$WORK/files/new.txt", "content": oddText}},
		{Name: "read_file", Arguments: m{"path": "$WORK/files/new.txt"}},
		{Name: "edit_file", Arguments: m{"path": "$WORK/files/odd.txt", "edits": []m{{"oldText": "plain", "newText": "edited"}}}},
		{Name: "read_file", Arguments: m{"path": "/outside/of/it"}},
	}
	bigFiles := []call{
		{Name: "read_file", Arguments: m{"path": "$WORK/files/big.txt"}},
		{Name: "read_file", Arguments: m{"path": "$WORK/files/odd.txt"}},
		{Name: "read_file", Arguments: m{"path": "$WORK/files/big.txt"}},
		{Name: "list_directory", Arguments: m{"path": "$WORK/files"}},
	}
	everything := []call{
		{Name: "echo", Arguments: m{"message": oddText}},
		{Name: "get-sum", Arguments: m{"a": 0.1, "b": 0.2}},
		{Name: "get-sum", Arguments: m{"a": "not a number"}},
		{Name: "get-annotated-message", Arguments: m{"messageType": "debug", "includeImage": true}},
		{Name: "get-tiny-image"},
		{Name: "get-structured-content", Arguments: m{"location": "Chicago"}},
		{Name: "get-resource-links", Arguments: m{"count": 4}},
		{Name: "get-resource-reference", Arguments: m{"resourceType": "Text", "resourceId": 1}},
		{Name: "get-roots-list"},
		{Name: "trigger-sampling-request", Arguments: m{"prompt": "say hello", "maxTokens": 10}},
		{Name: "trigger-elicitation-request"},
		{Name: "trigger-long-running-operation", Arguments: m{"duration": 1, "steps": 4}, Progress: true},
		{Name: "trigger-long-running-operation", Arguments: m{"duration": 60, "steps": 1}, CancelMS: 100},
	}
	return []server{
		{
			name: "@modelcontextprotocol/server-everything", entry: "dist/index.js", quietMS: 700, calls: everything,
			together: []call{
				{Name: "echo", Arguments: m{"message": "1"}},
				{Name: "get-tiny-image"},
				{Name: "echo", Arguments: m{"message": "2"}},
				{Name: "get-sum", Arguments: m{"a": 1, "b": 2}},
				{Name: "trigger-long-running-operation", Arguments: m{"duration": 1, "steps": 2}},
				{Name: "echo", Arguments: m{"message": "3"}},
			},
			prompts: []prompt{{Name: "simple-prompt"}, {Name: "args-prompt", Arguments: map[string]string{"city": "Oslo"}}},
		},
		{
			// A chain of processes: npx, a shell, node.
			name: "@modelcontextprotocol/server-everything", variant: "by npx", npx: "mcp-server-everything", quietMS: 700,
			calls: []call{{Name: "echo", Arguments: m{"message": oddText}}, {Name: "get-tiny-image"}},
		},
		{name: "@modelcontextprotocol/server-filesystem", entry: "dist/index.js", args: []string{"$WORK/files"}, quietMS: 300, calls: files, together: bigFiles},
		{
			name: "@modelcontextprotocol/server-memory", entry: "dist/index.js",
			env: []string{"MEMORY_FILE_PATH=$WORK/memory.json"}, calls: graph,
		},
		{name: "@modelcontextprotocol/server-sequential-thinking", entry: "dist/index.js", calls: []call{
			{Name: "sequentialthinking", Arguments: m{"thought": oddText, "nextThoughtNeeded": true, "thoughtNumber": 1, "totalThoughts": 2}},
			{Name: "sequentialthinking", Arguments: m{"thought": "so it is", "nextThoughtNeeded": false, "thoughtNumber": 2, "totalThoughts": 2}},
			{Name: "sequentialthinking", Arguments: m{"thought": 7}},
		}},
		{
			name: "@agent-infra/mcp-server-filesystem", entry: "dist/index.cjs", args: []string{"--allowed-directories", "$WORK/files"},
			calls: files, together: bigFiles,
		},
		{name: "@allpepper/memory-bank-mcp", entry: "dist/main/index.js", env: []string{"MEMORY_BANK_ROOT=$WORK/bank"}, calls: []call{
			{Name: "memory_bank_write", Arguments: m{"projectName": "deed", "fileName": "notes.md", "content": oddText}},
			{Name: "list_projects"},
			{Name: "list_project_files", Arguments: m{"projectName": "deed"}},
			{Name: "memory_bank_read", Arguments: m{"projectName": "deed", "fileName": "notes.md"}},
			{Name: "memory_bank_update", Arguments: m{"projectName": "deed", "fileName": "missing.md", "content": "x"}},
			{Name: "memory_bank_read", Arguments: m{"projectName": "../..", "fileName": "x"}},
		}},
		// Charts are drawn by a service, which the test's own web server plays.
		{name: "@antv/mcp-server-chart", entry: "build/index.js", env: []string{"VIS_REQUEST_SERVER=$HTTP/chart"}, calls: []call{
			{Name: "generate_pie_chart", Arguments: m{"data": []m{{"category": oddText, "value": 0.1}, {"category": "b", "value": 2}}}},
			{Name: "generate_pie_chart", Arguments: m{"data": "no list"}},
			{Name: "generate_line_chart"},
		}},
		{name: "@coo-quack/calc-mcp", entry: "dist/index.js", calls: []call{
			{Name: "hash", Arguments: m{"input": oddText, "algorithm": "sha256"}},
			{Name: "base64", Arguments: m{"input": oddText, "action": "encode"}},
			{Name: "count", Arguments: m{"text": oddText}},
			{Name: "math", Arguments: m{"expression": "2^64 + 0.1"}},
			{Name: "math", Arguments: m{"expression": "(("}},
			{Name: "date", Arguments: m{"action": "diff", "date": "2026-01-01", "date2": "2026-03-01"}},
			{Name: "regex", Arguments: m{"pattern": "l+", "text": "hello", "action": "matchAll"}},
			{Name: "base", Arguments: m{"value": "18446744073709551617", "from": 10, "to": 16}},
			{Name: "luhn", Arguments: m{"number": "79927398713"}},
			{Name: "char_info", Arguments: m{"char": "\U0001F600"}},
			{Name: "semver", Arguments: m{"action": "compare", "version": "1.2.3", "version2": "1.10.0"}},
			{Name: "random", Arguments: m{"type": "uuid"}},
		}, together: []call{
			{Name: "count", Arguments: m{"text": "a"}},
			{Name: "count", Arguments: m{"text": "bb"}},
			{Name: "luhn", Arguments: m{"number": "0"}},
			{Name: "color", Arguments: m{"color": "#336699"}},
			{Name: "url_parse", Arguments: m{"url": "https://example.invalid/a?b=c#d"}},
		}},
		{name: "@drawio/mcp", entry: "src/index.js", calls: []call{
			{Name: "search_shapes", Arguments: m{"query": "valve", "limit": 5}},
			{Name: "list_pages", Arguments: m{"path": "$WORK/files/page.drawio"}},
			{Name: "get_page", Arguments: m{"path": "$WORK/files/page.drawio", "page": "0"}},
			{Name: "list_pages", Arguments: m{"path": "$WORK/files/missing.drawio"}},
		}},
		{name: "@eslint/mcp", entry: "src/mcp-cli.js", calls: []call{
			{Name: "lint-files", Arguments: m{"filePaths": []string{"$WORK/files/program.js"}}},
			{Name: "lint-files", Arguments: m{"filePaths": []string{}}},
		}},
		{name: "@gongrzhe/server-travelplanner-mcp", entry: "dist/index.js", calls: []call{
			{Name: "create_itinerary", Arguments: m{"origin": "Oslo", "destination": "Bergen", "startDate": "2026-06-01", "endDate": "2026-06-05"}},
			{Name: "search_attractions", Arguments: m{"location": "Bergen"}},
			{Name: "get_transport_options", Arguments: m{"origin": "Oslo", "destination": "Bergen", "date": "2026-06-01"}},
			{Name: "get_accommodations", Arguments: m{"location": 7}},
		}},
		{
			name: "@itseasy21/mcp-knowledge-graph", entry: "dist/index.js",
			env: []string{"MEMORY_FILE_PATH=$WORK/graph.json"}, calls: graph,
		},
		{
			name: "@ivotoby/openapi-mcp-server", entry: "bin/mcp-server.js",
			args:  []string{"--api-base-url", "$HTTP", "--openapi-spec", "$WORK/files/api.json"},
			calls: []call{{Name: "lst-orders", Arguments: m{"limit": 3}}, {Name: "get-order", Arguments: m{"id": "7"}}},
		},
		{
			name: "@kazuph/mcp-taskmanager", entry: "dist/index.js", env: []string{"TASK_MANAGER_FILE_PATH=$WORK/tasks.json"},
			calls: []call{
				{Name: "request_planning", Arguments: m{"originalRequest": "ship it", "tasks": []m{{"title": "test", "description": oddText}}}},
				{Name: "list_requests"},
				{Name: "get_next_task", Arguments: m{"requestId": "req-1"}},
				{Name: "mark_task_done", Arguments: m{"requestId": "req-1", "taskId": "task-1", "completedDetails": "done"}},
				{Name: "open_task_details", Arguments: m{"taskId": "task-1"}},
				{Name: "delete_task", Arguments: m{"requestId": "req-9", "taskId": "task-9"}},
			},
		},
		{name: "@mcp-get-community/server-curl", entry: "dist/index.js", calls: []call{
			{Name: "curl", Arguments: m{"url": "$HTTP/page"}},
			{Name: "curl", Arguments: m{"url": "http://127.0.0.1:1/"}},
			{Name: "curl", Arguments: m{"url": "no url"}},
		}},
		{name: "@primevue/mcp", entry: "dist/index.js", calls: []call{
			{Name: "version"},
			{Name: "list"},
			{Name: "search", Arguments: m{"query": "button"}},
			{Name: "get_component", Arguments: m{"name": "Button"}},
			{Name: "get_setup"},
		}},
		{name: "@vuetify/mcp", entry: "bin/cli.js", calls: []call{
			{Name: "get_v4_breaking_changes"},
			{Name: "get_upgrade_plan", Arguments: m{"from": "2", "to": "3"}},
			{Name: "get_v2_to_v3_component_map"},
			{Name: "get_upgrade_guide", Arguments: m{"version": 7}},
		}},
		{name: "mcp-fetch-server", entry: "dist/index.js", calls: []call{
			{Name: "fetch_txt", Arguments: m{"url": "$HTTP/page"}},
			{Name: "fetch_html", Arguments: m{"url": "$HTTP/page"}},
			{Name: "fetch_txt", Arguments: m{"url": "http://127.0.0.1:1/"}},
			{Name: "fetch_json", Arguments: m{"url": "file:///etc/hostname"}},
		}},
		{name: "mcp-git", entry: "dist/cli.js", calls: []call{
			{Name: "git_init", Arguments: m{"repo_path": "$WORK/repository"}},
			{Name: "git_status", Arguments: m{"repo_path": "$WORK/repository"}},
			{Name: "git_log", Arguments: m{"repo_path": "$WORK/repository"}},
			{Name: "git_diff_unstaged", Arguments: m{"repo_path": "$WORK/nowhere"}},
		}},
		{name: "mcp-hello-world", entry: "build/stdio.js", calls: []call{
			{Name: "echo", Arguments: m{"message": oddText}},
			{Name: "add", Arguments: m{"a": 0.1, "b": 0.2}},
			{Name: "debug"},
			{Name: "add", Arguments: m{"a": "x"}},
		}},
		{name: "mcp-sequentialthinking-tools", entry: "dist/index.js", calls: []call{
			{Name: "sequentialthinking_tools", Arguments: m{
				"available_mcp_tools": []string{"deed"}, "thought": oddText,
				"next_thought_needed": false, "thought_number": 1, "total_thoughts": 1,
			}},
			{Name: "sequentialthinking_tools"},
		}},
		{name: "time-mcp", entry: "dist/index.js", calls: []call{
			{Name: "current_time", Arguments: m{"format": "YYYY-MM-DD HH:mm:ss", "timezone": "Europe/Oslo"}},
			{Name: "days_in_month", Arguments: m{"date": "2028-02-10"}},
			{Name: "convert_time", Arguments: m{"sourceTimezone": "Asia/Shanghai", "targetTimezone": "Europe/London", "time": "2026-03-23 12:30:00"}},
			{Name: "get_week_year", Arguments: m{"date": "2026-01-01"}},
			{Name: "get_timestamp", Arguments: m{"time": "2026-03-23 12:30:00.000"}},
		}},
	}
}
