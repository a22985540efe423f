package docket_test

import (
	"slices"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

const noon = value.Instant(1_793_620_800_000_000) // 2026-11-02T12:00:00Z

func at(d time.Duration) value.Instant { return noon.Add(d) }

const day = 24 * time.Hour

// refunds is what most of these tests need of a contract: links by key and by
// subject, an approval, a limit of each kind.
const refunds = `contract: refunds
applies_to: {action_type: refund_order, subject_kind: order}
params:
  amount:   {type: money, currency: currency}
  currency: {type: currency, default: USD}
  desk:     {type: integer}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources:
  stripe: {trust: independent}
  approvals: {trust: attested}
link:
  - refs.idempotency_key == action_id
  - refs.desk == params.desk
  - subject
steps:
  - {id: money_moved, expect: refund.succeeded, from: stripe, where: fact.amount == params.amount, count: 1, within: 48h}
never:
  - {id: not_reversed, expect: refund.failed, from: stripe}
limits:
  - {id: agent_daily, total: params.amount, max: "2000.00 USD", over: 24h, per: agent_id}
  - {id: desk_daily, count: true, max: 9, over: 24h, per: params.desk}
approvals:
  - {id: manager_ok, expect: approval.granted, from: approvals, link: subject, lookback: 7d, before: money_moved}
compensation: {by: reversals}
evidence: {exclusive: true, same_effect: refs.refund}
orphans: {where: fact.actor == "bot"}
`

func parse(t testing.TB, text string) *contract.Contract {
	t.Helper()
	k, err := contract.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func version(k *contract.Contract, number int, mode verdict.Mode, from, until value.Instant) docket.Version {
	v := docket.Version{From: from, Until: until}
	v.Contract, v.Version, v.Mode = k, number, mode
	return v
}

// live makes records in which contracts are live at any time.
func live(t testing.TB, texts ...string) *docket.Memory {
	t.Helper()
	m := docket.NewMemory()
	for _, text := range texts {
		if err := m.Activate(version(parse(t, text), 1, verdict.Live, 0, 0)); err != nil {
			t.Fatal(err)
		}
	}
	m.Connect(evidence.Source{Name: "stripe", Trust: evidence.Independent})
	return m
}

func amount(text string) value.Value {
	a, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return value.OfMoney(a)
}

func number(text string) value.Value {
	d, err := money.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return value.OfDecimal(d)
}

// refund is a declaration of 80 USD on the order o-1, received at noon.
func refund(id string, changes ...func(*verdict.Declaration)) verdict.Declaration {
	d := verdict.Declaration{
		ActionID: id, ContractID: "refunds", ActionType: "refund_order", SubjectID: "o-1", SubjectKind: "order",
		AgentID: "bot", ReceivedAt: noon, Params: map[string]value.Value{"amount": number("80.00")},
	}
	for _, change := range changes {
		change(&d)
	}
	return d
}

func received(after time.Duration) func(*verdict.Declaration) {
	return func(d *verdict.Declaration) { d.ReceivedAt = at(after) }
}

func order(id string) func(*verdict.Declaration) {
	return func(d *verdict.Declaration) { d.SubjectID = id }
}

func param(name string, v value.Value) func(*verdict.Declaration) {
	return func(d *verdict.Declaration) {
		params := map[string]value.Value{}
		for known, value := range d.Params {
			params[known] = value
		}
		params[name] = v
		d.Params = params
	}
}

// paid is a refund of 80 USD that Stripe made five minutes after noon.
func paid(id string, changes ...func(*evidence.Fact)) evidence.Fact {
	f := evidence.Fact{
		Source: "stripe", ExternalID: id, Type: "refund.succeeded", OccurredAt: at(5 * time.Minute), IngestedAt: at(6 * time.Minute),
		Attrs: map[string]value.Value{"amount": amount("80.00 USD")},
	}
	for _, change := range changes {
		change(&f)
	}
	return f
}

func key(name, v string) func(*evidence.Fact) {
	return func(f *evidence.Fact) {
		refs := map[string]string{name: v}
		for known, value := range f.Refs {
			refs[known] = value
		}
		f.Refs = refs
	}
}

func on(orderID string) func(*evidence.Fact) {
	return func(f *evidence.Fact) { f.SubjectID, f.SubjectKind = orderID, "order" }
}

func occurred(after time.Duration) func(*evidence.Fact) {
	return func(f *evidence.Fact) { f.OccurredAt, f.IngestedAt = at(after), at(after+time.Minute) }
}

func declare(m *docket.Memory, declarations ...verdict.Declaration) {
	for _, d := range declarations {
		m.Declare(d)
	}
}

func report(m *docket.Memory, facts ...evidence.Fact) {
	for _, f := range facts {
		m.Report(f)
	}
}

func build(t testing.TB, m *docket.Memory, actionID string, at value.Instant) *verdict.Case {
	t.Helper()
	c, err := docket.Build(m, actionID, at)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func factIDs(c *verdict.Case) []string {
	var ids []string
	for _, f := range c.Facts {
		ids = append(ids, f.ExternalID)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

func rivalIDs(c *verdict.Case) []string {
	var ids []string
	for _, d := range c.Rivals {
		ids = append(ids, d.ActionID)
	}
	return ids
}

func wantIDs(t testing.TB, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%s are %v, want %v", what, got, want)
	}
}
