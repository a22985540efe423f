package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/archive"
	"github.com/deed-dev/deed/internal/report"
	"github.com/deed-dev/deed/internal/server"
	"github.com/deed-dev/deed/internal/setting"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/terminal"
	"github.com/deed-dev/deed/internal/value"
)

// hostCmd is deed host, for whoever runs the server.
type hostCmd struct {
	Workspaces hostWorkspacesCmd `cmd:"" help:"The workspaces of the server."`
	Create     hostCreateCmd     `cmd:"" help:"Make another workspace, and a link for its owner."`
	Plan       hostPlanCmd       `cmd:"" help:"Put a workspace on a plan."`
	Link       hostLinkCmd       `cmd:"" help:"Make a sign-in link for a member who lost theirs."`
	Export     hostExportCmd     `cmd:"" help:"Everything that a workspace has, but for secrets, as JSON lines."`
}

// Help is printed under the commands of deed host --help.
func (hostCmd) Help() string {
	return `These commands are for whoever runs a server, and work on what it keeps. With an
embedded database, stop the server before create, plan and link.`
}

type hostWorkspacesCmd struct {
	Settings settingFlags `embed:""`
	JSON     bool         `help:"One JSON document, for programs." name:"json"`
}

// Help is printed under the flags of deed host workspaces --help.
func (hostWorkspacesCmd) Help() string {
	return `Example:

    deed host workspaces --data /var/lib/deed`
}

func (c *hostWorkspacesCmd) Run(ctx context.Context, w *world) error {
	return c.Settings.look(ctx, w, func(ctx context.Context, k *keeping) error {
		all, err := k.store.Directory().Workspaces(ctx)
		if err != nil {
			return err
		}
		answer := &report.Workspaces{}
		for _, one := range all {
			answer.List = append(answer.List, report.Workspace{ID: string(one.ID), Name: one.Name, Plan: one.Plan, CreatedAt: one.CreatedAt.Time()})
		}
		return w.answer(answer, c.JSON)
	})
}

type hostCreateCmd struct {
	Name     string       `arg:"" help:"Its name, for people."`
	Owner    string       `help:"Address of its owner." placeholder:"EMAIL"`
	Settings settingFlags `embed:""`
}

// Help is printed under the flags of deed host create --help.
func (hostCreateCmd) Help() string {
	return `Example:

    deed host create Acme --owner ada@example.com

The link that it prints signs the owner in once, within 72 hours.`
}

// Validate refuses a workspace that would be nobody's.
func (c *hostCreateCmd) Validate() error {
	if c.Owner == "" {
		return errNothingAsked("whose it is (--owner)", "deed host create Acme --owner ada@example.com")
	}
	return nil
}

func (c *hostCreateCmd) Run(ctx context.Context, w *world) error {
	return c.Settings.change(ctx, w, func(ctx context.Context, k *keeping) error {
		accounts, err := account.New(k.store, systemClock)
		if err != nil {
			return err
		}
		made, err := accounts.CreateWorkspace(ctx, c.Name, c.Owner)
		if err != nil {
			return err
		}
		return w.print(fmt.Sprintf("made %s (%s)\n%s", terminal.Clean(c.Name), made.Workspace.ID, k.linkText(made.Link)))
	})
}

type hostLinkCmd struct {
	Workspace string       `arg:"" help:"Its name or id."`
	Email     string       `arg:"" help:"The member's address."`
	Settings  settingFlags `embed:""`
}

// Help is printed under the flags of deed host link --help.
func (hostLinkCmd) Help() string {
	return `Example:

    deed host link main ada@example.com

The link signs the member in once, within 72 hours. The audit says that it was
made at the console.`
}

func (c *hostLinkCmd) Run(ctx context.Context, w *world) error {
	return c.Settings.change(ctx, w, func(ctx context.Context, k *keeping) error {
		one, err := k.workspaceNamed(ctx, c.Workspace)
		if err != nil {
			return err
		}
		accounts, err := account.New(k.store, systemClock)
		if err != nil {
			return err
		}
		link, err := accounts.ConsoleLink(ctx, one.ID, c.Email)
		if errors.Is(err, store.ErrNotFound) {
			return &misuse{fmt.Errorf("%s is no member of %s", c.Email, one.Name)}
		}
		if err != nil {
			return err
		}
		return w.print(k.linkText(link))
	})
}

// linkText tells how to use a link.
func (k *keeping) linkText(link account.Token) string {
	site := k.config.PublicURL
	if site == "" {
		site = "http://" + setting.DefaultListen
	}
	return "\n    deed login '" + signInLink(site, link) + "'\n\nNobody shows this link again.\n"
}

// signInLink is where a link leads: its token stands where browsers send it to nobody.
func signInLink(site string, link account.Token) string {
	return site + server.SignInPath + "#" + link.Reveal()
}

// systemClock is the clock of this machine, for what happens outside a unit.
func systemClock() value.Instant { return value.FromTime(time.Now()) }

type hostExportCmd struct {
	Workspace string       `arg:"" help:"Its name or id."`
	File      string       `arg:"" optional:"" default:"-" help:"Where to write; - is standard output."`
	Settings  settingFlags `embed:""`
	Force     bool         `help:"Write over a file that is there."`
}

// Help is printed under the flags of deed host export --help.
func (hostExportCmd) Help() string {
	return `Example:

    deed host export main main.jsonl
    deed host export main - | jq -r 'select(.kind == "fact").fact.external_id'

Declarations with their bodies, facts, verdicts with their cases, contracts,
members, keys without their hashes, the audit and the ledger, as they stand at
one moment. One JSON object a line; "kind" tells them apart, and the last line,
without which an export is not whole, counts them.`
}

func (c *hostExportCmd) Run(ctx context.Context, w *world) error {
	return c.Settings.look(ctx, w, func(ctx context.Context, k *keeping) error {
		one, err := k.workspaceNamed(ctx, c.Workspace)
		if err != nil {
			return err
		}
		write := func(to io.Writer) (archive.Count, error) {
			return archive.Export(ctx, k.store, one.ID, buildVersion().Version, to)
		}
		if c.File == "-" {
			_, err := write(w.stdout)
			return err
		}
		count, err := writeWhole(c.File, c.Force, write)
		if err != nil {
			return err
		}
		return w.print(fmt.Sprintf("exported %s, %s and %s to %s\n", terminal.Plural(count.Actions, "action"), terminal.Plural(count.Facts, "fact"),
			terminal.Plural(count.Verdicts, "settled verdict"), terminal.Clean(c.File)))
	})
}
