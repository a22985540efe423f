package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/deed-dev/deed/client"
	"github.com/deed-dev/deed/internal/console"
	"github.com/deed-dev/deed/internal/remote"
	"github.com/deed-dev/deed/internal/terminal"
)

// actionCmd is deed action.
type actionCmd struct {
	Declare actionDeclareCmd `cmd:"" help:"Declare an action before it is done."`
	Show    actionShowCmd    `cmd:"" help:"One action: its verdict, each check and why, what it waits for."`
	List    actionListCmd    `cmd:"" help:"Actions with their verdicts, the newest first."`
	Pending actionPendingCmd `cmd:"" help:"Actions that are not settled, those that settle first first."`
	Summary actionSummaryCmd `cmd:"" help:"How the actions of a period ended, by contract."`
	Orphans actionOrphansCmd `cmd:"" help:"Effects that no action claims."`
}

type actionDeclareCmd struct {
	serverFlags
	File        string   `help:"The declaration as JSON; - is standard input. In place of the flags below." placeholder:"FILE"`
	ID          string   `help:"The action's id; the server makes one without it." placeholder:"ID"`
	Contract    string   `help:"The contract that shall govern it." placeholder:"ID"`
	Type        string   `help:"What kind of action it is, such as refund_order." placeholder:"TYPE"`
	Subject     string   `help:"What it acts on." placeholder:"ID"`
	SubjectKind string   `help:"What kind of thing that is." placeholder:"KIND"`
	Agent       string   `help:"Who acts." placeholder:"ID"`
	Workflow    string   `help:"What it is a part of." placeholder:"ID"`
	Param       []string `help:"A parameter, NAME=VALUE; a number, true, false or JSON is taken as such; give it again for more." placeholder:"NAME=VALUE" sep:"none"`
}

// Help is printed under the flags of deed action declare --help.
func (actionDeclareCmd) Help() string {
	return `Example:

    deed action declare --id refund:o-1 --contract refund_workflow --type refund_order --subject o-1 --subject-kind order --param amount=180.00 --param currency=USD
    deed action declare --file action.json

Declaring the same twice changes nothing. The same id with another content keeps
the first, and the answer says so.`
}

func (c *actionDeclareCmd) Run(ctx context.Context, w *world) error {
	body, err := c.body(w)
	if err != nil {
		return err
	}
	return c.exchange(ctx, w, http.MethodPost, "/v1/actions", nil, body, console.Action)
}

// body is the file as it is, or made of flags.
func (c *actionDeclareCmd) body(w *world) ([]byte, error) {
	switch c.File {
	case "":
	case "-":
		text, err := io.ReadAll(io.LimitReader(w.stdin, 1<<20))
		if err != nil {
			return nil, fmt.Errorf("read the declaration: %w", err)
		}
		return text, nil
	default:
		text, err := os.ReadFile(c.File)
		if err != nil {
			return nil, &misuse{terminal.WithHint(fmt.Errorf("read the declaration: %w", err), "what is in one: docs/api-actions.md")}
		}
		return text, nil
	}
	body := map[string]any{"channel": "cli", "requested_at": w.clock.Now().UTC().Format(time.RFC3339Nano)}
	for name, value := range map[string]string{
		"action_id": c.ID, "contract_id": c.Contract, "action_type": c.Type, "subject_id": c.Subject, "subject_kind": c.SubjectKind,
		"agent_id": c.Agent, "workflow_id": c.Workflow,
	} {
		if value != "" {
			body[name] = value
		}
	}
	params := map[string]any{}
	for _, given := range c.Param {
		name, value, ok := strings.Cut(given, "=")
		if !ok || name == "" {
			return nil, &misuse{terminal.WithHint(fmt.Errorf("--param %q is no NAME=VALUE", given), "for example: --param amount=180.00")}
		}
		if json.Valid([]byte(value)) {
			params[name] = json.RawMessage(value)
		} else {
			params[name] = value
		}
	}
	if len(params) > 0 {
		body["params"] = params
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("write the declaration: %w", err)
	}
	return text, nil
}

type actionShowCmd struct {
	serverFlags
	Ref     string        `arg:"" help:"The action's id, or the server's (act_…)."`
	Wait    bool          `help:"Wait until the verdict is settled."`
	Timeout time.Duration `help:"How long to wait." default:"10m"`
}

// Help is printed under the flags of deed action show --help.
func (actionShowCmd) Help() string {
	return `Example:

    deed action show refund:o-1
    deed action show refund:o-1 --wait --timeout 1h

Exit code 0: PASS. 1: FAIL, or the server cannot be asked. 2: there is no such
action. 3: UNKNOWN.`
}

func (c *actionShowCmd) Run(ctx context.Context, w *world) error {
	server, err := c.connect(w)
	if err != nil {
		return err
	}
	return interruptible(ctx, func(ctx context.Context) error {
		waiting, cancel := context.WithTimeout(ctx, c.Timeout)
		defer cancel()
		for pause := firstPause; ; pause = min(2*pause, longestPause) {
			raw, err := server.action(ctx, c.Ref)
			if err != nil {
				if c.Wait && passing(err) && pass(waiting, pause) {
					continue
				}
				return err
			}
			var a client.Declared
			if err := json.Unmarshal(raw, &a); err != nil {
				return fmt.Errorf("read the server's answer: %w", err)
			}
			if c.Wait && !a.Verification.IsSettled() && pass(waiting, pause) {
				continue
			}
			answer, err := console.Action(raw)
			if err != nil {
				return err
			}
			if err := w.answer(answer, c.JSON); err != nil {
				return err
			}
			return badge(a.Verification.Badge)
		}
	})
}

// How often a command that waits looks: soon at first, then more and more seldom.
const (
	firstPause   = 500 * time.Millisecond
	longestPause = 15 * time.Second
)

// action reads one action.
func (r *reached) action(ctx context.Context, ref string) (raw []byte, err error) {
	if ref != "pending" && ref != "." && ref != ".." {
		return r.ask(ctx, http.MethodGet, "/v1/actions"+part(ref), nil, nil)
	}
	// As parts of a path these would mean something else.
	if raw, err = r.ask(ctx, http.MethodGet, "/v1/actions", url.Values{"action_id": {ref}, "limit": {"1"}}, nil); err != nil {
		return nil, err
	}
	var list struct{ Actions []client.Declared }
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf("read the server's answer: %w", err)
	}
	if len(list.Actions) == 0 {
		missing := &remote.Error{Status: http.StatusNotFound, Code: "not_found", Message: "there is no such action"}
		return nil, r.refused(missing, "/v1/actions")
	}
	return r.ask(ctx, http.MethodGet, "/v1/actions"+part(list.Actions[0].Action.ServerID), nil, nil)
}

// passing says that what went wrong may be over when a command that waits looks
// again.
func passing(err error) bool {
	if fault, ok := errors.AsType[*remote.Error](err); ok {
		return fault.Status == http.StatusTooManyRequests || fault.Status >= http.StatusInternalServerError
	}
	return errors.As(err, new(*remote.UnreachableError))
}

// pass lets time pass; false if the context ends first.
func pass(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// badge is the exit code of a verdict.
func badge(r client.Result) error {
	switch r {
	case client.Fail:
		return exitCode(exitNegative)
	case client.Unknown:
		return exitCode(exitUndecided)
	}
	return nil
}

// actionFilter narrows lists of actions.
type actionFilter struct {
	Contract    string `help:"Only of this contract." placeholder:"ID"`
	Type        string `help:"Only of this action type." placeholder:"TYPE"`
	Workflow    string `help:"Only of this workflow." placeholder:"ID"`
	Agent       string `help:"Only of this agent." placeholder:"ID"`
	Subject     string `help:"Only on this subject." placeholder:"ID"`
	SubjectKind string `help:"Only on subjects of this kind." placeholder:"KIND"`
}

func (f actionFilter) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{
		"contract_id": f.Contract, "action_type": f.Type, "workflow_id": f.Workflow, "agent_id": f.Agent, "subject_id": f.Subject, "subject_kind": f.SubjectKind,
	} {
		with(query, name, value)
	}
	return query
}

type actionListCmd struct {
	serverFlags
	actionFilter
	pageFlags
	Verdict string `help:"PASS, FAIL or UNKNOWN." placeholder:"VERDICT"`
	Lens    string `help:"outcome or conformance: by this lens, not by the worse of both." placeholder:"LENS"`
	Status  string `help:"recorded, provisional, settled or revised." placeholder:"STATUS"`
	Period  string `help:"By their start: a month, last 7 days, or FROM..TO." placeholder:"PERIOD"`
}

// Help is printed under the flags of deed action list --help.
func (actionListCmd) Help() string {
	return `Example:

    deed action list --verdict FAIL --period "last 7 days"
    deed action list --contract refund_workflow --period 2026-11 --json`
}

func (c *actionListCmd) Run(ctx context.Context, w *world) error {
	query := c.set(c.query())
	for name, value := range map[string]string{"verdict": c.Verdict, "lens": c.Lens, "status": c.Status, "period": c.Period} {
		with(query, name, value)
	}
	return c.exchange(ctx, w, http.MethodGet, "/v1/actions", query, nil, console.Actions)
}

type actionPendingCmd struct {
	serverFlags
	actionFilter
	pageFlags
}

// Help is printed under the flags of deed action pending --help.
func (actionPendingCmd) Help() string {
	return "Example:\n\n    deed action pending --contract refund_workflow"
}

func (c *actionPendingCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, "/v1/actions/pending", c.set(c.query()), nil, console.Actions)
}

type actionSummaryCmd struct {
	serverFlags
	actionFilter
	Period string `help:"A month, last 7 days, or FROM..TO; this month without it." placeholder:"PERIOD"`
}

// Help is printed under the flags of deed action summary --help.
func (actionSummaryCmd) Help() string {
	return "Example:\n\n    deed action summary --period \"last 30 days\""
}

func (c *actionSummaryCmd) Run(ctx context.Context, w *world) error {
	return c.exchange(ctx, w, http.MethodGet, "/v1/summary", with(c.query(), "period", c.Period), nil, console.Summary)
}

type actionOrphansCmd struct {
	serverFlags
	pageFlags
	Contract string `arg:"" help:"The contract that looks for the effects."`
	Period   string `help:"A month, last 7 days, or FROM..TO; the last 30 days without it." placeholder:"PERIOD"`
}

// Help is printed under the flags of deed action orphans --help.
func (actionOrphansCmd) Help() string { return "Example:\n\n    deed action orphans refund_workflow" }

func (c *actionOrphansCmd) Run(ctx context.Context, w *world) error {
	query := with(c.set(url.Values{"contract_id": {c.Contract}}), "period", c.Period)
	return c.exchange(ctx, w, http.MethodGet, "/v1/orphans", query, nil, console.Orphans)
}
