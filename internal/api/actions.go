package api

import (
	"context"
	"net/http"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/view"
)

// ActionRecorder records what agents declare; see [action.Service] for the errors.
type ActionRecorder interface {
	Declare(ctx context.Context, p access.Principal, d *action.Declaration) (*action.Result, error)
	DeclareAll(ctx context.Context, p access.Principal, all []*action.Declaration) ([]action.Result, error)
}

// declaration describes what an agent sends. The text itself is read by
// internal/action, which keeps members that nobody knows.
type declaration struct {
	ActionID        string         `json:"action_id,omitzero" jsonschema:"the client's own name of the action, unique in the workspace"`
	ContractID      string         `json:"contract_id,omitzero"`
	ContractVersion int            `json:"contract_version,omitzero" jsonschema:"noted, not obeyed"`
	ActionType      string         `json:"action_type,omitzero"`
	SubjectID       string         `json:"subject_id,omitzero"`
	SubjectKind     string         `json:"subject_kind,omitzero"`
	AgentID         string         `json:"agent_id,omitzero"`
	WorkflowID      string         `json:"workflow_id,omitzero"`
	RequestedAt     string         `json:"requested_at,omitzero" jsonschema:"RFC 3339 with a zone, by the agent's clock"`
	Params          map[string]any `json:"params,omitempty" jsonschema:"the values that the contract looks at"`
	Channel         string         `json:"channel,omitzero"`
	Compensates     string         `json:"compensates,omitzero" jsonschema:"the action_id of an action that this one undoes"`
}

// declarations describes a batch.
type declarations struct {
	Actions []declaration `json:"actions" jsonschema:"1 to 1,000"`
}

// declared is the answer to a declaration.
type declared struct {
	Recorded     string            `json:"recorded" jsonschema:"new, replayed or changed"`
	Action       *view.Action      `json:"action"`
	Verification view.Verification `json:"verification"`
	Allowance    view.Allowance    `json:"allowance"`
	Warnings     []view.Warning    `json:"warnings"`
	Links        view.Links        `json:"links"`
}

// declaredInBatch is one result of a batch.
type declaredInBatch struct {
	Recorded     string          `json:"recorded" jsonschema:"new, replayed or changed"`
	Action       view.ActionName `json:"action"`
	Verification *view.Short     `json:"verification"`
	Warnings     []view.Warning  `json:"warnings"`
	Links        view.Links      `json:"links"`
}

type declaredBatch struct {
	Results   []declaredInBatch `json:"results" jsonschema:"in the order of the declarations"`
	Allowance view.Allowance    `json:"allowance"`
}

func declareOne(c *call) (reply, error) {
	text, err := c.read()
	if err != nil {
		return reply{}, err
	}
	d, err := action.Parse(text)
	if err != nil {
		return reply{}, err
	}
	result, err := c.services.ActionRecorder.Declare(c.ctx, c.principal, d)
	if err != nil {
		return reply{}, err
	}
	a := &result.Action
	out := declared{
		Recorded: string(result.Recorded), Allowance: allowanceOf(&result.Allowance),
		Warnings: warningsOf(result.Warnings), Links: c.options.Pages.Action(a),
	}
	if out.Action, err = view.ActionOf(a); err != nil {
		return reply{}, err
	}
	if out.Verification, err = view.VerificationOf(&result.Verdict, a.SelfAttested); err != nil {
		return reply{}, err
	}
	if result.Recorded == action.New {
		return reply{status: http.StatusCreated, location: out.Links.Self, content: out}, nil
	}
	return answered(out, nil)
}

func declareMany(c *call) (reply, error) {
	text, err := c.read()
	if err != nil {
		return reply{}, err
	}
	all, err := action.ParseBatch(text)
	if err != nil {
		return reply{}, err
	}
	results, err := c.services.ActionRecorder.DeclareAll(c.ctx, c.principal, all)
	if err != nil {
		return reply{}, err
	}
	out := declaredBatch{Results: make([]declaredInBatch, 0, len(results))}
	for i := range results {
		r := &results[i]
		out.Results = append(out.Results, declaredInBatch{
			Recorded: string(r.Recorded), Action: view.NameOf(&r.Action), Verification: view.ShortOf(&r.Verdict, r.Action.SelfAttested),
			Warnings: warningsOf(r.Warnings), Links: c.options.Pages.Action(&r.Action),
		})
		out.Allowance = allowanceOf(&r.Allowance)
	}
	return answered(out, nil)
}

func warningsOf(warnings []action.Warning) []view.Warning {
	list := make([]view.Warning, 0, len(warnings))
	for _, w := range warnings {
		list = append(list, view.Warning{Code: string(w.Code), Field: w.Field, Message: w.Message})
	}
	return list
}

func allowanceOf(a *action.Allowance) view.Allowance {
	v := view.Allowance{Plan: a.Plan, Period: a.Period, Recorded: a.Recorded, Over: a.Over()}
	if a.Limited {
		v.Included = &a.Included
	}
	return v
}
