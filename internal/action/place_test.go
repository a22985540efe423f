package action_test

import (
	"context"
	"crypto/rand"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/governance"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

// refunds is what most of these tests need of a contract.
const refunds = `contract: refunds
applies_to: {action_type: refund_order, subject_kind: order}
params:
  amount:   {type: money, currency: currency, required: true}
  currency: {type: currency, default: USD}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources:
  stripe: {trust: asserted}
link: [refs.key == action_id, subject]
steps:
  - {id: money_moved, expect: refund.succeeded, from: stripe, where: fact.amount == params.amount, count: 1, within: 48h}
limits:
  - {id: agent_daily, total: params.amount, max: "200.00 USD", over: 24h, per: agent_id}
orphans: {where: fact.actor == "bot"}
`

// place is a workspace on a store of its own, which is at noon unless a test says
// otherwise.
type place struct {
	store   store.Store
	now     atomic.Int64
	id      access.WorkspaceID
	owner   access.Membership
	actions *action.Service
	units   atomic.Int64 // that wrote
}

// counting counts the units that write.
type counting struct {
	store.Store
	place *place
}

func (c counting) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	c.place.units.Add(1)
	return c.Store.Do(ctx, w, fn)
}

func open(t testing.TB, options ...func(*action.Options)) *place {
	t.Helper()
	p := &place{id: "ws_1"}
	p.now.Store(int64(noon))
	s, err := sqlite.Open(t.Context(), t.TempDir(), sqlstore.WithClock(func() value.Instant { return value.Instant(p.now.Load()) }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	p.store = counting{s, p}
	p.owner = access.Membership{Workspace: p.id, Member: "per_1", Email: "ada@example.com", Role: access.Owner}
	workspace := store.Workspace{Workspace: access.Workspace{ID: p.id, Development: true}, Name: "Acme", Plan: "team", CreatedAt: noon}
	person := store.Person{ID: "per_1", Email: p.owner.Email, CreatedAt: noon}
	if _, err := s.Directory().CreateWorkspace(t.Context(), workspace, person, store.SignIn{Workspace: p.id, Member: "per_1", ExpiresAt: noon + 1}, false); err != nil {
		t.Fatal(err)
	}
	o := action.Options{Random: rand.Reader}
	for _, change := range options {
		change(&o)
	}
	p.actions = action.NewService(p.store, o)
	return p
}

// withPlans has the workspace's plan, team, described.
func withPlans(t testing.TB, text string) func(*action.Options) {
	t.Helper()
	book, err := plan.Parse("plans.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return func(o *action.Options) { o.Plans = book }
}

// governed is a place in which refunds is active and stripe is there.
func governed(t testing.TB, options ...func(*action.Options)) *place {
	t.Helper()
	p := open(t, options...)
	p.do(t, func(tx store.Tx) {
		tx.PutSource(store.SourceState{Source: evidence.Source{Name: "stripe", Trust: evidence.Asserted}, CreatedAt: noon})
	})
	p.activate(t, refunds)
	return p
}

func (p *place) activate(t testing.TB, text string) {
	t.Helper()
	contracts := governance.New(p.store, nil)
	saved, err := contracts.Save(t.Context(), p.member(t), []byte(text), "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := contracts.Activate(t.Context(), p.member(t), saved.Version.ContractID, saved.Version.Version, verdict.Live); err != nil {
		t.Fatal(err)
	}
}

func (p *place) do(t testing.TB, fn func(store.Tx)) {
	t.Helper()
	err := p.store.Do(t.Context(), p.id, func(tx store.Tx) error {
		fn(tx)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func (p *place) pass(d time.Duration) { p.now.Add(d.Microseconds()) }

func (p *place) drain(t testing.TB) {
	t.Helper()
	e := settlement.NewEvaluator(p.store, settlement.Options{OnFailure: func(_ access.WorkspaceID, ref store.Ref, err error) { t.Errorf("%s: %v", ref, err) }})
	if err := e.Drain(t.Context(), p.id); err != nil {
		t.Fatal(err)
	}
}

func (p *place) workspace() access.Workspace { return access.Workspace{ID: p.id, Development: true} }

func (p *place) member(t testing.TB) access.Principal {
	t.Helper()
	now := value.Instant(p.now.Load())
	principal, err := access.FromSession(access.Session{
		ID: "s", Kind: access.Terminal, Workspace: p.id, Member: "per_1", IssuedAt: now, ExpiresAt: now + 1, ConfirmedAt: now,
	}, p.owner, p.workspace(), access.REST, now)
	if err != nil {
		t.Fatal(err)
	}
	return principal
}

func (p *place) key(t testing.TB, changes ...func(*access.KeyOrder)) access.Principal {
	t.Helper()
	now := value.Instant(p.now.Load())
	order := access.KeyOrder{ID: "k", Name: "key", Scopes: access.ScopesOf(access.ActionsRecord, access.ActionsRead)}
	for _, change := range changes {
		change(&order)
	}
	key, secret, err := access.MintKey(order, p.workspace(), rand.Reader, now)
	if err != nil {
		t.Fatal(err)
	}
	principal, err := access.FromKey(secret, key, p.workspace(), access.REST, now)
	if err != nil {
		t.Fatal(err)
	}
	return principal
}

// refund is a declaration of 80 USD on the order o-1, requested at noon.
func refund(id string, more ...string) string {
	body := fmt.Sprintf(`{"action_id": %q, "contract_id": "refunds", "action_type": "refund_order", "subject_id": "o-1", "subject_kind": "order",
		"agent_id": "bot", "requested_at": "2026-11-02T12:00:00Z", "params": {"amount": 80.00}`, id)
	for _, member := range more {
		body += ", " + member
	}
	return body + "}"
}

func (p *place) declare(t testing.TB, body string) *action.Result {
	t.Helper()
	r, err := p.actions.Declare(t.Context(), p.key(t), parsed(t, body))
	if err != nil {
		t.Fatalf("%v for %s", err, body)
	}
	return r
}

func (p *place) get(t testing.TB, name string) *action.Found {
	t.Helper()
	found, err := p.actions.Get(t.Context(), p.key(t), name)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func codes(warnings []action.Warning) string {
	text := ""
	for _, w := range warnings {
		text += string(w.Code) + " " + w.Field + ";"
	}
	return text
}

// paid is a refund of 80 USD that Stripe made five minutes after noon.
func (p *place) paid(t testing.TB, id string, changes ...func(*store.Fact)) {
	t.Helper()
	f := store.Fact{Fact: evidence.Fact{
		Source: "stripe", ExternalID: id, Type: "refund.succeeded", OccurredAt: noon.Add(5 * time.Minute), SubjectID: "o-1", SubjectKind: "order",
		Attrs: map[string]value.Value{"amount": amount("80.00 USD"), "actor": value.OfString("bot")},
	}, By: "apikey:evidence"}
	for _, change := range changes {
		change(&f)
	}
	err := p.store.Do(t.Context(), p.id, func(tx store.Tx) error {
		f.IngestedAt = tx.Now()
		if _, err := tx.AddFacts([]store.Fact{f}); err != nil {
			return err
		}
		tx.Wake(store.Wake{Kind: store.WakeFact, Fact: f.Identity()})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
