package governance

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/draft"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// proved declares an action, lets its effect be reported, and settles it.
func (o *office) proved(n int, k *contract.Contract, amount string) {
	o.t.Helper()
	start := o.clock()
	ref := o.declare(n, k, 1, verdict.Live, amount, start)
	action := look(o, func(tx store.Tx) (*store.Action, error) { return tx.ActionByRef(ref) })
	fact := evidence.Fact{
		Source: "stripe", ExternalID: fmt.Sprint("re_", n), Type: "refund.succeeded", Refs: map[string]string{"key": action.Declaration.ActionID},
		Attrs: map[string]value.Value{"amount": action.Declaration.Params["amount"]}, OccurredAt: start.Add(time.Minute), ObservedAt: start.Add(time.Hour), IngestedAt: start.Add(time.Hour),
	}
	settled := start.Add(100 * time.Hour)
	c := &verdict.Case{
		Engine: verdict.Engine, At: settled, Declarations: []verdict.Declaration{action.Declaration},
		Governing: &verdict.Governing{Contract: k, Version: 1, Mode: verdict.Live}, Facts: []evidence.Fact{fact},
		Sources: []evidence.Source{{Name: "stripe", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"refund.succeeded": settled}}},
	}
	v, err := engine.Evaluate(c)
	if err != nil || v.Badge != verdict.Pass || v.Revision != 1 {
		o.t.Fatalf("it came to %s, revision %d, %v", v.Badge, v.Revision, err)
	}
	o.keep(func(tx store.Tx) {
		tx.KeepVerdict(ref, &v, c, nil)
		if _, err := tx.AddFacts([]store.Fact{{Fact: fact, By: "apikey:4fT9xK2b"}}); err != nil {
			o.t.Error(err)
		}
	})
}

func (o *office) connect() {
	o.keep(func(tx store.Tx) {
		tx.PutSource(store.SourceState{Source: evidence.Source{Name: "stripe", Trust: evidence.Independent}, CreatedAt: noon, CreatedBy: "ada@example.com"})
		tx.PutWatermark("stripe", "refund.succeeded", o.clock(), "ada@example.com")
	})
}

func TestADraftIsMadeOfWhatSettledWithPass(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	k := compiled(t, strict)
	o.activate(o.save(strict), verdict.Live)
	o.connect()
	drafter := o.key(access.ScopesOf(access.ContractsDraft))
	for n := range 40 {
		o.proved(n, k, fmt.Sprintf("%d.00", 100+n))
	}
	o.declare(99, k, 1, verdict.Live, "999.00", o.clock()) // that is not settled: its amount shows nowhere
	o.advance(101 * time.Hour)
	got, err := o.Draft(t.Context(), drafter, DraftOrder{ContractID: "refunds"})
	if err != nil {
		t.Fatal(err)
	}
	if got.Statistics.Actions != 41 || got.Statistics.Basis != "passed" || got.Statistics.Based != 40 || got.Truncated {
		t.Errorf("the statistics are %+v", got.Statistics)
	}
	if len(got.Statistics.Limits) == 0 || got.Statistics.Limits[0].Highest == "" || strings.Contains(got.YAML, "999") {
		t.Errorf("the limits are %+v of\n%s", got.Statistics.Limits, got.YAML)
	}
	if _, err := o.Validate(t.Context(), o.key(access.ScopesOf(access.ContractsValidate)), []byte(got.YAML)); err != nil {
		t.Error(err)
	}
	versions, err := o.Versions(t.Context(), o.admin(), "refunds")
	if err != nil || len(versions) != 1 {
		t.Errorf("drafting saved something: %d versions, %v", len(versions), err)
	}
}

func TestADraftOfFewActionsSetsNoLimit(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	k := compiled(t, strict)
	o.activate(o.save(strict), verdict.Live)
	o.connect()
	for n := range 29 {
		o.proved(n, k, "100.00")
	}
	o.advance(101 * time.Hour)
	got, err := o.Draft(t.Context(), o.admin(), DraftOrder{ActionType: "refund_order"})
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Statistics.Limits) != 0 {
		t.Errorf("of 29 actions it draws the limits %+v", got.Statistics.Limits)
	}
}

func TestADraftNeedsActionsAndAScope(t *testing.T) {
	t.Parallel()
	o := newOffice(t, access.Workspace{ID: acme})
	_, err := o.Draft(t.Context(), o.admin(), DraftOrder{ActionType: "refund_order"})
	wantType[*draft.NothingSeenError](t, "without actions", err)
	for _, order := range []DraftOrder{{}, {ActionType: "a", ContractID: "b"}} {
		_, err := o.Draft(t.Context(), o.admin(), order)
		wantType[*RequestError](t, "neither or both", err)
	}
	_, err = o.Draft(t.Context(), o.key(access.ReadScopes()), DraftOrder{ActionType: "a"})
	wantType[*access.ScopeError](t, "without the scope", err)
	_, err = o.Draft(t.Context(), o.key(access.ScopesOf(access.ContractsDraft), "others"), DraftOrder{ContractID: "refunds"})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a key for other contracts: %v", err)
	}
}
