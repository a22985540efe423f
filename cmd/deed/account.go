package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/deed-dev/deed/internal/console"
	"github.com/deed-dev/deed/internal/remote"
	"github.com/deed-dev/deed/internal/terminal"
)

// workspaceCmd is deed workspace.
type workspaceCmd struct {
	Show   workspaceShowCmd   `cmd:"" help:"The workspace and its settings."`
	Set    workspaceSetCmd    `cmd:"" help:"Change the workspace's settings."`
	Usage  workspaceUsageCmd  `cmd:"" help:"How much of the plan a month has used."`
	Audit  workspaceAuditCmd  `cmd:"" help:"Who did what."`
	Delete workspaceDeleteCmd `cmd:"" help:"Delete the workspace with all that is in it."`
}

type workspaceShowCmd struct{ serverFlags }

// Help is printed under the flags of deed workspace show --help.
func (workspaceShowCmd) Help() string { return "Example:\n\n    deed workspace show" }

func (c *workspaceShowCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, asMember, http.MethodGet, "/v1/workspace", nil, nil, console.Workspace)
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
	return c.exchange(ctx, w, asMember, http.MethodPatch, "/v1/workspace", nil, body, console.Workspace)
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
	return c.exchange(ctx, w, asProgram, http.MethodGet, "/v1/usage", with(url.Values{}, "period", c.Period), nil, console.Usage)
}

type workspaceAuditCmd struct {
	serverFlags
	pageFlags
}

// Help is printed under the flags of deed workspace audit --help.
func (workspaceAuditCmd) Help() string { return "Example:\n\n    deed workspace audit --limit 20" }

func (c *workspaceAuditCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, asMember, http.MethodGet, "/v1/audit", c.set(url.Values{}), nil, console.Audit)
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
	return c.exchange(ctx, w, asMember, http.MethodDelete, "/v1/workspace", url.Values{"confirm": {c.Confirm}}, nil, said("the workspace %s is gone", c.Confirm))
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
	return c.exchange(ctx, w, asMember, http.MethodGet, "/v1/members", nil, nil, console.Members)
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
	return c.exchange(ctx, w, asMember, http.MethodPost, "/v1/members", nil, body, console.Invited)
}

type memberLinkCmd struct {
	serverFlags
	ID string `arg:"" help:"The member's id."`
}

// Help is printed under the flags of deed member link --help.
func (memberLinkCmd) Help() string {
	return `Example:

    deed member link per_7k2

The link signs the member in once, within three days; give it to nobody else.`
}

func (c *memberLinkCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, asMember, http.MethodPost, "/v1/members"+part(c.ID)+"/link", nil, nil, console.NewLink)
}

type memberRoleCmd struct {
	serverFlags
	ID   string `arg:"" help:"The member's id."`
	Role string `arg:"" help:"viewer, analyst, admin or owner." enum:"viewer,analyst,admin,owner"`
}

// Help is printed under the flags of deed member role --help.
func (memberRoleCmd) Help() string { return "Example:\n\n    deed member role per_7k2 admin" }

func (c *memberRoleCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, asMember, http.MethodPatch, "/v1/members"+part(c.ID), nil, map[string]string{"role": c.Role}, said("%s is %s now", c.ID, c.Role))
}

type memberRemoveCmd struct {
	serverFlags
	ID string `arg:"" help:"The member's id."`
}

// Help is printed under the flags of deed member remove --help.
func (memberRemoveCmd) Help() string { return "Example:\n\n    deed member remove per_7k2" }

func (c *memberRemoveCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, asMember, http.MethodDelete, "/v1/members"+part(c.ID), nil, nil, said("%s is removed", c.ID))
}

// keyCmd is deed key.
type keyCmd struct {
	List   keyListCmd   `cmd:"" help:"The API keys, without secrets."`
	Create keyCreateCmd `cmd:"" help:"Make an API key; it is shown once."`
	Rotate keyRotateCmd `cmd:"" help:"Replace an API key, with a time in which both work."`
	Revoke keyRevokeCmd `cmd:"" help:"End an API key at once."`
}

type keyListCmd struct{ serverFlags }

// Help is printed under the flags of deed key list --help.
func (keyListCmd) Help() string { return "Example:\n\n    deed key list" }

func (c *keyListCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, asMember, http.MethodGet, "/v1/keys", nil, nil, console.Keys)
}

type keyCreateCmd struct {
	serverFlags
	Name       string   `arg:"" help:"What the key is for, for people."`
	Preset     string   `help:"recorder, evidence, reader or full." placeholder:"NAME"`
	Scope      []string `help:"A scope in place of a preset; give it again for more." placeholder:"SCOPE"`
	Source     []string `help:"A source whose facts it may write; give it again for more." placeholder:"NAME"`
	Contract   []string `help:"Only actions of this contract; give it again for more." placeholder:"ID"`
	ActionType []string `help:"Only actions of this type; give it again for more." placeholder:"TYPE"`
	Agent      []string `help:"Only actions of this agent; give it again for more." placeholder:"ID"`
	Expires    string   `help:"When it ends; never without it." placeholder:"TIME"`
}

// Help is printed under the flags of deed key create --help.
func (keyCreateCmd) Help() string {
	return `Example:

    deed key create "refund agent" --preset recorder --contract refund_workflow
    deed key create "stripe facts" --preset evidence --source stripe
    deed key create dashboard --preset reader

A recorder key declares actions and reads verdicts. An evidence key writes facts
of the sources it names. One key cannot do both, except where an owner switched
the workspace to development.`
}

func (c *keyCreateCmd) Run(ctx context.Context, w *world) error {
	body := map[string]any{"name": c.Name}
	switch {
	case c.Preset != "" && len(c.Scope) > 0:
		return &misuse{errTogether("--preset", "--scope")}
	case c.Preset != "":
		body["preset"] = c.Preset
	case len(c.Scope) > 0:
		body["scopes"] = c.Scope
	default:
		return &misuse{errNothingAsked("what the key may do (--preset)", "deed key create \"refund agent\" --preset recorder")}
	}
	if len(c.Source) > 0 {
		body["sources"] = c.Source
	}
	limits := map[string][]string{}
	for name, values := range map[string][]string{"contracts": c.Contract, "action_types": c.ActionType, "agents": c.Agent} {
		if len(values) > 0 {
			limits[name] = values
		}
	}
	if len(limits) > 0 {
		body["limits"] = limits
	}
	if c.Expires != "" {
		body["expires_at"] = c.Expires
	}
	err := c.exchange(ctx, w, asMember, http.MethodPost, "/v1/keys", nil, body, console.NewKey)
	if fault, ok := errors.AsType[*remote.Error](err); ok && fault.Code == "forbidden" && strings.Contains(fault.Message, "development") {
		return terminal.WithHint(fault, "better two keys, so that nobody proves what they declared; to try things out: deed workspace set --development on")
	}
	return err
}

type keyRotateCmd struct {
	serverFlags
	ID      string `arg:"" help:"The key's id."`
	Overlap string `help:"How long the old key works beside the new one, up to 720h." default:"0s"`
}

// Help is printed under the flags of deed key rotate --help.
func (keyRotateCmd) Help() string {
	return "Example:\n\n    deed key rotate key_01kb3fz8s0 --overlap 24h"
}

func (c *keyRotateCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, asMember, http.MethodPost, "/v1/keys"+part(c.ID)+"/rotate", nil, map[string]string{"overlap": c.Overlap}, console.NewKey)
}

type keyRevokeCmd struct {
	serverFlags
	ID string `arg:"" help:"The key's id."`
}

// Help is printed under the flags of deed key revoke --help.
func (keyRevokeCmd) Help() string { return "Example:\n\n    deed key revoke key_01kb3fz8s0" }

func (c *keyRevokeCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, asMember, http.MethodDelete, "/v1/keys"+part(c.ID), nil, nil, said("the key %s is revoked", c.ID))
}

// sourceCmd is deed source.
type sourceCmd struct {
	List     sourceListCmd     `cmd:"" help:"The sources, and how complete they are."`
	Add      sourceAddCmd      `cmd:"" help:"Make a source."`
	Set      sourceSetCmd      `cmd:"" help:"Change what a source is."`
	Complete sourceCompleteCmd `cmd:"" help:"State up to when a source's facts are complete."`
}

type sourceListCmd struct{ serverFlags }

// Help is printed under the flags of deed source list --help.
func (sourceListCmd) Help() string { return "Example:\n\n    deed source list" }

func (c *sourceListCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, asMember, http.MethodGet, "/v1/sources", nil, nil, console.Sources)
}

// sourceFlags are what a source is.
type sourceFlags struct {
	Title      string   `help:"A title for people." placeholder:"TEXT"`
	Trust      string   `help:"self_reported, asserted, attested or independent: how far it is out of the agent's reach." placeholder:"TRUST"`
	Provides   []string `help:"A fact type that it can tell of; give it again for more." placeholder:"TYPE"`
	Resolution string   `help:"The unit of its times; a second without it." placeholder:"DURATION"`
}

func (f sourceFlags) body() map[string]any {
	body := map[string]any{}
	for name, value := range map[string]string{"title": f.Title, "trust": f.Trust, "resolution": f.Resolution} {
		if value != "" {
			body[name] = value
		}
	}
	if len(f.Provides) > 0 {
		body["provides"] = f.Provides
	}
	return body
}

type sourceAddCmd struct {
	serverFlags
	sourceFlags
	Name string `arg:"" help:"Its name, as contracts and facts have it."`
}

// Help is printed under the flags of deed source add --help.
func (sourceAddCmd) Help() string {
	return `Example:

    deed source add stripe --trust attested --provides refund.succeeded --provides refund.failed

Who may write its facts is a matter of keys: deed key create --preset evidence
--source NAME.`
}

func (c *sourceAddCmd) Run(ctx context.Context, w *world) error {
	body := c.body()
	body["name"] = c.Name
	return c.exchange(ctx, w, asMember, http.MethodPost, "/v1/sources", nil, body, console.Sources)
}

type sourceSetCmd struct {
	serverFlags
	sourceFlags
	Name string `arg:"" help:"The source."`
}

// Help is printed under the flags of deed source set --help.
func (sourceSetCmd) Help() string {
	return "Example:\n\n    deed source set stripe --trust independent"
}

func (c *sourceSetCmd) Run(ctx context.Context, w *world) error {
	body := c.body()
	if len(body) == 0 {
		return &misuse{errNothingAsked("what to change", "deed source set stripe --trust independent")}
	}
	return c.exchange(ctx, w, asMember, http.MethodPatch, "/v1/sources"+part(c.Name), nil, body, console.Sources)
}

type sourceCompleteCmd struct {
	serverFlags
	Name string   `arg:"" help:"The source."`
	UpTo string   `arg:"" help:"The time up to which its facts are complete, inclusive; now is this moment."`
	Type []string `help:"A fact type; give it again for more." placeholder:"TYPE" required:""`
}

// Help is printed under the flags of deed source complete --help.
func (sourceCompleteCmd) Help() string {
	return `Example:

    deed source complete stripe 2026-11-02T12:00:00Z --type refund.succeeded

From then on, that a fact of this type is not there up to that time means that it
did not happen. It needs a key that may write the source's facts.`
}

func (c *sourceCompleteCmd) Run(ctx context.Context, w *world) error {
	at := c.UpTo
	if at == "now" {
		at = w.clock.Now().UTC().Format("2006-01-02T15:04:05.999999Z07:00")
	}
	marks := map[string]string{}
	for _, t := range c.Type {
		marks[t] = at
	}
	if len(marks) != len(c.Type) {
		return &misuse{terminal.WithHint(errors.New("a type stands there twice"), "name each --type once")}
	}
	return c.exchange(ctx, w, asProgram, http.MethodPut, "/v1/sources"+part(c.Name)+"/watermark", nil, map[string]any{"watermarks": marks}, console.Sources)
}
