package sqlstore_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/postgres/pgtest"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// noon is 2026-11-02T12:00:00Z, when what these tests tell happens.
const noon = value.Instant(1_793_620_800_000_000)

// w is the workspace of most tests.
const w access.WorkspaceID = "ws_one"

// opener makes an empty store for a test.
type opener func(tb testing.TB) store.Store

// onBoth runs a test on each database.
func onBoth(t *testing.T, test func(t *testing.T, open opener)) {
	t.Helper()
	t.Run("on SQLite", func(t *testing.T) {
		t.Parallel()
		test(t, openSQLite)
	})
	t.Run("on PostgreSQL", func(t *testing.T) {
		t.Parallel()
		test(t, openPostgres)
	})
}

func openSQLite(tb testing.TB) store.Store {
	tb.Helper()
	s, err := sqlite.Open(tb.Context(), tb.TempDir())
	return kept(tb, s, err)
}

func openPostgres(tb testing.TB) store.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), pgtest.Start(tb).Database(tb))
	return kept(tb, s, err)
}

func kept(tb testing.TB, s store.Store, err error) store.Store {
	tb.Helper()
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func do(tb testing.TB, s store.Store, fn func(store.Tx) error) {
	tb.Helper()
	if err := s.Do(tb.Context(), w, fn); err != nil {
		tb.Fatal(err)
	}
}

func view(tb testing.TB, s store.Store, fn func(store.Tx) error) {
	tb.Helper()
	if err := s.View(context.WithoutCancel(tb.Context()), w, fn); err != nil {
		tb.Fatal(err)
	}
}

const refundText = `contract: refunds
applies_to: {action_type: refund_order, subject_kind: order}
params:
  amount: {type: money, currency: currency}
  currency: {type: currency, default: USD}
  order: {type: string}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources:
  stripe: {trust: independent}
link:
  - refs.key == action_id
  - refs.order == params.order
  - subject
steps:
  - {id: money_moved, expect: refund.succeeded, from: stripe, where: fact.amount == params.amount, count: 1, within: 48h}
limits:
  - {id: agent_daily, total: params.amount, max: "2000.00 USD", over: 24h, per: agent_id}
`

// desk is a workspace where refunds are declared.
type desk struct {
	store    store.Store
	contract *contract.Contract
	live     *verdict.Governing
}

// newDesk puts the contract and its source in force.
func newDesk(tb testing.TB, s store.Store) *desk {
	tb.Helper()
	k, err := contract.Parse([]byte(refundText))
	if err != nil {
		tb.Fatal(err)
	}
	do(tb, s, func(tx store.Tx) error {
		v := store.ContractVersion{ContractID: k.ID, Version: 1, Digest: k.Digest, Text: k.Text, SavedAt: noon, SavedBy: "ada@example.com"}
		tx.AddContractVersion(&v)
		v.Mode, v.From, v.ActivatedBy = verdict.Live, noon.Add(-time.Hour), "ada@example.com"
		tx.ActivateContract(&v)
		stripe := store.SourceState{CreatedAt: noon, CreatedBy: "ada@example.com"}
		stripe.Name, stripe.Trust, stripe.Provides = "stripe", evidence.Independent, []string{"refund.succeeded"}
		tx.PutSource(stripe)
		return nil
	})
	return &desk{store: s, contract: k, live: &verdict.Governing{Contract: k, Version: 1, Mode: verdict.Live}}
}

func refOf(n int) store.Ref { return store.Ref(fmt.Sprintf("act_%026d", n)) }

// refund is the nth action: 10.25 USD on an order of its own, n seconds after noon.
func refund(n int) *store.Action {
	a := &store.Action{Version: 1, Mode: verdict.Live, Revisions: 1}
	a.Ref, a.Revision, a.By, a.Body = refOf(n), 1, "apikey:4fT9xK2b", []byte(`{}`)
	a.Declaration = verdict.Declaration{
		ActionID: fmt.Sprintf("refund-%d", n), ContractID: "refunds", ActionType: "refund_order",
		SubjectID: fmt.Sprintf("o-%d", n), SubjectKind: "order", AgentID: fmt.Sprintf("bot-%d", n%7), WorkflowID: "desk",
		ReceivedAt: noon.Add(time.Duration(n) * time.Second),
		Params: map[string]value.Value{
			"amount": value.OfDecimal(decimal("10.25")), "currency": value.OfString("USD"), "order": value.OfString(fmt.Sprintf("o-%d", n)),
		},
	}
	return a
}

func decimal(text string) money.Decimal {
	d, err := money.ParseDecimal(text)
	if err != nil {
		panic(err) // a number of a test
	}
	return d
}

// declare is what declaring an action asks and writes, in a unit.
func (d *desk) declare(tx store.Tx, all ...*store.Action) error {
	tx.Turn(store.Alone)
	ids := make([]string, len(all))
	for i, a := range all {
		ids[i] = a.Declaration.ActionID
	}
	known, err := tx.ActionsByID(ids)
	if err != nil {
		return err
	}
	var questions []*docket.Question
	for _, a := range all {
		dec := &a.Declaration
		questions = append(questions,
			&docket.Question{Active: &docket.ActiveKey{ContractID: dec.ContractID, At: dec.ReceivedAt}},
			&docket.Question{Sources: []string{"stripe"}},
			&docket.Question{Facts: &docket.FactKey{SubjectID: dec.SubjectID, Since: dec.ReceivedAt.Add(-25 * time.Hour)}},
			&docket.Question{Facts: &docket.FactKey{Ref: "key", Value: dec.ActionID}},
			&docket.Question{Compensating: dec.ActionID},
			&docket.Question{Latest: dec.ActionID},
			d.history(dec),
		)
	}
	if err := tx.Ask(questions); err != nil {
		return err
	}
	for _, a := range all {
		if known[a.Declaration.ActionID] != nil {
			continue
		}
		c := &verdict.Case{
			Engine: verdict.Engine, At: a.Declaration.ReceivedAt, Declarations: []verdict.Declaration{a.Declaration}, Governing: d.live,
			Sources: []evidence.Source{{Name: "stripe", Trust: evidence.Independent}},
			History: []verdict.History{{Limit: "agent_daily", From: 1, To: a.Declaration.ReceivedAt, CompleteTo: a.Declaration.ReceivedAt}},
		}
		v, err := engine.Evaluate(c)
		if err != nil {
			return err
		}
		tx.AddAction(a, d.entries(a), map[string]string{"order": a.Declaration.SubjectID})
		tx.KeepVerdict(a.Ref, &v, c, v.Waits)
		tx.Wake(store.Wake{Kind: store.WakeSettle, Ref: a.Ref, Due: v.SettlesAt})
		tx.Recheck(a.Ref)
		tx.AddLeaf(store.Leaf{Kind: "declaration", Object: string(a.Ref), Digest: v.Case, At: a.Declaration.ReceivedAt, Number: -1})
		tx.CountDeclared("2026-11", 1)
	}
	return nil
}

func (d *desk) entries(a *store.Action) []store.LimitEntry {
	var all []store.LimitEntry
	for _, e := range docket.Entries([]*contract.Contract{d.contract}, &a.Declaration) {
		all = append(all, store.LimitEntry{
			Key: e.Key, Group: e.Group, Start: e.Start, Amount: money.Text(e.Amount.Value), Currency: string(e.Amount.Currency),
		})
	}
	return all
}

// history asks what an agent's other refunds of the last day come to.
func (d *desk) history(dec *verdict.Declaration) *docket.Question {
	limit := &d.contract.Limits[0]
	return &docket.Question{History: &docket.HistoryQuery{
		Contract: d.contract, Limit: limit, Mode: verdict.Live, Group: docket.Group(limit, engine.NewClaimant(d.contract, dec)),
		Except: dec.ActionID, From: dec.Start().Add(-limit.Rolling.Over), To: dec.Start(), At: dec.ReceivedAt.Add(1000 * time.Hour),
	}}
}

// paid is the fact that the nth action's refund went through.
func paid(n int) store.Fact {
	f := store.Fact{By: "apikey:4fT9xK2b", Body: []byte(`{}`)}
	f.Fact = evidence.Fact{
		Source: "stripe", ExternalID: fmt.Sprintf("re_%d", n), Type: "refund.succeeded", SubjectID: fmt.Sprintf("o-%d", n), SubjectKind: "order",
		Refs:       map[string]string{"key": fmt.Sprintf("refund-%d", n)},
		Attrs:      map[string]value.Value{"amount": value.OfMoney(money.Amount{Value: decimal("10.25"), Currency: "USD"})},
		OccurredAt: noon.Add(time.Duration(n)*time.Second + time.Minute), IngestedAt: noon.Add(time.Hour), Payload: "sha256:00",
	}
	return f
}

// fill declares the actions of [from, to), reports what became of them, and gives
// each a second declaration and a settled verdict.
func (d *desk) fill(tx store.Tx, from, to int) error {
	tx.Turn(store.Alone)
	var facts []store.Fact
	for n := from; n < to; n++ {
		a := refund(n)
		c := &verdict.Case{Engine: verdict.Engine, At: noon, Declarations: []verdict.Declaration{a.Declaration}}
		v := &verdict.Verdict{
			Engine: verdict.Engine, ActionID: a.Declaration.ActionID, Status: verdict.Settled, Badge: verdict.Pass, Revision: 1,
			SettlesAt: noon, SettledAt: noon,
		}
		tx.AddAction(a, d.entries(a), map[string]string{"order": a.Declaration.SubjectID})
		again := a.Declared
		again.Revision = 2
		tx.AddRevision(&again)
		tx.KeepVerdict(a.Ref, v, c, []verdict.Wait{{Source: "stripe", Type: "refund.succeeded", Until: noon}})
		later := noon.Add(time.Duration(n) * time.Hour)
		tx.Wake(store.Wake{Kind: store.WakeSettle, Ref: a.Ref, Due: later}, store.Wake{Kind: store.WakeSpread, Ref: a.Ref, Due: later})
		tx.AddLeaf(store.Leaf{Kind: "declaration", Object: string(a.Ref), Digest: fmt.Sprintf("sha256:%064d", n), At: noon, Number: -1})
		tx.Audit(store.AuditEntry{At: noon, Actor: "ada@example.com", Event: "key.created", Object: string(a.Ref), Metadata: []byte(`{}`)})
		f, moved := paid(n), paid(n)
		moved.SubjectID, moved.Revision = "elsewhere-"+moved.SubjectID, 2
		facts = append(facts, f, moved)
	}
	_, err := tx.AddFacts(facts)
	return err
}
