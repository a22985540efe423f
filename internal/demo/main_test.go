package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"github.com/deed-dev/deed/internal/shop"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The test binary run again plays every program of a demonstration: a deed
// that records nothing, the shop, and servers of strangers.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		if role, ok := roles()[os.Args[1]]; ok {
			os.Exit(role(os.Args[2:]))
		}
	}
	code := m.Run()
	if built != "" {
		_ = os.RemoveAll(filepath.Dir(built))
	}
	os.Exit(code)
}

func roles() map[string]func(args []string) int {
	return map[string]func([]string) int{
		"run":         playRun,
		"demo-server": playShop,
		"last":        playCommand,
		"cost":        playCommand,
		"verify":      playCommand,
		"tail":        playTail,
		"stranger":    playStranger,
	}
}

// playRun forwards as deed run does, and records nothing.
func playRun(args []string) int {
	server := args[slices.Index(args, "--")+1:]
	cmd := exec.Command(server[0], server[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return exit.ExitCode()
	case err != nil:
		fmt.Fprintf(os.Stderr, "deed: %s: not found\n", server[0])
		return 127
	}
	return 0
}

func playShop([]string) int {
	if err := shop.Serve(context.Background(), shop.New("test"), os.Stdin, os.Stdout); err != nil {
		return 1
	}
	return 0
}

// playCommand tells which journal it was asked about.
func playCommand([]string) int {
	fmt.Printf("%s of %s\n", os.Args[1], os.Getenv("DEED_HOME"))
	return 0
}

// playTail tells of calls of every kind that the comparison has to tell apart.
func playTail([]string) int {
	fmt.Print(`{"kind":"gap","unseen_bytes":9}
{"kind":"call","label":"stranger","tool":"echo","outcome":"ok","returned_bytes":61}
{"kind":"call","label":"stranger","tool":"get_huge","outcome":"ok","returned_bytes":99000000}
{"kind":"call","label":"stranger","tool":"get\u001b[2J_refused","outcome":"tool_error","returned_bytes":99000000}
{"kind":"call","label":"stranger","tool":"get_never","outcome":"unanswered","returned_bytes":null}
`)
	return 0
}

// playStranger is a server that is not ours. The first argument says what it
// is like, the second is a file for the names of the tools that were called.
func playStranger(args []string) int {
	kind, calls := args[0], args[1]
	switch kind {
	case "that exits":
		fmt.Fprintln(os.Stderr, "stranger: no database at \x1b[31mlocalhost\x1b[0m")
		return 3
	case "that says nothing":
		// Until the other side closes.
		_, _ = os.Stdin.Read(make([]byte, 1<<16))
		_, _ = os.Stdin.Read(make([]byte, 1<<16))
		return 0
	}
	server := mcp.NewServer(&mcp.Implementation{Name: "stranger", Version: "9"}, &mcp.ServerOptions{
		PageSize:     2,
		Capabilities: &mcp.ServerCapabilities{},
	})
	for _, tool := range wares(kind) {
		server.AddTool(tool, func(ctx context.Context, _ *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return serveStranger(ctx, tool.Name, calls)
		})
	}
	if server.Run(context.Background(), &mcp.StdioTransport{}) != nil {
		return 1
	}
	return 0
}

// serveStranger notes the call and does what the name says.
func serveStranger(ctx context.Context, tool, calls string) (*mcp.CallToolResult, error) {
	note, err := os.OpenFile(calls, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer note.Close()
	if _, err := fmt.Fprintln(note, tool); err != nil {
		return nil, err
	}
	switch tool {
	case "get_crash":
		os.Exit(9)
	case "get_never":
		<-ctx.Done()
		return nil, ctx.Err()
	case "get_failure":
		return &mcp.CallToolResult{IsError: true, Content: []mcp.Content{&mcp.TextContent{Text: "no such thing"}}}, nil
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "here\x1b[2J\nyou are"}}}, nil
}

// wares are the tools of each kind of stranger.
func wares(kind string) []*mcp.Tool {
	object := map[string]any{"type": "object"}
	asks := func(name string) map[string]any {
		return map[string]any{"type": "object", "required": []any{name}, "properties": map[string]any{name: map[string]any{"type": "string"}}}
	}
	promises := &mcp.ToolAnnotations{ReadOnlyHint: true}
	switch kind {
	case "with tools of every sort":
		return []*mcp.Tool{
			{Name: "list_things", InputSchema: object},
			{Name: "get_thing", InputSchema: asks("thing_id")},
			{Name: "get_failure", InputSchema: object},
			{Name: "delete_thing", InputSchema: asks("thing_id")},
			{Name: "frob", InputSchema: object, Annotations: promises},
			{Name: "wipe_all", InputSchema: object, Annotations: promises},
			{Name: "read_secret", InputSchema: object},
			{Name: "query_things", InputSchema: asks("sql")},
			{Name: "update_thing", InputSchema: object, Annotations: &mcp.ToolAnnotations{DestructiveHint: new(false)}},
		}
	case "that only writes":
		return []*mcp.Tool{{Name: "create_thing", InputSchema: object}}
	case "that crashes":
		return []*mcp.Tool{{Name: "get_crash", InputSchema: object}, {Name: "get_more", InputSchema: object}}
	case "that hangs":
		return []*mcp.Tool{{Name: "get_more", InputSchema: object}, {Name: "get_never", InputSchema: object}}
	case "with very many tools":
		var many []*mcp.Tool
		for i := range mostCalls + 5 {
			many = append(many, &mcp.Tool{Name: fmt.Sprintf("get_%02d", i), InputSchema: object})
		}
		return many
	}
	return nil // "without tools"
}
