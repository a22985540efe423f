//go:build unix

package servertest

import (
	"context"
	"fmt"
	"net/http"
)

// refundContract settles within seconds, so that a torture sees verdicts settle
// while it kills.
const refundContract = `contract: refund_workflow
title: Refund an order
owner: payments-team
applies_to: {action_type: refund_order, subject_kind: order}
params:
  amount:   {type: money, currency: currency, unit: major, required: true}
  currency: {type: currency, default: USD}
settle: {after: 4s, grace: 3s, max_skew: 2s}
sources:
  stripe: {trust: independent}
link:
  - refs.idempotency_key == action_id
  - subject
steps:
  - id: money_moved
    expect: refund.succeeded
    from: stripe
    where: fact.amount == params.amount && fact.currency == params.currency
    count: 1
    within: 3s
never:
  - {id: not_reversed, expect: refund.failed, from: stripe}
limits:
  - {id: single_cap, check: params.amount <= money("250.00 USD")}
  - {id: agent_total, total: params.amount, max: "40000.00 USD", over: 30s, per: agent_id}
  - {id: once_per_order, count: true, max: 1, over: 1h, per: subject_id}
evidence: {exclusive: true, decides: none, same_effect: refs.refund, late: revise}
`

// workspace is a workspace that is ready for agents, by its credentials.
type workspace struct {
	owner, agent, connector *client
	secrets                 []string // that nothing may ever print
	activeFrom              string
}

// furnish signs the owner in by the link of the first start, and makes what agents
// and a connector need.
func furnish(ctx context.Context, urls func() string, link string) (*workspace, error) {
	w := &workspace{owner: &client{urls: urls}, secrets: []string{link}}
	var session struct {
		Token string `json:"token"`
	}
	if err := w.owner.ask(ctx, http.MethodPost, "/v1/session", object{"link": link}, &session); err != nil {
		return nil, err
	}
	w.owner.credential = session.Token
	w.secrets = append(w.secrets, session.Token)
	const password = "a horse, a battery and a staple"
	if err := w.owner.ask(ctx, http.MethodPost, "/v1/session/password", object{"password": password}, &session); err != nil {
		return nil, err
	}
	w.owner.credential = session.Token // the sessions of before end
	w.secrets = append(w.secrets, password, session.Token)
	var version struct {
		Version struct {
			ActiveFrom string `json:"active_from"`
		} `json:"version"`
	}
	for _, step := range []struct {
		path   string
		body   object
		answer any
	}{
		{"/v1/sources", object{"name": "stripe", "trust": "independent", "provides": []string{"refund.succeeded", "refund.failed"}, "resolution": "1us"}, nil},
		{"/v1/contracts", object{"yaml": refundContract}, nil},
		{"/v1/contracts/refund_workflow/versions/1/activate", object{"mode": "live"}, &version},
	} {
		if err := w.owner.ask(ctx, http.MethodPost, step.path, step.body, step.answer); err != nil {
			return nil, err
		}
	}
	w.activeFrom = version.Version.ActiveFrom
	var err error
	if w.agent, err = w.key(ctx, object{"name": "agent", "preset": "recorder"}); err != nil {
		return nil, err
	}
	w.connector, err = w.key(ctx, object{"name": "connector", "preset": "evidence", "sources": []string{"stripe"}})
	return w, err
}

type object = map[string]any

func (w *workspace) key(ctx context.Context, order object) (*client, error) {
	var made struct {
		Secret string `json:"secret"`
	}
	if err := w.owner.ask(ctx, http.MethodPost, "/v1/keys", order, &made); err != nil {
		return nil, err
	}
	if made.Secret == "" {
		return nil, fmt.Errorf("the key %v has no secret", order["name"])
	}
	w.secrets = append(w.secrets, made.Secret)
	return &client{urls: w.owner.urls, credential: made.Secret}, nil
}
