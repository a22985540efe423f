package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/baseline"
	"github.com/deed-dev/deed/internal/demo"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// revision is the protocol revision that deed demo asks for, too: what is
// compared with the census should have been asked in the same way.
const revision = "2025-11-25"

// How long a server is waited for. Only a hang comes near these.
const (
	startLimit = 2 * time.Minute
	callLimit  = 5 * time.Second
	endLimit   = 10 * time.Second
)

// measure drives one server in a folder of its own and reads the figures
// from the journal of that session.
func (c *census) measure(ctx context.Context, s server) (result baseline.Server, err error) {
	result = baseline.Server{Package: "npm:" + s.name, Tools: []baseline.Tool{}}
	if result.Version, err = c.version(s.name); err != nil {
		return result, err
	}
	place, err := newPlace(c, s)
	if err != nil {
		return result, err
	}
	defer func() { err = errors.Join(err, place.remove()) }()
	tools, called, err := c.drive(ctx, place)
	if err != nil {
		return result, err
	}
	seen, err := place.journalled(ctx)
	if err != nil {
		return result, err
	}
	result.DeclaredTools, result.DeclaredBytes = len(tools), seen.declaredBytes
	result.NotCalled = len(tools) - len(called)
	for _, name := range called {
		result.Tools = append(result.Tools, seen.tool(name))
	}
	return result, nil
}

// version is the version that is installed, which must be the one that
// package.json asks for.
func (c *census) version(name string) (string, error) {
	var asked struct{ Dependencies map[string]string }
	if err := readJSON(filepath.Join(c.parts, "package.json"), &asked); err != nil {
		return "", err
	}
	var installed struct{ Version string }
	if err := readJSON(filepath.Join(c.parts, "node_modules", name, "package.json"), &installed); err != nil {
		return "", fmt.Errorf("npm package %s is not installed: %w", name, err)
	}
	if installed.Version != asked.Dependencies[name] {
		return "", fmt.Errorf("npm package %s is installed as %s, package.json asks for %q", name, installed.Version, asked.Dependencies[name])
	}
	return installed.Version, nil
}

func readJSON(path string, into any) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("read a package: %w", err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Base(path), err)
	}
	return nil
}

// drive lists the tools and calls those that are safe to call.
func (c *census) drive(ctx context.Context, p *place) (tools []*mcp.Tool, called []string, err error) {
	cmd := exec.Command(c.deed, append([]string{"run", "--"}, p.command()...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = p.work, p.environment(), &p.stderr
	cmd.WaitDelay = time.Second
	starting, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	session, err := mcp.NewClient(
		&mcp.Implementation{Name: "deed-census", Version: "1"},
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}},
	).Connect(starting, &mcp.CommandTransport{Command: cmd, TerminateDuration: endLimit}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err != nil {
		return nil, nil, fmt.Errorf("start the server: %w\n%s", err, p.stderr.String())
	}
	for tool, err := range session.Tools(starting, nil) {
		if err != nil {
			return nil, nil, errors.Join(fmt.Errorf("list the tools: %w", err), session.Close())
		}
		tools = append(tools, tool)
	}
	for _, tool := range tools {
		arguments, reason := demo.SafeCall(tool)
		if reason != "" {
			continue
		}
		called = append(called, tool.Name)
		for range c.calls {
			if !call(ctx, session, tool.Name, arguments) {
				break
			}
		}
	}
	// Some servers end with an error when their input ends. What they
	// answered is in the journal, and the journal is asked whether all is.
	_ = session.Close()
	return tools, called, ctx.Err()
}

// call says whether calling once more makes sense: any answer will do, but a
// server that hangs is not waited for again and again.
func call(ctx context.Context, session *mcp.ClientSession, tool string, arguments map[string]any) bool {
	within, cancel := context.WithTimeout(ctx, callLimit)
	defer cancel()
	// What it answered is read from the journal.
	_, _ = session.CallTool(within, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	return within.Err() == nil
}

// command is the server's own.
func (p *place) command() []string {
	command := []string{"node", filepath.Join(p.parts, "node_modules", p.server.name, p.server.entry)}
	for _, arg := range p.server.args {
		command = append(command, strings.ReplaceAll(arg, "$WORK", p.work))
	}
	return command
}
