// Command census measures how much public MCP servers answer, and writes the
// baseline that is built into deed.
//
// It drives a fixed list of npm servers through deed run, and reads every
// figure from the journal that comes of it, by the commands that users have.
// It must not need a network or a credential, must call only what deed demo
// would call without being asked, and must not write where it ran: no path and
// no name of a machine is in its result.
//
// # Life of a figure
//
// server-memory is installed in test/npm. Census starts it behind deed run in
// an empty folder with an empty journal, and lists its tools. read_graph may
// be called and needs no arguments, so it is called five times. When the
// session is over, deed tail --json says how many bytes each of the five answers
// had on the wire and how long it took; these become one tool of
// internal/baseline/census.json. create_entities is counted as not called.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/baseline"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "census:", err)
		stop()
		os.Exit(1)
	}
}

// census is what measuring a server needs to know.
type census struct {
	deed     string // the program
	parts    string // the folder with package.json and node_modules
	calls    int    // of each tool
	progress io.Writer
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("census", flag.ContinueOnError)
	flags.SetOutput(progress)
	deed := flags.String("deed", "bin/deed", "the deed program")
	parts := flags.String("npm", "test/npm", "the folder where npm ci was run")
	into := flags.String("out", "", "the file to write; standard output if empty")
	calls := flags.Int("n", baseline.Fewest, "calls of each tool")
	only := flags.String("only", "", "measure only these packages, with commas between")
	quick := flags.Bool("quick", false, "measure two small servers, to see that it works")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *calls < 1 {
		return fmt.Errorf("-n %d: call each tool at least once", *calls)
	}
	var names []string
	switch {
	case *quick:
		names = quickServers()
	case *only != "":
		names = strings.Split(*only, ",")
	}
	chosen, err := choose(servers(), names)
	if err != nil {
		return err
	}
	c := &census{calls: *calls, progress: progress}
	if c.deed, err = filepath.Abs(*deed); err != nil {
		return fmt.Errorf("find the deed program: %w", err)
	}
	if c.parts, err = filepath.Abs(*parts); err != nil {
		return fmt.Errorf("find the npm packages: %w", err)
	}
	if err := c.checkParts(chosen); err != nil {
		return err
	}
	result, err := c.take(ctx, chosen)
	if err != nil {
		return err
	}
	text, err := result.Text()
	if err != nil {
		return err
	}
	if *into == "" {
		_, err := out.Write(text)
		return err
	}
	if err := os.WriteFile(*into, text, 0o644); err != nil {
		return fmt.Errorf("write the census: %w", err)
	}
	return nil
}

// choose picks servers by package, or all of them where none is named.
func choose(all []server, names []string) ([]server, error) {
	if len(names) == 0 {
		return all, nil
	}
	var chosen []server
	for _, name := range names {
		at := slices.IndexFunc(all, func(s server) bool { return s.name == name })
		if at < 0 {
			return nil, fmt.Errorf("%s is not in the list of servers; add it to test/census/server.go", name)
		}
		chosen = append(chosen, all[at])
	}
	return chosen, nil
}

// checkParts says what is missing before anything is measured.
func (c *census) checkParts(chosen []server) error {
	if _, err := exec.LookPath("node"); err != nil {
		return fmt.Errorf("node.js 20 or newer is needed: %w", err)
	}
	if _, err := os.Stat(c.deed); err != nil {
		return fmt.Errorf("the deed program is missing, run make build: %w", err)
	}
	for _, s := range chosen {
		if _, err := c.version(s.name); err != nil {
			return fmt.Errorf("%w; run (cd test/npm && npm ci)", err)
		}
	}
	return nil
}

// take measures one server after the other: side by side they would slow each
// other down, and times are part of the result.
func (c *census) take(ctx context.Context, chosen []server) (*baseline.Census, error) {
	deed, err := versionOf(ctx, 2, c.deed, "--version")
	if err != nil {
		return nil, err
	}
	node, err := versionOf(ctx, 1, "node", "--version")
	if err != nil {
		return nil, err
	}
	result := &baseline.Census{
		MeasuredAt: time.Now().UTC().Format(time.RFC3339), Deed: deed, Node: strings.TrimPrefix(node, "v"),
		System: runtime.GOOS + "/" + runtime.GOARCH, Protocol: revision, CallsPerTool: c.calls,
	}
	for _, s := range chosen {
		measured, err := c.measure(ctx, s)
		if ctx.Err() != nil {
			return nil, errors.New("interrupted, nothing was written")
		}
		if err != nil {
			return nil, fmt.Errorf("measure %s: %w", s.name, err)
		}
		fmt.Fprintf(c.progress, "%s %s: %d tools, %d called\n", s.name, measured.Version, measured.DeclaredTools, len(measured.Tools))
		result.Servers = append(result.Servers, measured)
	}
	result.Finish()
	return result, nil
}

// versionOf runs a program that tells its version and takes that word of it,
// counted from 1.
func versionOf(ctx context.Context, word int, program string, args ...string) (string, error) {
	said, err := exec.CommandContext(ctx, program, args...).Output()
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", filepath.Base(program), err)
	}
	words := strings.Fields(string(said))
	if len(words) < word {
		return "", fmt.Errorf("%s says %q and no version", filepath.Base(program), said)
	}
	return words[word-1], nil
}
