package action_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

func TestAnActionIsFoundByEitherOfItsNames(t *testing.T) {
	t.Parallel()
	p := governed(t)
	r := p.declare(t, refund("refund:o/1"))
	for _, name := range []string{"refund:o/1", string(r.Action.Ref)} {
		if found := p.get(t, name); found.Action.Ref != r.Action.Ref || len(found.Declarations) != 1 {
			t.Errorf("by %s there is %+v", name, found)
		}
	}
	for _, name := range []string{"nobody", "", "act_00000000000000000000000000"} {
		if _, err := p.actions.Get(t.Context(), p.key(t), name); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("by %q: %v", name, err)
		}
	}
}

// complete says that stripe is complete up to a time.
func (p *place) complete(t testing.TB, to value.Instant) {
	t.Helper()
	p.do(t, func(tx store.Tx) {
		tx.PutWatermark("stripe", "refund.succeeded", to, "apikey:evidence")
		tx.Wake(store.Wake{Kind: store.WakeSource, Source: "stripe", FactType: "refund.succeeded", Watermark: to})
	})
	p.drain(t)
}

func TestASettledActionShowsWhatUndidItLongAfter(t *testing.T) {
	t.Parallel()
	p := governed(t)
	undone := strings.NewReplacer("contract: refunds", "contract: undoing", "refund_order", "undo_refund", "orphans:", "# orphans:").Replace(refunds)
	p.activate(t, undone)
	p.activate(t, refunds+"compensation: {by: undoing}\nverified_amount: {step: money_moved, of: fact.amount}\n")
	p.declare(t, refund("a1"))
	p.paid(t, "re_1", keyed("a1"))
	p.pass(73 * time.Hour)
	p.complete(t, noon.Add(73*time.Hour))
	before := p.get(t, "a1")
	if before.Verdict.Status != verdict.Settled || before.Compensation != nil {
		t.Fatalf("it is %s, undone by %v", before.Verdict.Status, before.Compensation)
	}
	p.declare(t, strings.NewReplacer("a1", "u1", `"refunds"`, `"undoing"`, "refund_order", "undo_refund").Replace(refund("a1", `"compensates": "b1"`)))
	p.declare(t, strings.NewReplacer("b1", "a1").Replace(strings.NewReplacer("a1", "u2", `"refunds"`, `"undoing"`, "refund_order", "undo_refund").Replace(refund("a1", `"compensates": "b1"`))))
	p.drain(t)
	after := p.get(t, "a1")
	if after.Verdict.Digest() != before.Verdict.Digest() || len(after.Settled) != 1 {
		t.Error("the settled verdict is another")
	}
	if after.Compensation == nil || len(after.Compensation.By) != 1 || after.Compensation.By[0].ActionID != "u2" {
		t.Errorf("undone by %+v, want u2", after.Compensation)
	}
	noted := false
	for _, n := range after.Notes {
		noted = noted || n.Code == verdict.Compensated && n.About == "u2"
	}
	if !noted {
		t.Errorf("it notes %v", after.Notes)
	}
}

func keyed(id string) func(*store.Fact) {
	return func(f *store.Fact) { f.Refs = map[string]string{"key": id} }
}

func TestThePendingListSaysHowFarSourcesAreNow(t *testing.T) {
	t.Parallel()
	p := governed(t)
	p.declare(t, refund("a1"))
	p.pass(2 * time.Hour)
	p.complete(t, noon.Add(time.Hour)) // changes nothing but how far it is
	found, err := p.actions.Pending(t.Context(), p.key(t), store.Filter{}, store.Page{Limit: 10})
	if err != nil || found.Next != "" || len(found.Actions) != 1 {
		t.Fatal(found, err)
	}
	waits := found.Actions[0].Verdict.Waits
	if len(waits) != 1 || waits[0].Until != noon.Add(48*time.Hour) || waits[0].Watermark != noon.Add(time.Hour) {
		t.Errorf("it waits for %+v, want stripe up to two days, complete for an hour", waits)
	}
}

func TestThePendingListSaysHowFarTheEvaluatorIs(t *testing.T) {
	t.Parallel()
	p := governed(t)
	look := func() *action.Pending {
		t.Helper()
		found, err := p.actions.Pending(t.Context(), p.key(t), store.Filter{}, store.Page{Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	p.declare(t, refund("a1"))
	if got := look(); got.EvaluatedTo != got.At {
		t.Errorf("with nothing to do it is at %s of %s", got.EvaluatedTo, got.At)
	}
	p.pass(time.Hour)
	told := look().At
	p.paid(t, "re_1", keyed("a1"))
	p.pass(time.Minute)
	if got := look(); got.EvaluatedTo < told || got.EvaluatedTo.Add(time.Minute) > got.At {
		t.Errorf("with a fact of a minute ago that nobody looked at it is at %s of %s", got.EvaluatedTo, got.At)
	}
}

func TestActionsAreCountedByWhatTheyCameTo(t *testing.T) {
	t.Parallel()
	p := governed(t)
	p.declare(t, refund("a1"))
	p.declare(t, `{"subject_id": "o-1"}`)
	counts, err := p.actions.Summary(t.Context(), p.key(t), store.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, c := range counts {
		got[c.ContractID] = fmt.Sprint(c.Count, " ", c.Badge, " ", c.Status)
	}
	if got["refunds"] != "1 UNKNOWN provisional" || got[""] != "1 UNKNOWN settled" || len(got) != 2 {
		t.Errorf("counted are %v", got)
	}
}

func TestAnEffectThatNoActionClaimsIsAnOrphan(t *testing.T) {
	t.Parallel()
	p := governed(t)
	p.declare(t, refund("a1"))
	p.paid(t, "claimed", keyed("a1"))
	p.paid(t, "another's", func(f *store.Fact) {
		f.SubjectID, f.Attrs = "o-9", map[string]value.Value{"actor": value.OfString("ada")}
	})
	p.paid(t, "taken back", func(f *store.Fact) { f.SubjectID, f.Retracted = "o-9", true })
	for i := range 5 {
		p.paid(t, fmt.Sprint("orphan ", i), func(f *store.Fact) { f.SubjectID = "o-9" })
	}
	p.paid(t, "corrected", func(f *store.Fact) { f.SubjectID, f.Revision = "o-9", 1 })
	p.paid(t, "corrected", func(f *store.Fact) {
		f.SubjectID, f.Revision, f.Attrs = "o-9", 2, map[string]value.Value{"amount": amount("1.00 USD"), "actor": value.OfString("bot")}
	})
	p.drain(t)
	var found []string
	for after := store.Cursor(""); ; {
		facts, next, err := p.actions.Orphans(t.Context(), p.key(t), action.OrphanQuery{ContractID: "refunds"}, store.Page{After: after, Limit: 2})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range facts {
			found = append(found, fmt.Sprint(f.ExternalID, " ", f.Revision))
		}
		if after = next; after == "" {
			break
		}
	}
	if want := "[corrected 2 orphan 4 0 orphan 3 0 orphan 2 0 orphan 1 0 orphan 0 0]"; fmt.Sprint(found) != want {
		t.Errorf("orphans are %v, want %s", found, want)
	}
	_, _, err := p.actions.Orphans(t.Context(), p.key(t), action.OrphanQuery{ContractID: "nothing"}, store.Page{Limit: 2})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of a contract that is not there: %v", err)
	}
	_, _, err = p.actions.Orphans(t.Context(), p.key(t), action.OrphanQuery{ContractID: "refunds"}, store.Page{After: "7.x", Limit: 2})
	if !errors.As(err, new(*store.CursorError)) {
		t.Errorf("from nowhere: %v", err)
	}
	facts, _, err := p.actions.Orphans(t.Context(), p.key(t), action.OrphanQuery{ContractID: "refunds", To: noon}, store.Page{Limit: 2})
	if err != nil || len(facts) != 0 {
		t.Errorf("before noon there are %v, %v", facts, err)
	}
}

// dry tries a contract on all that was declared.
func (p *place) dry(t testing.TB, o action.DryOrder) *action.DryRun {
	t.Helper()
	o.ContractID = "refunds"
	run, err := p.actions.DryRun(t.Context(), p.member(t), o)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func TestADryRunSaysWhatAVersionWouldHaveComeTo(t *testing.T) {
	t.Parallel()
	p := governed(t)
	for i := range 3 {
		id := fmt.Sprint("a", i)
		p.declare(t, strings.NewReplacer(`"o-1"`, fmt.Sprintf(`"o-%d"`, i), `"bot"`, fmt.Sprintf(`"bot-%d"`, i)).Replace(refund(id)))
		p.paid(t, fmt.Sprint("re_", i), keyed(id), func(f *store.Fact) { f.SubjectID = fmt.Sprint("o-", i) })
	}
	p.pass(80 * time.Hour)
	p.complete(t, noon.Add(80*time.Hour))
	same := p.dry(t, action.DryOrder{})
	if same.Actions != 3 || !same.Complete || same.Badge[verdict.Pass] != 3 || len(same.Turned) != 0 {
		t.Errorf("the active version: %+v", same)
	}
	// A limit that no version had: 160 in all. And an amount that is verified.
	text := strings.Replace(refunds, "limits:", "limits:\n  - {id: daily, total: params.amount, max: \"160.00 USD\", over: 24h}", 1) + "verified_amount: {step: money_moved, of: fact.amount}\n"
	run := p.dry(t, action.DryOrder{Text: []byte(text)})
	if run.Actions != 3 || !run.Complete || run.Outcome[verdict.Pass] != 3 || run.Conformance[verdict.Fail] != 3 {
		t.Errorf("another limit: %+v", run)
	}
	if len(run.Verified) != 1 || run.Verified[0].String() != "240.00 USD" {
		t.Errorf("verified are %v, want 240.00 USD", run.Verified)
	}
	if len(run.Turned) != 3 || run.Turned[0].Lens != verdict.ConformanceLens || run.Turned[0].Was != verdict.Pass || run.Turned[0].Is != verdict.Fail {
		t.Errorf("turned are %v", run.Turned)
	}
	if want := "[{outcome ALL_CHECKS_MET 3} {conformance LIMIT_EXCEEDED 3}]"; fmt.Sprint(run.Codes) != want {
		t.Errorf("codes are %v, want %s", run.Codes, want)
	}
	// A condition under which the refunds are too small.
	strict := p.dry(t, action.DryOrder{Text: []byte(strings.Replace(refunds, "fact.amount == params.amount", `fact.amount == money("81.00 USD")`, 1))})
	if strict.Outcome[verdict.Fail] != 3 {
		t.Errorf("another condition: %+v", strict)
	}
	if none := p.dry(t, action.DryOrder{To: noon}); none.Actions != 0 || !none.Complete {
		t.Errorf("before noon: %+v", none)
	}
	if found := p.get(t, "a0"); found.Verdict.Badge != verdict.Pass || len(found.Settled) != 1 {
		t.Error("a dry run kept something")
	}
}

func TestADryRunFindsFactsByALinkThatNoVersionHad(t *testing.T) {
	t.Parallel()
	p := governed(t)
	p.declare(t, strings.Replace(refund("a1"), `"amount": 80.00`, `"amount": 80.00, "charge": "ch_1"`, 1))
	p.paid(t, "re_1", func(f *store.Fact) { f.SubjectID, f.Refs = "o-7", map[string]string{"charge": "ch_1"} })
	p.paid(t, "re_2", func(f *store.Fact) { f.SubjectID, f.Refs = "o-7", map[string]string{"charge": "ch_2"} })
	p.drain(t)
	text := strings.NewReplacer("link: [refs.key == action_id, subject]", "link: [refs.charge == params.charge]", "params:", "params:\n  charge: {type: string}",
		"applies_to: {action_type: refund_order, subject_kind: order}", "applies_to: {action_type: refund_order}").Replace(refunds)
	run := p.dry(t, action.DryOrder{Text: []byte(text)})
	if run.Outcome[verdict.Fail] != 1 || run.Codes[0].Code != verdict.SubjectMismatch {
		t.Errorf("a refund with the charge on another order: %+v", run)
	}
}

func TestADryRunRefusesWhatItCannotTry(t *testing.T) {
	t.Parallel()
	p := governed(t)
	dry := func(o action.DryOrder) error {
		_, err := p.actions.DryRun(t.Context(), p.member(t), o)
		return err
	}
	if err := dry(action.DryOrder{ContractID: "nothing"}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a contract that is not there: %v", err)
	}
	if err := dry(action.DryOrder{ContractID: "refunds", Version: 9}); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a version that is not there: %v", err)
	}
	if err := dry(action.DryOrder{ContractID: "refunds", Text: []byte("contract: [")}); !errors.As(err, new(contract.Problems)) {
		t.Errorf("no contract: %v", err)
	}
	if err := dry(action.DryOrder{ContractID: "refunds", Text: []byte(strings.Replace(refunds, "contract: refunds", "contract: others", 1))}); !errors.As(err, new(*action.InvalidError)) {
		t.Errorf("another contract's text: %v", err)
	}
	limited := p.key(t, func(o *access.KeyOrder) {
		o.Scopes, o.Limits.Contracts = access.ScopesOf(access.ContractsValidate), []string{"others"}
	})
	if _, err := p.actions.DryRun(t.Context(), limited, action.DryOrder{ContractID: "refunds"}); !errors.As(err, new(*access.LimitError)) {
		t.Errorf("for a key that is limited to others: %v", err)
	}
}
