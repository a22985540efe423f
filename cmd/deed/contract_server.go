package main

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"github.com/deed-dev/deed/internal/console"
	"github.com/deed-dev/deed/internal/remote"
	"github.com/deed-dev/deed/internal/terminal"
)

// contractServerCommands are those of deed contract that ask a server.
type contractServerCommands struct {
	List     contractListCmd     `cmd:"" help:"The contracts of a server." group:"With a server"`
	Push     contractPushCmd     `cmd:"" help:"Save a contract as its next version at a server." group:"With a server"`
	Versions contractVersionsCmd `cmd:"" help:"The versions of a contract at a server." group:"With a server"`
	Pull     contractPullCmd     `cmd:"" help:"Print a version's YAML from a server." group:"With a server"`
	Approve  contractApproveCmd  `cmd:"" help:"Stand behind a version that somebody else saved." group:"With a server"`
	Activate contractActivateCmd `cmd:"" help:"Let a version govern what is declared from now on." group:"With a server"`
	Retire   contractRetireCmd   `cmd:"" help:"Let no version of a contract govern any more." group:"With a server"`
	DryRun   contractDryRunCmd   `cmd:"" help:"What a version would say of the actions of a period." group:"With a server"`
}

type contractListCmd struct{ serverFlags }

// Help is printed under the flags of deed contract list --help.
func (contractListCmd) Help() string { return "Example:\n\n    deed contract list" }

func (c *contractListCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, "/v1/contracts", nil, nil, console.Contracts)
}

type contractPushCmd struct {
	serverFlags
	File string `arg:"" help:"The contract; - is standard input."`
	Note string `help:"Why it changes, for whoever reads the versions." placeholder:"TEXT"`
}

// Help is printed under the flags of deed contract push --help.
func (contractPushCmd) Help() string {
	return `Example:

    deed contract push refund.yaml --note "cap at 250 USD"

Saves a draft: it governs nothing until somebody activates it. In CI, a key that
holds contracts:draft and nothing else may push; a member activates.`
}

func (c *contractPushCmd) Run(ctx context.Context, w *world) error {
	text, err := contractText(w, c.File)
	if err != nil {
		return err
	}
	body := map[string]string{"yaml": string(text)}
	if c.Note != "" {
		body["note"] = c.Note
	}
	err = c.exchange(ctx, w, http.MethodPost, "/v1/contracts", nil, body, console.Version)
	return notAContract(c.File, err)
}

// notAContract tells what a server found wrong with a text as this machine would
// have: by the file, its lines and columns.
func notAContract(file string, err error) error {
	fault, ok := errors.AsType[*remote.Error](err)
	if !ok || fault.Code != "invalid_contract" || len(fault.Problems) == 0 {
		return err
	}
	var lines []string
	for _, p := range fault.Problems {
		lines = append(lines, file+":"+p.String())
	}
	next := append(lines[1:], "nothing was saved; try it here first: deed contract validate "+file)
	return &misuse{terminal.WithHint(errors.New(lines[0]), strings.Join(next, "\n"))}
}

type contractVersionsCmd struct {
	serverFlags
	ID string `arg:"" help:"The contract."`
}

// Help is printed under the flags of deed contract versions --help.
func (contractVersionsCmd) Help() string {
	return "Example:\n\n    deed contract versions refund_workflow"
}

func (c *contractVersionsCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, "/v1/contracts"+part(c.ID)+"/versions", nil, nil, console.Versions)
}

type contractPullCmd struct {
	serverFlags
	ID      string `arg:"" help:"The contract."`
	Version int    `arg:"" help:"Its version."`
}

// Help is printed under the flags of deed contract pull --help.
func (contractPullCmd) Help() string {
	return "Example:\n\n    deed contract pull refund_workflow 3 > refund.yaml"
}

func (c *contractPullCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, versionPath(c.ID, c.Version), nil, nil, console.Text)
}

func versionPath(id string, version int) string {
	return "/v1/contracts" + part(id) + "/versions/" + strconv.Itoa(version)
}

type contractApproveCmd struct {
	serverFlags
	ID      string `arg:"" help:"The contract."`
	Version int    `arg:"" help:"Its version."`
}

// Help is printed under the flags of deed contract approve --help.
func (contractApproveCmd) Help() string {
	return "Example:\n\n    deed contract approve refund_workflow 4"
}

func (c *contractApproveCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodPost, versionPath(c.ID, c.Version)+"/approve", nil, nil, console.Version)
}

type contractActivateCmd struct {
	serverFlags
	ID      string `arg:"" help:"The contract."`
	Version int    `arg:"" help:"Its version."`
	Shadow  bool   `help:"Try it out: its verdicts count for nothing."`
}

// Help is printed under the flags of deed contract activate --help.
func (contractActivateCmd) Help() string {
	return `Example:

    deed contract activate refund_workflow 4 --shadow
    deed contract activate refund_workflow 4

Nothing that was declared before is governed anew. Where the workspace wants it, a
version that is weaker than the active one needs a second member.`
}

func (c *contractActivateCmd) Run(ctx context.Context, w *world) error {
	mode := "live"
	if c.Shadow {
		mode = "shadow"
	}
	return c.exchange(ctx, w, http.MethodPost, versionPath(c.ID, c.Version)+"/activate", nil, map[string]string{"mode": mode}, console.Version)
}

type contractRetireCmd struct {
	serverFlags
	ID string `arg:"" help:"The contract."`
}

// Help is printed under the flags of deed contract retire --help.
func (contractRetireCmd) Help() string { return "Example:\n\n    deed contract retire refund_workflow" }

func (c *contractRetireCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodPost, "/v1/contracts"+part(c.ID)+"/retire", nil, nil, said("no version of %s governs from now on", c.ID))
}

type contractDryRunCmd struct {
	serverFlags
	ID      string `arg:"" help:"The contract whose actions are taken."`
	Version int    `help:"This version in place of the active one." name:"contract-version" placeholder:"N"`
	File    string `help:"This text in place of a version." placeholder:"FILE"`
	Period  string `help:"A month, last 7 days, or FROM..TO." default:"last 30 days"`
}

// Help is printed under the flags of deed contract dry-run --help.
func (contractDryRunCmd) Help() string {
	return `Example:

    deed contract dry-run refund_workflow --file refund.yaml --period 2026-11

Evaluates the actions of a period as if that version had governed them, and keeps
nothing. It reads at most 10,000 actions in 10 seconds, and says if it stopped.`
}

func (c *contractDryRunCmd) Run(ctx context.Context, w *world) error {
	body := map[string]any{"contract_id": c.ID, "period": c.Period}
	switch {
	case c.Version != 0 && c.File != "":
		return &misuse{errTogether("--contract-version", "--file")}
	case c.Version < 0:
		return &misuse{errTooSmall("--contract-version", c.Version)}
	case c.Version > 0:
		body["version"] = c.Version
	case c.File != "":
		text, err := contractText(w, c.File)
		if err != nil {
			return err
		}
		body["yaml"] = string(text)
	}
	return notAContract(c.File, c.exchange(ctx, w, http.MethodPost, "/v1/contracts/dry-run", nil, body, console.DryRun))
}
