package demo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/deed-dev/deed/internal/terminal"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// revision is the protocol revision that the client asks for. It is the
// newest that begins with initialize, which every server understands; newer
// ones begin with a request that some old servers choke on.
const revision = "2025-11-25"

// client is an MCP client whose server runs behind deed run.
type client struct {
	session *mcp.ClientSession
	stderr  *lastLines
	limit   time.Duration // for one call
}

// recorded is a server that runs behind deed run.
type recorded struct {
	label     string
	flags     []string // more of deed run
	variables []string // of the environment of deed run
	server    []string // its command
}

// connect starts the server through deed run and waits until it has
// introduced itself.
func (d *Demo) connect(ctx context.Context, home, label string, server []string) (*client, error) {
	return d.connectWith(ctx, home, recorded{label: label, server: server})
}

func (d *Demo) connectWith(ctx context.Context, home string, r recorded) (*client, error) {
	args := append([]string{"run"}, r.flags...)
	if r.label != "" {
		args = append(args, "--label", r.label)
	}
	server := r.server
	cmd := exec.Command(d.Program, append(append(args, "--"), server...)...)
	cmd.Env = append(environment(home), r.variables...)
	stderr := &lastLines{}
	cmd.Stderr = stderr
	// A process that outlives the server may hold its stderr open.
	cmd.WaitDelay = time.Second

	ctx, cancel := context.WithTimeout(ctx, d.limits.start)
	defer cancel()
	session, err := mcp.NewClient(
		&mcp.Implementation{Name: "deed-demo", Version: d.Version},
		// It offers nothing, so that no server asks it for anything.
		&mcp.ClientOptions{Capabilities: &mcp.ClientCapabilities{}},
	).Connect(ctx, &mcp.CommandTransport{Command: cmd, TerminateDuration: d.limits.finish}, &mcp.ClientSessionOptions{ProtocolVersion: revision})
	if err == nil {
		return &client{session: session, stderr: stderr, limit: d.limits.call}, nil
	}
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		err = fmt.Errorf("the server did not introduce itself within %s", terminal.Duration(d.limits.start))
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case cmd.ProcessState != nil && !cmd.ProcessState.Success():
		err = fmt.Errorf("the server did not start: %s", cmd.ProcessState)
	case cmd.ProcessState != nil:
		err = errors.New("the server ended before it introduced itself")
	default:
		err = fmt.Errorf("start the server: %w", err)
	}
	hint := "try the command alone: " + strings.Join(server, " ")
	if said := stderr.String(); said != "" {
		hint = said + "\n" + hint
	}
	return nil, terminal.WithHint(err, hint)
}

// close ends the session the way a client should, and waits for the server.
func (c *client) close() error {
	if err := c.session.Close(); err != nil {
		return fmt.Errorf("end the session: %w", err)
	}
	return nil
}

// answer is how one call ended.
type answer struct {
	result *mcp.CallToolResult // nil where there was none
	err    error               // why there was none
	took   time.Duration
}

// call calls one tool and waits no longer than the limit.
func (c *client) call(ctx context.Context, tool string, arguments map[string]any) answer {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	began := time.Now()
	result, err := c.session.CallTool(ctx, &mcp.CallToolParams{Name: tool, Arguments: arguments})
	return answer{result: result, err: err, took: time.Since(began)}
}

// word is the answer in one word, as the other commands say it.
func (a answer) word() string {
	var refused *jsonrpc.Error
	switch {
	case a.err == nil && a.result.IsError:
		return "failed"
	case a.err == nil:
		return "ok"
	case errors.As(a.err, &refused):
		return "error"
	}
	return "no answer"
}

// ended is true when the server went away instead of answering.
func (a answer) ended() bool {
	// A call that was under way is told what broke the connection, a later
	// one only that it is broken.
	for _, sign := range []error{mcp.ErrConnectionClosed, io.EOF, io.ErrUnexpectedEOF, os.ErrClosed, syscall.EPIPE} {
		if errors.Is(a.err, sign) {
			return true
		}
	}
	return false
}

// text is what the server wrote, or why there is nothing, in one line.
func (a answer) text() string {
	var refused *jsonrpc.Error
	switch {
	case errors.As(a.err, &refused):
		return fmt.Sprintf("%s (%d)", oneLine(refused.Message), refused.Code)
	case errors.Is(a.err, context.DeadlineExceeded):
		return "none within " + terminal.Duration(a.took.Round(time.Second))
	case a.ended():
		return "the server ended"
	case a.err != nil:
		return oneLine(a.err.Error())
	case len(a.result.Content) == 0:
		return "(nothing)"
	}
	switch first := a.result.Content[0].(type) {
	case *mcp.TextContent:
		line := oneLine(first.Text)
		if size := int64(len(first.Text)); size > 1024 {
			line += " (" + terminal.Size(size) + ")"
		}
		return line
	case *mcp.ImageContent:
		return "an image, " + terminal.Size(int64(len(first.Data)))
	case *mcp.AudioContent:
		return "a sound, " + terminal.Size(int64(len(first.Data)))
	case *mcp.ResourceLink:
		return "a link to " + oneLine(first.URI)
	case *mcp.EmbeddedResource:
		return "a resource"
	}
	return "(something else)"
}

// lineLimit is how many characters of an answer are shown.
const lineLimit = 72

// oneLine makes what a peer wrote fit to print: one line, nothing that a
// terminal acts on, and no longer than the limit.
func oneLine(text string) string {
	// Cleaning a mebibyte to print its beginning would be waste.
	if cut := 4 * lineLimit; len(text) > cut {
		text = text[:cut]
	}
	line := []rune(terminal.Clean(strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")))
	if len(line) > lineLimit {
		return string(line[:lineLimit-1]) + "…"
	}
	return string(line)
}

// lastLines keeps the end of what is written to it.
type lastLines struct {
	mu   sync.Mutex
	kept []byte
}

// keptBytes is enough for the last words of a program.
const keptBytes = 2048

// Write implements io.Writer and never fails.
func (l *lastLines) Write(data []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(l.kept, data...)
	if extra := len(l.kept) - keptBytes; extra > 0 {
		l.kept = append(l.kept[:0], l.kept[extra:]...)
	}
	return len(data), nil
}

// String returns the last five lines that say something.
func (l *lastLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for line := range bytes.SplitSeq(l.kept, []byte("\n")) {
		if text := strings.TrimRight(string(line), " \t\r"); text != "" {
			lines = append(lines, text)
		}
	}
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
