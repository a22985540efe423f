//go:build unix

package servertest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	deed "github.com/deed-dev/deed/client"
)

// patientContract waits for evidence as long as a machine under load may take.
const patientContract = `contract: patient_refund
params:
  amount:   {type: money, currency: currency, required: true}
  currency: {type: currency, default: USD}
settle: {after: 1s, grace: 1h}
sources: {stripe: {trust: independent}}
link:
  - refs.idempotency_key == action_id
steps:
  - id: money_moved
    expect: refund.succeeded
    from: stripe
    where: fact.amount == params.amount && fact.currency == params.currency
    count: 1
    within: 1s
`

// TestTheGoClientDoublesNothingWhileTheServerIsKilled uses every method of the
// package client while the server is killed and started again beneath it.
func TestTheGoClientDoublesNothingWhileTheServerIsKilled(t *testing.T) {
	t.Parallel()
	s, w := furnished(t)
	ctx, cancel := context.WithTimeout(t.Context(), 4*patience) // for a dozen starts
	defer cancel()
	actions, err := deed.NewActions(s.url(), w.agent.credential, deed.WithTries(20))
	if err != nil {
		t.Fatal(err)
	}
	evidence, err := deed.NewEvidence(s.url(), w.connector.credential, deed.WithTries(20))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.owner.ask(ctx, http.MethodPost, "/v1/contracts", object{"yaml": patientContract}, nil); err != nil {
		t.Fatal(err)
	}
	if err := w.owner.ask(ctx, http.MethodPost, "/v1/contracts/patient_refund/versions/1/activate", object{"mode": "live"}, nil); err != nil {
		t.Fatal(err)
	}
	// restart kills the server beneath the calls that follow, and starts it again.
	var killer sync.WaitGroup
	restart := func(after time.Duration) {
		killer.Wait()
		killer.Go(func() {
			wait(t, after)
			s.kill()
			if _, err := s.start(); err != nil {
				t.Error(err)
			}
		})
	}

	const n, batch = 40, 60
	money := func() map[string]any { return map[string]any{"amount": deed.Money("1.00", "USD")} }
	refund := func(id string) deed.Action {
		return deed.Action{
			ID: id, ContractID: "patient_refund", Type: "refund_order", SubjectID: "order-of-" + id, SubjectKind: "order",
			AgentID: "go", Params: money(),
		}
	}
	fact := func(id string, at time.Time) deed.Fact {
		return deed.Fact{
			Source: "stripe", ExternalID: "re-" + id, Type: "refund.succeeded", SubjectID: "order-of-" + id, SubjectKind: "order",
			Refs: map[string]string{"idempotency_key": id}, Attrs: map[string]any{"amount": deed.Money("1.00", "USD"), "currency": "USD"},
			OccurredAt: at,
		}
	}
	acted := map[string]int{}
	for i := range n {
		id := fmt.Sprintf("do-%d", i)
		if i%4 == 0 {
			restart(time.Duration(i) * time.Millisecond) // another place in the calls each time
		}
		_, err := actions.Do(ctx, refund(id), func(ctx context.Context, a deed.Action) error {
			acted[a.ID]++
			_, err := evidence.Push(ctx, fact(a.ID, a.RequestedAt))
			return err
		})
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
	}
	var many []deed.Action
	var facts []deed.Fact
	for i := range batch {
		id := fmt.Sprintf("batch-%d", i)
		many, facts = append(many, refund(id)), append(facts, fact(id, time.Now()))
	}
	restart(0)
	if list, err := actions.DeclareAll(ctx, many...); err != nil || len(list) != batch {
		t.Fatalf("%d declared: %v", len(list), err)
	}
	restart(5 * time.Millisecond)
	if sum, err := evidence.Push(ctx, facts...); err != nil || sum.New+sum.Known != batch {
		t.Fatalf("%+v: %v", sum, err)
	}
	killer.Wait()

	// The last windows are closed once the source is complete beyond them.
	if err := evidence.Complete(ctx, "stripe", time.Now().Add(30*time.Second), "refund.succeeded", "refund.failed"); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		id := fmt.Sprintf("do-%d", i)
		got, err := actions.Wait(ctx, id, deed.UntilSettled)
		if err != nil {
			t.Fatalf("%s: %v", id, err)
		}
		if acted[id] != 1 {
			t.Errorf("%s was done %d times", id, acted[id])
		}
		if got.Verification.Outcome.Result != deed.Pass {
			t.Errorf("%s: %s, %+v", id, got.Verification.Summary.Headline, got.Verification.Outcome)
		}
	}
	seen := map[string]int{}
	for got, err := range actions.List(ctx, deed.Query{AgentID: "go"}) {
		if err != nil {
			t.Fatal(err)
		}
		seen[got.Action.ID]++
	}
	if len(seen) != n+batch {
		t.Errorf("%d actions are there, want %d", len(seen), n+batch)
	}
	for id, times := range seen {
		if times != 1 {
			t.Errorf("%s is there %d times", id, times)
		}
	}
	if got := kept(t, w); got != n+batch {
		t.Errorf("%d facts are kept, want %d", got, n+batch)
	}
	if replayed, err := actions.Declare(ctx, refund("do-0")); err != nil || replayed.Recorded != deed.Replayed {
		t.Errorf("declared once more: %+v, %v", replayed, err)
	}
	var told *deed.Error
	if _, err := actions.Get(ctx, "nobody"); !errors.As(err, &told) || told.Code != "not_found" {
		t.Errorf("an action that is not there: %v", err)
	}
}
