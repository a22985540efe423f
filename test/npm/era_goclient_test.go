//lint:file-ignore SA1019 what an era has deprecated is spoken in it all the same

package npmtest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// goClient is the client of the eras made with the Go SDK. It says what
// era/plan.mjs does, and returns what it got for it.
func goClient(ctx context.Context, version string, command, env []string) (string, error) {
	seen := &hearing{news: make(chan struct{}, 100), begun: make(chan struct{}, 100)}
	client := mcp.NewClient(&mcp.Implementation{Name: "era client of go", Version: "3.2.1"}, seen.options())
	client.AddRoots(&mcp.Root{URI: "file:///era", Name: "era"})
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env, cmd.Stderr = env, os.Stderr
	session, err := client.Connect(ctx, &mcp.CommandTransport{Command: cmd}, &mcp.ClientSessionOptions{ProtocolVersion: version})
	if err != nil {
		return "", fmt.Errorf("connect: %w", err)
	}
	if err := seen.plan(ctx, session, client); err != nil {
		return "", errors.Join(err, session.Close())
	}
	if err := session.Close(); err != nil {
		return "", fmt.Errorf("close: %w", err)
	}
	return seen.text()
}

// hearing is what a client saw.
type hearing struct {
	answers []any
	news    chan struct{} // a value for each notification
	begun   chan struct{} // a value for each progress

	mu    sync.Mutex
	heard []string
	asked []string
}

func (h *hearing) note(what string, params any) {
	text, err := json.Marshal(params)
	if err != nil {
		text = []byte(err.Error())
	}
	h.mu.Lock()
	h.heard = append(h.heard, what+" "+string(text))
	h.mu.Unlock()
	h.news <- struct{}{}
}

func (h *hearing) ask(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.asked = append(h.asked, what)
}

func (h *hearing) options() *mcp.ClientOptions {
	return &mcp.ClientOptions{
		CreateMessageHandler: func(context.Context, *mcp.CreateMessageRequest) (*mcp.CreateMessageResult, error) {
			h.ask("sampling/createMessage")
			return &mcp.CreateMessageResult{Role: "assistant", Model: "none", Content: &mcp.TextContent{Text: "said"}}, nil
		},
		ElicitationHandler: func(context.Context, *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			h.ask("elicitation/create")
			return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"sure": true}}, nil
		},
		ToolListChangedHandler:      func(_ context.Context, r *mcp.ToolListChangedRequest) { h.note("tools changed", r.Params) },
		PromptListChangedHandler:    func(_ context.Context, r *mcp.PromptListChangedRequest) { h.note("prompts changed", r.Params) },
		ResourceListChangedHandler:  func(_ context.Context, r *mcp.ResourceListChangedRequest) { h.note("resources changed", r.Params) },
		ResourceUpdatedHandler:      func(_ context.Context, r *mcp.ResourceUpdatedNotificationRequest) { h.note("updated", r.Params) },
		LoggingMessageHandler:       func(_ context.Context, r *mcp.LoggingMessageRequest) { h.note("log", r.Params) },
		ProgressNotificationHandler: func(context.Context, *mcp.ProgressNotificationClientRequest) { h.begun <- struct{}{} },
	}
}

// answer takes down how a request ended.
func (h *hearing) answer(what string, result any, err error) {
	entry := map[string]any{"what": what, "result": result}
	if err != nil {
		entry["result"] = nil
		var refused *jsonrpc.Error
		if errors.As(err, &refused) {
			entry["error"] = refused
		} else {
			entry["error"] = err.Error()
		}
	}
	h.answers = append(h.answers, entry)
}

func (h *hearing) plan(ctx context.Context, s *mcp.ClientSession, client *mcp.Client) error {
	modern := s.InitializeResult().ProtocolVersion >= "2026-07-28"
	meta := func() mcp.Meta {
		if modern {
			return mcp.Meta{mcp.MetaKeyLogLevel: "debug"}
		}
		return nil
	}
	listed, err := s.ListTools(ctx, &mcp.ListToolsParams{Meta: meta()})
	if err != nil {
		return fmt.Errorf("list tools: %w", err)
	}
	offered := map[string]bool{}
	for _, tool := range listed.Tools {
		offered[tool.Name] = true
	}
	resources, err := s.ListResources(ctx, nil)
	h.answer("resources/list", resources, err)
	prompts, err := s.ListPrompts(ctx, nil)
	h.answer("prompts/list", prompts, err)
	if !modern {
		if err := errors.Join(s.SetLoggingLevel(ctx, &mcp.SetLoggingLevelParams{Level: "debug"}), s.Ping(ctx, nil)); err != nil {
			return err
		}
		client.AddRoots(&mcp.Root{URI: "file:///other", Name: "other"}) // which is told
	}
	if err := s.Subscribe(ctx, &mcp.SubscribeParams{URI: "era://one"}); err != nil {
		return fmt.Errorf("subscribe: %w", err)
	}
	call := func(ctx context.Context, name string, arguments any, token any) {
		params := &mcp.CallToolParams{Meta: meta(), Name: name, Arguments: arguments}
		if token != nil {
			if params.Meta == nil {
				params.Meta = mcp.Meta{}
			}
			params.SetProgressToken(token)
		}
		result, err := s.CallTool(ctx, params)
		h.answer(name, result, err)
	}
	call(ctx, "plain", json.RawMessage(`{"odd":"h\u00e9llo \u2028 \ud83d\ude00 \u0000","big":12345678901234567890,"list":[1,[],{}]}`), nil)
	for _, name := range []string{"fail", "refuse", "no such tool", "sample", "roots", "ask", "twice"} {
		if offered[name] || name == "no such tool" {
			call(ctx, name, map[string]any{}, nil)
		}
	}
	call(ctx, "steps", map[string]any{}, "by steps")
	for range 3 {
		<-h.begun
	}
	stopped, stop := context.WithCancel(ctx)
	go func() { <-h.begun; stop() }()
	call(stopped, "slow", map[string]any{}, 7)
	stop()
	prompt, err := s.GetPrompt(ctx, &mcp.GetPromptParams{Meta: meta(), Name: "greet", Arguments: map[string]string{"who": "you"}})
	h.answer("prompts/get", prompt, err)
	completed, err := s.Complete(ctx, &mcp.CompleteParams{
		Ref: &mcp.CompleteReference{Type: "ref/prompt", Name: "greet"}, Argument: mcp.CompleteParamsArgument{Name: "who", Value: "w"},
	})
	h.answer("completion/complete", completed, err)
	read, err := s.ReadResource(ctx, &mcp.ReadResourceParams{URI: "era://one"})
	h.answer("resources/read", read, err)
	call(ctx, "change", map[string]any{}, nil)
	// A log message, three lists and a resource. Servers tell of lists when
	// they feel like it.
	for n := range 5 {
		select {
		case <-h.news:
		case <-time.After(runTime):
			return fmt.Errorf("%d notifications came, want 5: %q", n, h.heard)
		}
	}
	return s.Unsubscribe(ctx, &mcp.UnsubscribeParams{URI: "era://one"})
}

func (h *hearing) text() (string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	slices.Sort(h.heard)
	slices.Sort(h.asked)
	text, err := json.MarshalIndent(map[string]any{"answers": h.answers, "heard": h.heard, "asked": h.asked}, "", " ")
	return string(text), err
}
