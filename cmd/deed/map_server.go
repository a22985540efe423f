package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/deed-dev/deed/internal/demo"
	"github.com/deed-dev/deed/internal/intent/fit"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Limits for a server that hangs. Starting is granted long enough for npx to
// fetch a package.
const (
	startLimit  = 90 * time.Second
	listLimit   = 20 * time.Second
	finishLimit = 7 * time.Second
	mostTools   = 10_000
)

// mapRevision is the protocol revision that the client asks for: the newest
// that begins with initialize, which every server understands.
const mapRevision = "2025-11-25"

// offered starts a server, asks for its tools, and ends it. The server runs
// behind deed run, with a journal of its own that is deleted, because that ends
// all processes of a server on every system.
func offered(ctx context.Context, argv []string) (tools []fit.Tool, err error) {
	program, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find the deed program itself: %w", err)
	}
	home, err := os.MkdirTemp("", "deed-map-")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the session: %w", err)
	}
	defer func() {
		if gone := os.RemoveAll(home); gone != nil && err == nil {
			err = fmt.Errorf("remove the folder of the session: %w", gone)
		}
	}()
	ctx, stop := untilInterrupted(ctx)
	defer stop()
	session, said, err := introduced(ctx, program, home, argv)
	if err != nil {
		return nil, err
	}
	defer session.Close() // what matters is known by then
	listing, cancel := context.WithTimeout(ctx, listLimit)
	defer cancel()
	for tool, err := range session.Tools(listing, nil) {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return nil, withLastWords(fmt.Errorf("list the server's tools: %w", err), said, argv)
		case len(tools) == mostTools:
			return nil, fmt.Errorf("the server has more than %d tools", mostTools)
		}
		input, _ := tool.InputSchema.(map[string]any)
		tools = append(tools, fit.Tool{Name: tool.Name, Description: tool.Description, Input: input, ReadOnly: demo.OnlyReads(tool)})
	}
	return tools, nil
}

// introduced starts the server and waits until it has said who it is.
func introduced(ctx context.Context, program, home string, argv []string) (*mcp.ClientSession, *ending, error) {
	command := exec.Command(program, append([]string{"run", "--"}, argv...)...)
	command.Env = withoutDeed(home)
	said := &ending{}
	command.Stderr = said
	command.WaitDelay = time.Second // something may outlive the server and hold its stderr
	starting, cancel := context.WithTimeout(ctx, startLimit)
	defer cancel()
	session, err := mcp.NewClient(
		&mcp.Implementation{Name: "deed-map", Version: buildVersion().Version},
		// It offers nothing, so that no server asks it for anything.
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}},
	).Connect(starting, &mcp.CommandTransport{Command: command, TerminateDuration: finishLimit}, &mcp.ClientSessionOptions{ProtocolVersion: mapRevision})
	switch {
	case err == nil:
		return session, said, nil
	case ctx.Err() != nil:
		return nil, nil, ctx.Err()
	case errors.Is(starting.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("the server did not introduce itself within %s", terminal.Duration(startLimit))
	case command.ProcessState != nil:
		err = errors.New("the server ended before it introduced itself")
	default:
		err = fmt.Errorf("start the server: %w", err)
	}
	return nil, nil, withLastWords(err, said, argv)
}

func withLastWords(err error, said *ending, argv []string) error {
	hint := "try the command alone: " + strings.Join(argv, " ")
	if last := said.String(); last != "" {
		hint = last + "\n" + hint
	}
	return terminal.WithHint(err, hint)
}

// withoutDeed is this process's environment without what is meant for deed: a
// server that is only asked for its tools declares nothing.
func withoutDeed(home string) []string {
	var env []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(strings.ToUpper(pair), "=")
		if !strings.HasPrefix(name, "DEED_") && !strings.HasPrefix(name, "COMMITLAYER_") {
			env = append(env, pair)
		}
	}
	return append(env, "DEED_HOME="+home)
}

// ending keeps the end of what a server says on standard error.
type ending struct {
	mu   sync.Mutex
	kept []byte
}

const (
	endingBytes = 2048
	endingLines = 5
)

// Write takes all of it and never fails.
func (e *ending) Write(data []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.kept = append(e.kept, data...)
	if extra := len(e.kept) - endingBytes; extra > 0 {
		e.kept = append(e.kept[:0], e.kept[extra:]...)
	}
	return len(data), nil
}

// String is the last lines that say something.
func (e *ending) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var lines []string
	for line := range bytes.SplitSeq(e.kept, []byte("\n")) {
		if text := strings.TrimRight(string(line), " \t\r"); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines[max(0, len(lines)-endingLines):], "\n")
}
