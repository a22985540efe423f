package main

import (
	"context"
	"net/http"
	"net/url"

	"github.com/deed-dev/deed/internal/console"
)

// workspaceCmd is deed workspace.
type workspaceCmd struct {
	Show   workspaceShowCmd   `cmd:"" help:"The workspace and its settings."`
	Set    workspaceSetCmd    `cmd:"" help:"Change the workspace's settings."`
	Usage  workspaceUsageCmd  `cmd:"" help:"The plan of the workspace, and how much of it a month has used."`
	Audit  workspaceAuditCmd  `cmd:"" help:"Who did what."`
	Delete workspaceDeleteCmd `cmd:"" help:"Delete the workspace with all that is in it."`
}

type workspaceShowCmd struct{ serverFlags }

// Help is printed under the flags of deed workspace show --help.
func (workspaceShowCmd) Help() string { return "Example:\n\n    deed workspace show" }

func (c *workspaceShowCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, "/v1/workspace", nil, nil, console.Workspace)
}

type workspaceSetCmd struct {
	serverFlags
	Name         string `help:"Another name." placeholder:"NAME"`
	Development  string `help:"Allow keys that declare and write facts; their verdicts say so." placeholder:"on|off" enum:"on,off," default:""`
	SecondMember string `help:"A weaker contract needs a second member." placeholder:"on|off" enum:"on,off," default:""`
}

// Help is printed under the flags of deed workspace set --help.
func (workspaceSetCmd) Help() string {
	return `Example:

    deed workspace set --name "Acme payments" --second-member on

Only an owner may. Switching development off ends the keys that declare and
write facts.`
}

func (c *workspaceSetCmd) Run(ctx context.Context, w *world) error {
	body := map[string]any{}
	if c.Name != "" {
		body["name"] = c.Name
	}
	if c.Development != "" {
		body["development"] = c.Development == "on"
	}
	if c.SecondMember != "" {
		body["second_member"] = c.SecondMember == "on"
	}
	if len(body) == 0 {
		return &misuse{errNothingAsked("what to change", "deed workspace set --second-member on")}
	}
	return c.exchange(ctx, w, http.MethodPatch, "/v1/workspace", nil, body, console.Workspace)
}

type workspaceUsageCmd struct {
	serverFlags
	Period string `help:"A month, such as 2026-11; this one without it." placeholder:"MONTH"`
}

// Help is printed under the flags of deed workspace usage --help.
func (workspaceUsageCmd) Help() string {
	return "Example:\n\n    deed workspace usage --period 2026-11"
}

func (c *workspaceUsageCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, "/v1/usage", with(url.Values{}, "period", c.Period), nil, console.Usage)
}

type workspaceAuditCmd struct {
	serverFlags
	pageFlags
}

// Help is printed under the flags of deed workspace audit --help.
func (workspaceAuditCmd) Help() string { return "Example:\n\n    deed workspace audit --limit 20" }

func (c *workspaceAuditCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, "/v1/audit", c.set(url.Values{}), nil, console.Audit)
}

type workspaceDeleteCmd struct {
	serverFlags
	Confirm string `help:"Its name, so that it is not deleted by mistake." placeholder:"NAME" required:""`
}

// Help is printed under the flags of deed workspace delete --help.
func (workspaceDeleteCmd) Help() string {
	return `Example:

    deed workspace delete --confirm Acme

Deletes every action, fact, verdict, contract, key and member place in it. Only
an owner may, and there is no way back.`
}

func (c *workspaceDeleteCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodDelete, "/v1/workspace", url.Values{"confirm": {c.Confirm}}, nil, said("the workspace %s is gone", c.Confirm))
}

// memberCmd is deed member.
type memberCmd struct {
	List   memberListCmd   `cmd:"" help:"The members and their roles."`
	Invite memberInviteCmd `cmd:"" help:"Invite a person; prints a link that signs in once."`
	Link   memberLinkCmd   `cmd:"" help:"Make a new sign-in link for a member who lost the way in."`
	Role   memberRoleCmd   `cmd:"" help:"Give a member another role."`
	Remove memberRemoveCmd `cmd:"" help:"Remove a member; their sessions end at once."`
}

type memberListCmd struct{ serverFlags }

// Help is printed under the flags of deed member list --help.
func (memberListCmd) Help() string { return "Example:\n\n    deed member list" }

func (c *memberListCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, "/v1/members", nil, nil, console.Members)
}

type memberInviteCmd struct {
	serverFlags
	Email string `arg:"" help:"Address of the person."`
	Role  string `help:"viewer, analyst, admin or owner." enum:"viewer,analyst,admin,owner" default:"viewer"`
	Name  string `help:"Name of the person." placeholder:"NAME"`
}

// Help is printed under the flags of deed member invite --help.
func (memberInviteCmd) Help() string {
	return `Example:

    deed member invite grace@example.com --role analyst

Nothing is mailed: give the person the link, which signs in once, within three
days. A new one is made by deed member link.`
}

func (c *memberInviteCmd) Run(ctx context.Context, w *world) error {
	body := map[string]string{"email": c.Email, "role": c.Role}
	if c.Name != "" {
		body["name"] = c.Name
	}
	return c.exchange(ctx, w, http.MethodPost, "/v1/members", nil, body, console.Invited)
}

type memberLinkCmd struct {
	serverFlags
	ID string `arg:"" help:"The member's id."`
}

// Help is printed under the flags of deed member link --help.
func (memberLinkCmd) Help() string {
	return `Example:

    deed member link per_7k2

The link signs the member in once, within three days; give it to nobody else. One
that was made before and not used ends.`
}

func (c *memberLinkCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodPost, "/v1/members"+part(c.ID)+"/link", nil, nil, console.NewLink)
}

type memberRoleCmd struct {
	serverFlags
	ID   string `arg:"" help:"The member's id."`
	Role string `arg:"" help:"viewer, analyst, admin or owner." enum:"viewer,analyst,admin,owner"`
}

// Help is printed under the flags of deed member role --help.
func (memberRoleCmd) Help() string { return "Example:\n\n    deed member role per_7k2 admin" }

func (c *memberRoleCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodPatch, "/v1/members"+part(c.ID), nil, map[string]string{"role": c.Role}, said("%s is %s now", c.ID, c.Role))
}

type memberRemoveCmd struct {
	serverFlags
	ID string `arg:"" help:"The member's id."`
}

// Help is printed under the flags of deed member remove --help.
func (memberRemoveCmd) Help() string { return "Example:\n\n    deed member remove per_7k2" }

func (c *memberRemoveCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodDelete, "/v1/members"+part(c.ID), nil, nil, said("%s is removed", c.ID))
}
