package api

import (
	"context"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/view"
)

// ActionReader shows actions with their verdicts; see [action.Service] for the
// errors.
type ActionReader interface {
	Get(ctx context.Context, p access.Principal, name string) (*action.Found, error)
	List(ctx context.Context, p access.Principal, f store.Filter, page store.Page) ([]store.Listed, store.Cursor, error)
	Pending(ctx context.Context, p access.Principal, f store.Filter, page store.Page) (*action.Pending, error)
	Summary(ctx context.Context, p access.Principal, f store.Filter) ([]store.ContractCount, error)
}

// wholeAction is one action with everything that is known of it.
type wholeAction struct {
	Action       *view.Action       `json:"action"`
	Verification view.Verification  `json:"verification"`
	Links        view.Links         `json:"links"`
	Declarations []*view.Action     `json:"declarations" jsonschema:"all revisions, the first first"`
	Revisions    []view.Revision    `json:"revisions" jsonschema:"the settled verdicts, the first first"`
	Compensation *view.Compensation `json:"compensation,omitzero" jsonschema:"what undoes it, or what it undoes, as of now"`
}

func getAction(c *call) (reply, error) {
	found, err := c.services.ActionReader.Get(c.ctx, c.principal, c.path("ref"))
	if err != nil {
		return reply{}, named(err, "such action")
	}
	out := wholeAction{
		Links: c.options.Pages.Action(&found.Action), Compensation: view.CompensationOf(found.Compensation),
		Declarations: make([]*view.Action, 0, len(found.Declarations)), Revisions: make([]view.Revision, 0, len(found.Settled)),
	}
	if out.Action, err = view.ActionOf(&found.Action); err != nil {
		return reply{}, err
	}
	if out.Verification, err = view.VerificationOf(&found.Verdict, found.Action.SelfAttested); err != nil {
		return reply{}, err
	}
	for i := range found.Declarations {
		d, err := view.DeclarationOf(&found.Declarations[i])
		if err != nil {
			return reply{}, err
		}
		out.Declarations = append(out.Declarations, d)
	}
	for i := range found.Settled {
		out.Revisions = append(out.Revisions, view.RevisionOf(&found.Settled[i].Verdict))
	}
	return answered(out, nil)
}

type listedAction struct {
	Action       *view.Action `json:"action"`
	Verification *view.Short  `json:"verification"`
	Links        view.Links   `json:"links"`
}

type actionList struct {
	Period     *view.Period   `json:"period,omitzero" jsonschema:"the one that was asked for"`
	Actions    []listedAction `json:"actions"`
	NextCursor *store.Cursor  `json:"next_cursor"`
}

func listActions(c *call) (reply, error) {
	f, span, err := c.filter()
	if err != nil {
		return reply{}, err
	}
	found, next, err := c.services.ActionReader.List(c.ctx, c.principal, f, c.query.page())
	if err != nil {
		return reply{}, err
	}
	out := actionList{Period: span, Actions: make([]listedAction, 0, len(found)), NextCursor: cursor(next)}
	for i := range found {
		a := &found[i].Action
		form, err := view.ActionOf(a)
		if err != nil {
			return reply{}, err
		}
		out.Actions = append(out.Actions, listedAction{form, view.ShortOf(&found[i].Verdict, a.SelfAttested), c.options.Pages.Action(a)})
	}
	return answered(out, nil)
}

type pendingAction struct {
	Action       view.ActionBrief `json:"action"`
	Verification *view.Short      `json:"verification"`
	Links        view.Links       `json:"links"`
}

type pendingList struct {
	Actions     []pendingAction `json:"actions"`
	NextCursor  *store.Cursor   `json:"next_cursor"`
	At          value.Instant   `json:"at" jsonschema:"the server's time of this answer"`
	EvaluatedTo value.Instant   `json:"evaluated_to" jsonschema:"all that the server was told before this has been evaluated, of these actions and of all others; the time of the answer if nothing is left to do"`
}

func listPending(c *call) (reply, error) {
	f, _, err := c.filter()
	if err != nil {
		return reply{}, err
	}
	found, err := c.services.ActionReader.Pending(c.ctx, c.principal, f, c.query.page())
	if err != nil {
		return reply{}, err
	}
	out := pendingList{Actions: make([]pendingAction, 0, len(found.Actions)), NextCursor: cursor(found.Next), At: found.At, EvaluatedTo: found.EvaluatedTo}
	for i := range found.Actions {
		a := &found.Actions[i].Action
		out.Actions = append(out.Actions, pendingAction{view.BriefOf(a), view.WaitingOf(&found.Actions[i].Verdict, a.SelfAttested), c.options.Pages.Action(a)})
	}
	return answered(out, nil)
}

type summary struct {
	Period    view.Period   `json:"period"`
	Total     int64         `json:"total"`
	Contracts []view.Counts `json:"contracts" jsonschema:"by the contract that the actions named"`
}

func summarize(c *call) (reply, error) {
	if !c.query.has(periodParam.name) {
		c.query.given[periodParam.name] = view.MonthOf(c.at)
	}
	f, span, err := c.filter()
	if err != nil {
		return reply{}, err
	}
	counts, err := c.services.ActionReader.Summary(c.ctx, c.principal, f)
	if err != nil {
		return reply{}, err
	}
	out := summary{Period: *span}
	out.Contracts, out.Total = view.CountsOf(counts)
	return answered(out, nil)
}

// actionFilters are the parameters that narrow lists of actions.
var actionFilters = filters("action_id", "contract_id", "action_type", "workflow_id", "agent_id", "subject_id", "subject_kind")

var (
	verdictParam = param{name: "verdict", about: "the badge, or with lens that lens", options: []string{string(verdict.Pass), string(verdict.Fail), string(verdict.Unknown)}}
	lensParam    = param{name: "lens", about: "with verdict: this lens instead of the badge", options: []string{verdict.OutcomeLens, verdict.ConformanceLens}}
	statusParam  = param{name: "status", about: "how final the verdict is", options: []string{string(verdict.Recorded), string(verdict.Provisional), string(verdict.Settled), string(verdict.Revised)}}
)

// filter is what a list of actions is narrowed to, and the period if one is asked
// for. What the principal may see is the service's to add.
func (c *call) filter() (store.Filter, *view.Period, error) {
	q := c.query
	span, err := q.period(c.at)
	if err != nil {
		return store.Filter{}, nil, err
	}
	if q.has(lensParam.name) && !q.has(verdictParam.name) {
		return store.Filter{}, nil, &RequestError{Field: lensParam.name, Message: "says which lens verdict is about, and verdict is missing"}
	}
	f := store.Filter{
		ActionID: q.text("action_id"), ContractID: q.text("contract_id"), ActionType: q.text("action_type"),
		WorkflowID: q.text("workflow_id"), AgentID: q.text("agent_id"),
		SubjectID: q.text("subject_id"), SubjectKind: q.text("subject_kind"),
		Verdict: verdict.Result(q.text("verdict")), Lens: q.text("lens"), Status: verdict.Status(q.text("status")),
	}
	if span != nil {
		f.From, f.To = span.From, span.To
	}
	return f, span, nil
}
