package conformance

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// actor is who does things in tests.
const actor = access.Actor("apikey:4fT9xK2b")

// ref is the nth id of an action; a higher n sorts later.
func ref(n int) store.Ref { return store.Ref(fmt.Sprintf("act_%026d", n)) }

// actionID is the client's own id of the nth action.
func actionID(n int) string { return fmt.Sprintf("refund:o-%d", n) }

// action is the nth refund: received n seconds after noon, ungoverned.
func action(n int, changes ...func(*store.Action)) *store.Action {
	a := &store.Action{Revisions: 1}
	a.Ref, a.Revision = ref(n), 1
	a.Declaration = verdict.Declaration{
		ActionID: actionID(n), ContractID: "refunds", ContractVersion: 2, ActionType: "refund_order", SubjectID: fmt.Sprintf("o-%d", n), SubjectKind: "order",
		AgentID: "bot", WorkflowID: "wf-1", ReceivedAt: at(time.Duration(n) * time.Second), Channel: "mcp",
		Params: map[string]value.Value{"amount": decimal("80.00"), "order": value.OfString(fmt.Sprintf("o-%d", n))},
	}
	a.Body = fmt.Appendf(nil, `{"action_id": %q,  "unknown": 1e3}`, a.Declaration.ActionID)
	a.By = actor
	for _, change := range changes {
		change(a)
	}
	return a
}

// with changes what the agent said.
func with(change func(*verdict.Declaration)) func(*store.Action) {
	return func(a *store.Action) { change(&a.Declaration) }
}

// revision is a further declaration of an action.
func revision(a *store.Action, n int) *store.Declared {
	d := a.Declared
	d.Revision = n
	d.Declaration.ReceivedAt = a.Declaration.ReceivedAt.Add(time.Duration(n) * time.Minute)
	d.Declaration.Params = maps.Clone(a.Declaration.Params)
	d.Declaration.Params["amount"] = decimal(fmt.Sprintf("%d.50", n))
	d.Body = fmt.Appendf(nil, `{"again":%d}`, n)
	return &d
}

func decimal(text string) value.Value {
	d, err := money.ParseDecimal(text)
	if err != nil {
		panic(err)
	}
	return value.OfDecimal(d)
}

func amount(text string) value.Value {
	a, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return value.OfMoney(a)
}

// judged is the verdict of an action that no contract governs, changed to what a
// test needs: a store keeps verdicts, it does not ask where they come from.
func judged(t testing.TB, a *store.Action, changes ...func(*verdict.Verdict)) (*verdict.Verdict, *verdict.Case) {
	t.Helper()
	c := &verdict.Case{Engine: verdict.Engine, At: a.Declaration.ReceivedAt, Declarations: []verdict.Declaration{a.Declaration}}
	v, err := engine.Evaluate(c)
	if err != nil {
		t.Fatalf("evaluate: %v", err)
	}
	v.Status, v.Revision, v.SettledAt, v.Supersedes = verdict.Provisional, 0, 0, ""
	v.SettlesAt = a.Declaration.Start().Add(72 * time.Hour)
	for _, change := range changes {
		change(&v)
	}
	return &v, c
}

// settled makes a verdict the nth settled one.
func settled(n int) func(*verdict.Verdict) {
	return func(v *verdict.Verdict) {
		v.Status, v.Revision, v.SettledAt = verdict.Settled, n, v.SettlesAt
		if n > 1 {
			v.Status, v.Supersedes = verdict.Revised, fmt.Sprintf("sha256:%064d", n)
		}
	}
}

// results gives a verdict its lenses and the badge that they come to.
func results(outcome, conformance verdict.Result) func(*verdict.Verdict) {
	return func(v *verdict.Verdict) {
		v.Outcome.Result, v.Conformance.Result = outcome, conformance
		v.Badge = verdict.Pass
		for _, r := range []verdict.Result{verdict.Unknown, verdict.Fail} {
			if outcome == r || conformance == r {
				v.Badge = r
			}
		}
	}
}

// declare keeps an action with a provisional verdict.
func declare(t testing.TB, p place, a *store.Action, changes ...func(*verdict.Verdict)) {
	t.Helper()
	v, c := judged(t, a, changes...)
	p.keep(t, func(tx store.Tx) {
		tx.AddAction(a, nil, nil)
		tx.KeepVerdict(a.Ref, v, c, v.Waits)
	})
}

// fact is the nth refund that Stripe tells of.
func fact(n int, changes ...func(*store.Fact)) store.Fact {
	f := store.Fact{By: "apikey:stripeKy"}
	f.Fact = evidence.Fact{
		Source: "stripe", ExternalID: fmt.Sprintf("re_%d", n), Type: "refund.succeeded", SubjectID: fmt.Sprintf("o-%d", n), SubjectKind: "order",
		Refs:       map[string]string{"key": actionID(n)},
		Attrs:      map[string]value.Value{"amount": amount("80.00 USD"), "actor": value.OfString("bot")},
		OccurredAt: at(time.Duration(n) * time.Minute), ObservedAt: at(time.Duration(n)*time.Minute + time.Second), IngestedAt: at(time.Duration(n)*time.Minute + 2*time.Second),
		Mode: evidence.Event, Payload: fmt.Sprintf("sha256:%064d", n),
	}
	f.Body = fmt.Appendf(nil, `{"external_id":"re_%d" }`, n)
	for _, change := range changes {
		change(&f)
	}
	return f
}

// source is a system of record.
func source(name string) store.SourceState {
	s := store.SourceState{Title: "The " + name, CreatedAt: noon, CreatedBy: "ada@example.com"}
	s.Source = evidence.Source{Name: name, Trust: evidence.Independent, Provides: []string{"refund.succeeded", "refund.failed"}, Resolution: evidence.Resolution(time.Millisecond)}
	return s
}

// report keeps facts that must all be new.
func report(t testing.TB, p place, facts ...store.Fact) {
	t.Helper()
	p.do(t, func(tx store.Tx) error {
		fresh, err := tx.AddFacts(facts)
		if err != nil {
			return err
		}
		for i := range fresh {
			if !fresh[i] {
				return fmt.Errorf("fact %d is not new", i)
			}
		}
		return nil
	})
}

// word is the JSON of a verdict, by which two can be compared.
func word(v *verdict.Verdict) string {
	if v == nil {
		return "none"
	}
	return string(v.AppendJSON(nil))
}

// wording is the JSON of a declaration.
func wording(d verdict.Declaration) string {
	return string((&verdict.Case{Declarations: []verdict.Declaration{d}}).AppendJSON(nil))
}
