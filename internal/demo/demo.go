package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/terminal"
)

// ErrNoCall says that a server was driven and no tool of it could be called.
var ErrNoCall = errors.New("no tool was called")

// Demo is one demonstration.
type Demo struct {
	Program string         // the deed program to run, a path
	Version string         // what the client says it is
	Command []string       // the server to drive; none is the shop
	Keep    bool           // leave the journal in place
	Out     io.Writer      // what is shown
	Err     io.Writer      // what deed last and deed verify complain to
	Style   terminal.Style // how headings look

	limits limits // zero is the usual ones
	props  props  // zero is the usual ones

	folder  string // where its own folder is made; empty: where temporary folders are
	address string // of the verifier, if it is kept
}

// props are what the story is played with. Nothing in the code knows what comes of
// them: change one, and the verdicts change.
type props struct {
	contract, mapping string
	office            []string // more arguments of the back office
}

// limits keep a server that hangs from holding the demo up. Starting is
// granted long enough for npx to fetch a package.
type limits struct {
	start  time.Duration // until the server has introduced itself
	list   time.Duration // for all pages of its tools
	call   time.Duration // for one call
	total  time.Duration // for all calls together
	finish time.Duration // for the server to end by itself
}

func (l limits) orUsual() limits {
	if l == (limits{}) {
		return limits{
			start: 90 * time.Second, list: 5 * time.Second, call: 4 * time.Second,
			total: 10 * time.Second, finish: 7 * time.Second,
		}
	}
	return l
}

// Run drives the server, shows what deed last and deed verify have to say
// about it, and what to do next. Its errors are ErrNoCall, the end of ctx,
// and what kept a part from running; all carry a hint where there is one.
func (d *Demo) Run(ctx context.Context) (err error) {
	d.limits = d.limits.orUsual()
	d.props.contract, d.props.mapping = cmp.Or(d.props.contract, contractText), cmp.Or(d.props.mapping, mappingText)
	home, err := os.MkdirTemp(d.folder, "deed-demo-")
	if err != nil {
		return fmt.Errorf("make a folder for the journal: %w", err)
	}
	defer func() {
		if d.Keep {
			d.kept(home)
			return
		}
		if gone := os.RemoveAll(home); gone != nil && err == nil {
			err = fmt.Errorf("remove the journal of the demo: %w", gone)
		}
	}()

	if len(d.Command) == 0 {
		err = d.story(ctx, home)
	} else {
		err = d.visit(ctx, home)
	}
	// Where nothing was called there is still a session to look at.
	if err != nil && !errors.Is(err, ErrNoCall) {
		return err
	}
	if compared := d.compare(ctx, home); compared != nil {
		return compared
	}
	if asked := d.ask(ctx, home); asked != nil {
		return asked
	}
	if err == nil {
		d.next()
	}
	return err
}

// ask shows what a user would ask next, by the very commands.
func (d *Demo) ask(ctx context.Context, home string) error {
	for _, question := range []struct{ title, command string }{
		{"What happened, as the journal has it", "last"},
		{"What that costs a model that reads it", "cost"},
		{"Whether anything in the journal was altered", "verify"},
	} {
		d.heading(question.title)
		d.say("$ deed %s", question.command)
		cmd := exec.CommandContext(ctx, d.Program, question.command)
		cmd.Env = environment(home)
		cmd.Stdout, cmd.Stderr = d.Out, d.Err
		err := cmd.Run()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return fmt.Errorf("run deed %s: %w", question.command, err)
		}
	}
	return nil
}

// kept says where everything is and how to look further.
func (d *Demo) kept(home string) {
	d.say("\nThe journal is kept in %s. Look further with:\n  deed --home %s tail\n  deed --home %s last", home, home, home)
	if d.address != "" {
		d.say("\nThe verifier's database is kept too, and you are logged in to it:\n  deed serve --data %s --listen %s\n  deed --home %s action list\n  deed --home %s action show refund:2004",
			filepath.Join(home, "server"), strings.TrimPrefix(d.address, "http://"), home, home)
	}
}

// environment is this process's own with another home for the journal, and without
// whatever the user has set of Deed: a demonstration must reach no server of theirs.
func environment(home string) []string {
	var env []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(strings.ToUpper(pair), "=")
		if !strings.HasPrefix(name, "DEED_") && !strings.HasPrefix(name, "COMMITLAYER_") {
			env = append(env, pair)
		}
	}
	return append(env, "DEED_HOME="+home)
}

// say writes one line. A reader who went away is noticed at the end, when
// deed last finds the same.
func (d *Demo) say(format string, values ...any) {
	_, _ = fmt.Fprintf(d.Out, format+"\n", values...)
}

func (d *Demo) heading(title string) {
	d.say("\n%s", d.Style.Strong(title))
}
