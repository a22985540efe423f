package api

import (
	"context"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/view"
)

// Trials look at what was recorded in other ways than action by action; see
// [action.Service] for the errors.
type Trials interface {
	DryRun(ctx context.Context, p access.Principal, o action.DryOrder) (*action.DryRun, error)
	Orphans(ctx context.Context, p access.Principal, q action.OrphanQuery, page store.Page) ([]evidence.Fact, store.Cursor, error)
}

type dryOrder struct {
	ContractID string `json:"contract_id"`
	Period     string `json:"period" jsonschema:"of the actions, by their start"`
	Version    int    `json:"version,omitzero" jsonschema:"the active one without it; or"`
	YAML       string `json:"yaml,omitzero" jsonschema:"a text that is none yet"`
}

type dryRun struct {
	ContractID  string        `json:"contract_id"`
	Period      view.Period   `json:"period"`
	Actions     int           `json:"actions" jsonschema:"that were tried"`
	Complete    bool          `json:"complete" jsonschema:"false: it stopped before the end"`
	Stopped     string        `json:"stopped,omitzero" jsonschema:"why it did"`
	Badge       view.Results  `json:"badge"`
	Outcome     view.Results  `json:"outcome"`
	Conformance view.Results  `json:"conformance"`
	Verified    []view.Amount `json:"verified" jsonschema:"one for each currency"`
	Codes       []codeCount   `json:"codes" jsonschema:"by lens, the most frequent first"`
	Changed     []turn        `json:"changed" jsonschema:"the first 100 that would be another than they are"`
}

type codeCount struct {
	Code    verdict.Code `json:"code"`
	Lens    string       `json:"lens"`
	Label   string       `json:"label"`
	Actions int          `json:"actions"`
}

type turn struct {
	ID       store.Ref      `json:"id"`
	ActionID string         `json:"action_id"`
	Lens     string         `json:"lens"`
	Was      verdict.Result `json:"was"`
	Is       verdict.Result `json:"is"`
}

func dryRunContract(c *call, in *dryOrder) (reply, error) {
	span, err := period("period", in.Period, c.at)
	if err != nil {
		return reply{}, err
	}
	if in.YAML != "" && in.Version != 0 {
		return reply{}, &RequestError{Field: "yaml", Message: "send version or yaml, not both"}
	}
	order := action.DryOrder{ContractID: in.ContractID, Version: in.Version, From: span.From, To: span.To}
	if in.YAML != "" {
		order.Text = []byte(in.YAML)
	}
	run, err := c.services.Trials.DryRun(c.ctx, c.principal, order)
	if err != nil {
		return reply{}, unlisted(err)
	}
	out := dryRun{
		ContractID: in.ContractID, Period: span, Actions: run.Actions, Complete: run.Complete, Stopped: run.Stopped,
		Badge: view.ResultsOf(run.Badge), Outcome: view.ResultsOf(run.Outcome), Conformance: view.ResultsOf(run.Conformance),
	}
	for _, amount := range run.Verified {
		out.Verified = append(out.Verified, view.AmountOf(amount))
	}
	for _, n := range run.Codes {
		entry, _ := verdict.Lookup(n.Code)
		out.Codes = append(out.Codes, codeCount{Code: n.Code, Lens: n.Lens, Label: entry.Label, Actions: n.Actions})
	}
	for _, t := range run.Turned {
		out.Changed = append(out.Changed, turn{ID: t.Ref, ActionID: t.ActionID, Lens: t.Lens, Was: t.Was, Is: t.Is})
	}
	return answered(out, nil)
}

// unlisted answers a contract that the key is not meant to see as one that is not
// there: here nothing is declared.
func unlisted(err error) error {
	if _, limited := as[*access.LimitError](err); limited {
		return &NotFoundError{What: "such contract"}
	}
	return named(err, "such version")
}

type orphanList struct {
	Period     view.Period   `json:"period"`
	Orphans    []view.Orphan `json:"orphans"`
	NextCursor *store.Cursor `json:"next_cursor"`
}

var contractParam = param{name: "contract_id", about: "whose effects", required: true}

func listOrphans(c *call) (reply, error) {
	text := c.query.text(periodParam.name)
	if text == "" {
		text = usualPeriod
	}
	span, err := period(periodParam.name, text, c.at)
	if err != nil {
		return reply{}, err
	}
	id := c.query.text(contractParam.name)
	found, next, err := c.services.Trials.Orphans(c.ctx, c.principal, action.OrphanQuery{ContractID: id, From: span.From, To: span.To}, c.query.page())
	if err != nil {
		return reply{}, named(err, "active version of this contract")
	}
	out := orphanList{Period: span, Orphans: make([]view.Orphan, 0, len(found)), NextCursor: cursor(next)}
	for i := range found {
		out.Orphans = append(out.Orphans, view.Orphan{ContractID: id, Fact: view.EffectOf(&found[i])})
	}
	return answered(out, nil)
}
