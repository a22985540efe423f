//lint:file-ignore SA1019 what an era has deprecated is spoken in it all the same

package npmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goServer is the server of the eras made with the Go SDK. A tool that asks for
// something returns what it asks for; the SDK makes a request of its own of
// that for clients of the earlier eras.
func goServer() int {
	err := newGoServer().Run(context.Background(), &mcp.StdioTransport{})
	if err != nil && !errors.Is(err, mcp.ErrConnectionClosed) {
		fmt.Println(err)
		return 1
	}
	return 0
}

func newGoServer() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "era server of go", Version: "1.2.3"}, &mcp.ServerOptions{
		SubscribeHandler:   func(context.Context, *mcp.SubscribeRequest) error { return nil },
		UnsubscribeHandler: func(context.Context, *mcp.UnsubscribeRequest) error { return nil },
		CompletionHandler: func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"world"}, Total: 1}}, nil
		},
	})
	tool := func(name string, run mcp.ToolHandler) {
		server.AddTool(&mcp.Tool{Name: name, Description: "does " + name, InputSchema: &jsonschema.Schema{Type: "object"}}, run)
	}
	tool("plain", func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return says("plain " + string(r.Params.Arguments)), nil
	})
	tool("fail", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		failed := says("it failed")
		failed.IsError = true
		return failed, nil
	})
	tool("refuse", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "not like this"}
	})
	confirm := func(message string) mcp.InputRequest {
		return &mcp.ElicitParams{Message: message, RequestedSchema: &jsonschema.Schema{
			Type: "object", Properties: map[string]*jsonschema.Schema{"sure": {Type: "boolean"}},
		}}
	}
	tool("ask", asking("one \u00e9 \"state\"", confirm("are you sure?")))
	tool("sample", asking("sampling", &mcp.CreateMessageParams{
		MaxTokens: 5, Messages: []*mcp.SamplingMessage{{Role: "user", Content: &mcp.TextContent{Text: "say it"}}},
	}))
	tool("roots", asking("rooting", &mcp.ListRootsParams{}))
	tool("steps", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		for n := range 3 {
			if err := step(ctx, r, n+1); err != nil {
				return nil, err
			}
		}
		return says("stepped"), nil
	})
	tool("slow", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := step(ctx, r, 1); err != nil {
			return nil, err
		}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	tool("change", func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if err := r.Session.Log(ctx, &mcp.LoggingMessageParams{Level: "info", Logger: "era", Data: map[string]any{"said": "changing"}}); err != nil {
			return nil, err
		}
		tool("another", func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) { return says(""), nil })
		server.AddResource(&mcp.Resource{Name: "another", URI: "era://another"}, readResource)
		server.AddPrompt(&mcp.Prompt{Name: "another"}, greet)
		return says("changed"), server.ResourceUpdated(ctx, &mcp.ResourceUpdatedNotificationParams{URI: "era://one"})
	})
	server.AddResource(&mcp.Resource{Name: "one", URI: "era://one"}, readResource)
	server.AddPrompt(&mcp.Prompt{Name: "greet", Arguments: []*mcp.PromptArgument{{Name: "who"}}}, greet)
	return server
}

func says(text string) *mcp.CallToolResult {
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}
}

// asking answers what was put in, and asks for it when nothing was.
func asking(state string, what mcp.InputRequest) mcp.ToolHandler {
	return func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(r.Params.InputResponses) == 0 {
			return &mcp.CallToolResult{InputRequests: mcp.InputRequestMap{"q": what}, RequestState: state}, nil
		}
		given, err := json.Marshal(r.Params.InputResponses)
		return says(string(given) + r.Params.RequestState), err
	}
}

func step(ctx context.Context, r *mcp.CallToolRequest, n int) error {
	return r.Session.NotifyProgress(ctx, &mcp.ProgressNotificationParams{
		ProgressToken: r.Params.GetProgressToken(), Progress: float64(n), Total: 3,
	})
}

func readResource(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{{URI: r.Params.URI, Text: "one"}}}, nil
}

func greet(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
	return &mcp.GetPromptResult{Messages: []*mcp.PromptMessage{
		{Role: "user", Content: &mcp.TextContent{Text: "greet " + r.Params.Arguments["who"]}},
	}}, nil
}
