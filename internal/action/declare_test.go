package action_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

func amount(text string) value.Value {
	a, err := money.Parse(text)
	if err != nil {
		panic(err)
	}
	return value.OfMoney(a)
}

func TestANewActionHasItsVerdictItsWakeAndItsLeafAtOnce(t *testing.T) {
	t.Parallel()
	p := governed(t)
	r := p.declare(t, refund("a1"))
	if r.Recorded != action.New || r.Revision != 1 || len(r.Warnings) > 0 || !action.IsRef(string(r.Action.Ref)) {
		t.Fatalf("it is %+v", r)
	}
	v := &r.Verdict
	if v.Status != verdict.Provisional || v.Outcome.Result != verdict.Unknown || v.Conformance.Result != verdict.Pass || v.SettlesAt != noon.Add(72*time.Hour) {
		t.Errorf("the verdict is %s", v.AppendJSON(nil))
	}
	found := p.get(t, string(r.Action.Ref))
	if found.Verdict.Digest() != v.Digest() || string(found.Action.Body) != refund("a1") || found.Action.By != r.Action.By || found.Action.Version != 1 {
		t.Errorf("kept is %+v", found)
	}
	p.do(t, func(tx store.Tx) {
		leaves, err := tx.Unsequenced(100)
		if err != nil {
			t.Fatal(err)
		}
		want := ledger.Declaration(&found.Action.Declared)
		if !slices.ContainsFunc(leaves, func(l store.Leaf) bool {
			return l.Digest == want.Digest && l.Object == want.Object && l.Kind == want.Kind
		}) {
			t.Errorf("there is no leaf %+v among %+v", want, leaves)
		}
		due, err := tx.NextDue()
		if err != nil || due == 0 || due > v.SettlesAt {
			t.Errorf("the next wake is due at %s (%v), want one by %s", due, err, v.SettlesAt)
		}
	})
}

func TestSendingTheSameAgainChangesNothing(t *testing.T) {
	t.Parallel()
	p := governed(t)
	first := p.declare(t, refund("a1"))
	for name, again := range map[string]string{
		"byte for byte":       refund("a1"),
		"later":               strings.Replace(refund("a1"), "12:00:00Z", "12:00:30Z", 1),
		"by another channel":  refund("a1", `"channel": "sdk"`),
		"for another version": refund("a1", `"contract_version": 1`),
		"in another spelling": strings.Replace(refund("a1"), "80.00", `"80.0 USD"`, 1),
		"with what plays no part": strings.Replace(refund("a1", `"extra": 1`), `"amount": 80.00`,
			`"amount": 8e1, "mcp_tool": "refund", "mcp_request_id": "8", "odd": {"a": 1}, "none": null`, 1),
	} {
		p.pass(time.Second)
		r := p.declare(t, again)
		if r.Recorded != action.Replayed || r.Action.Ref != first.Action.Ref || r.Revision != 1 || r.Verdict.Digest() != first.Verdict.Digest() {
			t.Errorf("%s: it is %s, revision %d, with the verdict %s", name, r.Recorded, r.Revision, r.Verdict.Digest())
		}
	}
	if found := p.get(t, "a1"); len(found.Declarations) != 1 || found.Action.Declaration.RequestedAt != noon {
		t.Errorf("there are %d declarations, want the first alone", len(found.Declarations))
	}
}

func TestAnotherContentUnderTheSameIDIsKeptAndDoesNotGovern(t *testing.T) {
	t.Parallel()
	p := governed(t)
	p.declare(t, refund("a1"))
	p.pass(time.Minute)
	changed := strings.Replace(refund("a1"), "80.00", "90.00", 1)
	changed = strings.Replace(changed, `"o-1"`, `"o-2"`, 1)
	r := p.declare(t, changed)
	if r.Recorded != action.Changed || r.Revision != 2 || r.Action.Declaration.SubjectID != "o-1" {
		t.Fatalf("it is %s, revision %d of an action on %s", r.Recorded, r.Revision, r.Action.Declaration.SubjectID)
	}
	if got, want := codes(r.Warnings), "declaration_changed subject_id;declaration_changed params.amount;"; got != want {
		t.Errorf("warned of %s, want %s", got, want)
	}
	if got, want := r.Warnings[1].Message, "declared before as 80.00; the first declaration governs"; got != want {
		t.Errorf("the warning is %q, want %q", got, want)
	}
	noted := func(v *verdict.Verdict) bool {
		return slices.ContainsFunc(v.Notes, func(n verdict.Reason) bool { return n.Code == verdict.DeclarationChanged })
	}
	found := p.get(t, "a1")
	if !noted(&r.Verdict) || !noted(&found.Verdict) {
		t.Error("the verdict does not say that the declaration was changed")
	}
	if len(found.Declarations) != 2 || string(found.Declarations[1].Body) != changed || found.Action.Revisions != 2 {
		t.Errorf("the declarations are %+v", found.Declarations)
	}
	if again := p.declare(t, changed); again.Recorded != action.Replayed || again.Revision != 2 {
		t.Errorf("the second declaration sent again is %s, revision %d", again.Recorded, again.Revision)
	}
	if third := p.declare(t, strings.Replace(refund("a1"), "80.00", "95.00", 1)); third.Recorded != action.Changed || third.Revision != 3 {
		t.Errorf("a third one is %s, revision %d", third.Recorded, third.Revision)
	}
}

func TestWhatNoContractGovernsIsRecordedAndSettledAtOnce(t *testing.T) {
	t.Parallel()
	p := governed(t)
	for name, test := range map[string]struct {
		body    string
		code    verdict.Code
		warning string
	}{
		"an unknown contract":  {strings.Replace(refund("a"), `"refunds"`, `"refunts"`, 1), verdict.ContractNotFound, "contract_not_found contract_id;"},
		"no contract":          {`{"action_id": "b", "subject_id": "o-1"}`, verdict.ContractNotFound, "contract_not_found contract_id;"},
		"another type":         {strings.Replace(refund("c"), "refund_order", "pay_order", 1), verdict.ContractDoesNotApply, "contract_does_not_apply action_type;"},
		"another subject kind": {strings.Replace(refund("d"), `"order"`, `"charge"`, 1), verdict.ContractDoesNotApply, "contract_does_not_apply subject_kind;"},
	} {
		r := p.declare(t, test.body)
		v := &r.Verdict
		if r.Recorded != action.New || v.Status != verdict.Settled || !v.Decided || v.Badge != verdict.Unknown || v.Outcome.Codes[0] != test.code || v.Conformance.Codes[0] != test.code {
			t.Errorf("%s: %s %s", name, r.Recorded, v.AppendJSON(nil))
		}
		if got := codes(r.Warnings); got != test.warning {
			t.Errorf("%s: warned of %s, want %s", name, got, test.warning)
		}
		if found := p.get(t, string(r.Action.Ref)); len(found.Settled) != 1 {
			t.Errorf("%s: %d settled verdicts, want one", name, len(found.Settled))
		}
	}
	p.activate(t, strings.Replace(refunds, "contract: refunds", "contract: refunts", 1))
	p.pass(100 * time.Hour)
	p.drain(t)
	if found := p.get(t, "a"); found.Verdict.Outcome.Codes[0] != verdict.ContractNotFound || found.Action.Version != 0 {
		t.Error("a contract that came later governs it")
	}
}

func TestWhatIsOddAboutADeclarationIsSaid(t *testing.T) {
	t.Parallel()
	p := governed(t, withPlans(t, "plans: {team: {actions_per_month: 1}}"))
	if r := p.declare(t, refund("a1", `"contract_version": 7`)); codes(r.Warnings) != "contract_version_ignored contract_version;" || r.Warnings[0].Message != "version 1 is active and governs" {
		t.Errorf("another version: %v", r.Warnings)
	}
	r := p.declare(t, strings.Replace(refund("a2"), "12:00:00Z", "11:57:59Z", 1))
	if codes(r.Warnings) != "declared_late requested_at;over_allowance ;" {
		t.Errorf("two minutes and a second late, and the second of one: %v", r.Warnings)
	}
	a := r.Allowance
	if a.Plan != "team" || a.Period != "2026-11" || a.Recorded != 2 || a.Included != 1 || !a.Limited || !a.Over() {
		t.Errorf("the allowance is %+v", a)
	}
	if r := p.declare(t, strings.Replace(refund("a3"), "12:00:00Z", "11:58:00Z", 1)); strings.Contains(codes(r.Warnings), "late") {
		t.Error("two minutes late is late")
	}
}

func TestTheServerNamesWhatHasNoName(t *testing.T) {
	t.Parallel()
	p := governed(t)
	body := strings.Replace(refund("x"), `"action_id": "x", `, "", 1)
	one, two := p.declare(t, body), p.declare(t, body)
	if one.Recorded != action.New || two.Recorded != action.New || one.Action.Ref == two.Action.Ref {
		t.Fatalf("the same body twice is %s %s and %s %s", one.Recorded, one.Action.Ref, two.Recorded, two.Action.Ref)
	}
	if string(one.Action.Ref) != one.Action.Declaration.ActionID {
		t.Errorf("it is called %s and %s", one.Action.Ref, one.Action.Declaration.ActionID)
	}
	if found := p.get(t, one.Action.Declaration.ActionID); found.Action.Ref != one.Action.Ref {
		t.Errorf("by its name there is %s", found.Action.Ref)
	}
}

func TestABatchIsRecordedWholeAndInOrder(t *testing.T) {
	t.Parallel()
	p := governed(t)
	all := func(bodies ...string) []*action.Declaration {
		var list []*action.Declaration
		for _, body := range bodies {
			list = append(list, parsed(t, body))
		}
		return list
	}
	before := p.units.Load()
	results, err := p.actions.DeclareAll(t.Context(), p.key(t), all(
		refund("a1"), refund("a2"), refund("a1"), strings.Replace(refund("a1"), "80.00", "81.00", 1), refund("a3"),
	))
	if err != nil {
		t.Fatal(err)
	}
	if n := p.units.Load() - before; n != 1 {
		t.Errorf("a batch took %d units", n)
	}
	var got []string
	for _, r := range results {
		got = append(got, fmt.Sprint(r.Action.Declaration.ActionID, " ", r.Recorded, " ", r.Revision))
	}
	if want := "[a1 new 1 a2 new 1 a1 replayed 1 a1 changed 2 a3 new 1]"; fmt.Sprint(got) != want {
		t.Errorf("recorded are %v, want %s", got, want)
	}
	// 80 and 80 are within 200 a day for one agent, 240 are not. All three start at
	// the same time, so that each counts for each.
	for _, r := range []action.Result{results[0], results[1], results[4]} {
		if r.Verdict.Conformance.Result != verdict.Fail || r.Verdict.Conformance.Codes[0] != verdict.LimitExceeded {
			t.Errorf("%s is %v, want what three of 80 come to", r.Action.Declaration.ActionID, r.Verdict.Conformance)
		}
	}
	if results[0].Allowance.Recorded != 3 {
		t.Errorf("%d are counted, want 3", results[0].Allowance.Recorded)
	}
}

// What two batches add up to does not depend on whether they come at once.
func TestADeclarationThatComesLateRevisesItsNeighbours(t *testing.T) {
	t.Parallel()
	p := governed(t)
	p.declare(t, strings.Replace(refund("a1"), "80.00", "150.00", 1))
	if found := p.get(t, "a1"); found.Verdict.Conformance.Result != verdict.Pass {
		t.Fatalf("alone it is %v", found.Verdict.Conformance)
	}
	p.pass(time.Minute)
	p.declare(t, strings.Replace(refund("a2"), "12:00:00Z", "11:59:00Z", 1)) // 80 before the 150
	p.drain(t)
	if found := p.get(t, "a1"); found.Verdict.Conformance.Result != verdict.Fail {
		t.Errorf("after 80 more before it, it is %v, want over 200", found.Verdict.Conformance)
	}
	if found := p.get(t, "a2"); found.Verdict.Conformance.Result != verdict.Pass {
		t.Errorf("the earlier one is %v, want within the limit", found.Verdict.Conformance)
	}
}

func TestManyAtOnceShareAFewUnits(t *testing.T) {
	t.Parallel()
	p := governed(t)
	key := p.key(t)
	before := p.units.Load()
	const many = 200
	var all sync.WaitGroup
	results := make([]*action.Result, many)
	for i := range many {
		d := parsed(t, strings.Replace(refund(fmt.Sprint("a", i)), `"bot"`, fmt.Sprintf(`"bot-%d"`, i), 1))
		all.Go(func() {
			r, err := p.actions.Declare(t.Context(), key, d)
			if err != nil {
				t.Error(err)
			}
			results[i] = r
		})
	}
	all.Wait()
	seen := map[store.Ref]bool{}
	for i, r := range results {
		if r == nil || r.Recorded != action.New || r.Action.Declaration.ActionID != fmt.Sprint("a", i) || seen[r.Action.Ref] {
			t.Fatalf("declaration %d was answered with %+v", i, r)
		}
		seen[r.Action.Ref] = true
	}
	if n := p.units.Load() - before; n > many/2 {
		t.Errorf("%d declarations at once took %d units", many, n)
	}
	if found := p.declare(t, refund("last")); found.Allowance.Recorded != many+1 {
		t.Errorf("%d are counted, want %d", found.Allowance.Recorded, many+1)
	}
}

// held is a store whose units wait until the test lets them go.
type held struct {
	store.Store
	entered chan struct{}
	leave   chan error
}

func (h held) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	h.entered <- struct{}{}
	if err := <-h.leave; err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return h.Store.Do(ctx, w, fn)
}

func TestARequestThatIsGivenUpTakesNoOtherWithIt(t *testing.T) {
	t.Parallel()
	p := governed(t)
	h := held{Store: p.store, entered: make(chan struct{}), leave: make(chan error)}
	actions := action.NewService(h, action.Options{Random: rand.Reader})
	key := p.key(t)
	leader, giveUp := context.WithCancel(t.Context())
	answers := make(chan error, 2)
	go func() {
		_, err := actions.Declare(leader, key, parsed(t, refund("leads")))
		answers <- err
	}()
	<-h.entered // it leads a unit that does not end yet
	giveUp()
	follower, alsoGiveUp := context.WithCancel(t.Context())
	gone := make(chan error, 1)
	go func() {
		_, err := actions.Declare(follower, key, parsed(t, refund("gone")))
		gone <- err
	}()
	alsoGiveUp()
	if err := <-gone; !errors.Is(err, context.Canceled) {
		t.Errorf("who gave up waiting is told %v", err)
	}
	go func() {
		_, err := actions.Declare(t.Context(), key, parsed(t, refund("stays")))
		answers <- err
	}()
	h.leave <- nil
	<-h.entered
	h.leave <- nil
	for range 2 {
		if err := <-answers; err != nil {
			t.Error(err)
		}
	}
	for id, there := range map[string]bool{"leads": true, "stays": true, "gone": false} {
		if _, err := p.actions.Get(t.Context(), key, id); (err == nil) != there {
			t.Errorf("that %s was recorded is %v", id, err == nil)
		}
	}
}

func TestWhatFailsForAUnitIsToldToAllThatShareIt(t *testing.T) {
	t.Parallel()
	p := governed(t)
	h := held{Store: p.store, entered: make(chan struct{}), leave: make(chan error)}
	actions := action.NewService(h, action.Options{Random: rand.Reader})
	key := p.key(t)
	answers := make(chan error, 3)
	declare := func(id string) {
		_, err := actions.Declare(t.Context(), key, parsed(t, refund(id)))
		answers <- err
	}
	go declare("a1")
	<-h.entered
	go declare("a2")
	go declare("a3")
	down := &store.UnavailableError{Err: errors.New("down")}
	h.leave <- down
	if err := <-answers; !errors.Is(err, down) {
		t.Errorf("the first is told %v", err)
	}
	for waiting := 2; waiting > 0; {
		<-h.entered
		h.leave <- down
		for waiting > 0 {
			select {
			case err := <-answers:
				waiting--
				if !errors.Is(err, down) {
					t.Errorf("who waited is told %v", err)
				}
				continue
			case <-h.entered:
				h.leave <- down
				continue
			}
		}
	}
}

func TestAKeyDeclaresWithinItsLimitsAndLearnsOfNothingBeyond(t *testing.T) {
	t.Parallel()
	p := governed(t)
	p.declare(t, refund("a1"))
	limited := p.key(t, func(o *access.KeyOrder) { o.Limits.Agents = []string{"other-bot"} })
	declare := func(body string) error {
		_, err := p.actions.Declare(t.Context(), limited, parsed(t, body))
		return err
	}
	if err := declare(refund("a2")); !errors.As(err, new(*access.LimitError)) {
		t.Errorf("for another agent: %v", err)
	}
	if err := declare(strings.Replace(refund("a1"), `"bot"`, `"other-bot"`, 1)); !errors.As(err, new(*action.ConflictError)) || access.CodeOf(err) != "conflict" {
		t.Errorf("under an id that is taken: %v", err)
	}
	if err := declare(strings.Replace(refund("a3"), `"bot"`, `"other-bot"`, 1)); err != nil {
		t.Errorf("within its limits: %v", err)
	}
	if _, err := p.actions.Get(t.Context(), limited, "a1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("it sees another agent's action: %v", err)
	}
	listed, _, err := p.actions.List(t.Context(), limited, store.Filter{}, store.Page{Limit: 10})
	if err != nil || len(listed) != 1 || listed[0].Action.Declaration.ActionID != "a3" {
		t.Errorf("it lists %v, %v", listed, err)
	}
	_, err = p.actions.DeclareAll(t.Context(), limited, []*action.Declaration{
		parsed(t, strings.Replace(refund("b1"), `"bot"`, `"other-bot"`, 1)), parsed(t, refund("b2")), parsed(t, strings.Replace(refund("a1"), `"bot"`, `"other-bot"`, 1)),
	})
	refused, is := errors.AsType[*action.RefusedError](err)
	if !is || refused.Code() != access.Forbidden || len(refused.Refusals) != 1 || refused.Refusals[0].Index != 1 {
		t.Errorf("a batch beyond its limits: %v", err)
	}
	_, err = p.actions.DeclareAll(t.Context(), limited, []*action.Declaration{
		parsed(t, strings.Replace(refund("b1"), `"bot"`, `"other-bot"`, 1)), parsed(t, strings.Replace(refund("a1"), `"bot"`, `"other-bot"`, 1)),
	})
	refused, is = errors.AsType[*action.RefusedError](err)
	if !is || refused.Code() != "conflict" || refused.Refusals[0].Index != 1 {
		t.Errorf("a batch with an id that is taken: %v", err)
	}
	if _, err := p.actions.Get(t.Context(), p.key(t), "b1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("of a batch that was refused, something was stored: %v", err)
	}
}

func TestWithoutTheScopeNothingIsDeclaredOrRead(t *testing.T) {
	t.Parallel()
	p := governed(t)
	p.declare(t, refund("a1"))
	reader := p.key(t, func(o *access.KeyOrder) { o.Scopes = access.ScopesOf(access.ActionsRead) })
	_, one := p.actions.Declare(t.Context(), reader, parsed(t, refund("a2")))
	_, many := p.actions.DeclareAll(t.Context(), reader, []*action.Declaration{parsed(t, refund("a2"))})
	writer := p.key(t, func(o *access.KeyOrder) { o.Scopes = access.ScopesOf(access.ActionsRecord) })
	_, get := p.actions.Get(t.Context(), writer, "a1")
	_, _, list := p.actions.List(t.Context(), writer, store.Filter{}, store.Page{Limit: 1})
	_, pending := p.actions.Pending(t.Context(), writer, store.Filter{}, store.Page{Limit: 1})
	_, summary := p.actions.Summary(t.Context(), writer, store.Filter{})
	_, _, orphans := p.actions.Orphans(t.Context(), writer, action.OrphanQuery{ContractID: "refunds"}, store.Page{Limit: 1})
	_, dry := p.actions.DryRun(t.Context(), writer, action.DryOrder{ContractID: "refunds"})
	for i, err := range []error{one, many, get, list, pending, summary, orphans, dry} {
		if !errors.As(err, new(*access.ScopeError)) {
			t.Errorf("%d: %v", i, err)
		}
	}
}

func TestWhoCouldWriteTheEvidenceIsMarked(t *testing.T) {
	t.Parallel()
	p := governed(t)
	full := p.key(t, func(o *access.KeyOrder) { o.Scopes, o.Sources = access.AllScopes(), []string{"stripe"} })
	r, err := p.actions.Declare(t.Context(), full, parsed(t, refund("a1")))
	if err != nil || !r.Action.SelfAttested || !p.get(t, "a1").Action.SelfAttested {
		t.Errorf("declared by a key that writes facts: %+v, %v", r, err)
	}
	if r := p.declare(t, refund("a2")); r.Action.SelfAttested {
		t.Error("declared by one that does not: marked")
	}
}
