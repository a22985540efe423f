package docket_test

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

// far are records that answer lists of questions, and count them.
type far struct {
	ask    func([]*docket.Question) error
	rounds int
	asked  int
}

func distant(records docket.Records) *far { return &far{ask: docket.Asking(records)} }

func (f *far) answer(questions []*docket.Question) error {
	f.rounds++
	f.asked += len(questions)
	return f.ask(questions)
}

func ids(actions []verdict.Declaration) []string {
	var all []string
	for i := range actions {
		all = append(all, actions[i].ActionID)
	}
	return all
}

// Asking for many at once is a way to ask, and makes no other case.
func TestManyCasesAtOnceAreTheCasesOneByOne(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		m := w.records(t)
		at := w.over()
		for _, d := range w.actions {
			if chance(t, "has a verdict", 3) == 1 {
				if _, _, err := m.Evaluate(d.ActionID, w.start().Add(84*time.Hour)); err != nil && !errors.As(err, new(*docket.UnknownActionError)) {
					t.Fatal(err)
				}
			}
		}
		records := distant(m)
		built, err := docket.BuildAll(records.answer, at, ids(w.actions))
		if err != nil {
			t.Fatal(err)
		}
		sameCases(t, m, w, built)
		if records.rounds > 12 {
			t.Fatalf("%d actions took %d rounds of questions%s", len(w.actions), records.rounds, w)
		}
	})
}

func sameCases(t *rapid.T, m *docket.Memory, w *world, built []docket.Built) {
	t.Helper()
	for i, d := range w.actions {
		want, err := docket.Build(m, d.ActionID, w.over())
		if err != nil || built[i].Err != nil {
			t.Fatalf("%v one by one, %v at once%s", err, built[i].Err, w)
		}
		if want.Digest() != built[i].Case.Digest() {
			t.Fatalf("at once, the case of %s is another (-one by one +at once):\n%s%s", d.ActionID,
				cmp.Diff(string(want.AppendJSON(nil)), string(built[i].Case.AppendJSON(nil))), w)
		}
	}
}

// What is about to be kept is seen as if it were.
func TestPendingDeclarationsAreSeenAsIfTheyWereKept(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		kept, pending := *w, docket.NewPending()
		kept.actions = nil
		for _, d := range w.actions {
			if chance(t, "kept already", 2) == 1 {
				kept.actions = append(kept.actions, d)
			} else if err := pending.Declare(d, &w.version.Governing); err != nil {
				t.Fatal(err)
			}
		}
		inquiry := docket.NewInquiry(distant(kept.records(t)).answer)
		inquiry.Beside(pending)
		built, err := inquiry.BuildAll(w.over(), ids(w.actions))
		if err != nil {
			t.Fatal(err)
		}
		sameCases(t, w.records(t), w, built)
	})
}

func TestAFurtherDeclarationThatIsPendingIsSeen(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("a1"))
	pending := docket.NewPending()
	pending.Revise(refund("a1", param("amount", number("90.00")), received(time.Minute)))
	inquiry := docket.NewInquiry(docket.Asking(m))
	inquiry.Beside(pending)
	built, err := inquiry.BuildAll(at(time.Hour), []string{"a1"})
	if err != nil || built[0].Err != nil {
		t.Fatal(err, built[0].Err)
	}
	if n := len(built[0].Case.Declarations); n != 2 {
		t.Errorf("the case holds %d declarations, want the kept one and the pending one", n)
	}
}

// A round of questions is a round trip to a database.
func TestANewActionWithoutFactsTakesThreeRounds(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("a1"), refund("a2", order("o-2")))
	records := distant(m)
	built, err := docket.BuildAll(records.answer, at(time.Minute), []string{"a1", "a2"})
	if err != nil || built[0].Err != nil || built[1].Err != nil {
		t.Fatal(err, built)
	}
	if records.rounds > 3 {
		t.Errorf("two new actions took %d rounds of questions, want 3", records.rounds)
	}
	// One whose governing version is asked for beforehand takes two.
	records = distant(m)
	inquiry := docket.NewInquiry(records.answer)
	inquiry.Want(docket.Question{Active: &docket.ActiveKey{ContractID: "refunds", At: noon}})
	if _, err := inquiry.BuildAll(at(time.Minute), []string{"a1"}); err != nil {
		t.Fatal(err)
	}
	if records.rounds > 2 {
		t.Errorf("with the version known, it took %d rounds, want 2", records.rounds)
	}
}

func TestAnActionThatNobodyDeclaredIsToldApart(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("a1"))
	built, err := docket.BuildAll(docket.Asking(m), at(time.Minute), []string{"nobody", "a1"})
	if err != nil {
		t.Fatal(err)
	}
	if unknown := (*docket.UnknownActionError)(nil); !errors.As(built[0].Err, &unknown) || unknown.ActionID != "nobody" {
		t.Errorf("the error is %v, want that nobody declared it", built[0].Err)
	}
	if built[1].Err != nil || built[1].Case.Declarations[0].ActionID != "a1" {
		t.Errorf("beside it a1 became %v", built[1])
	}
}

func TestQuestionsThatAreNotAnsweredMakeNoCases(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	m := live(t, refunds)
	declare(m, refund("a1"))
	for rounds := range 3 {
		left := rounds
		built, err := docket.BuildAll(func(questions []*docket.Question) error {
			if left == 0 {
				return down
			}
			left--
			return docket.Asking(m)(questions)
		}, at(time.Minute), []string{"a1"})
		if !errors.Is(err, down) || built != nil {
			t.Errorf("after %d rounds the answer is %v, %v, want the error", rounds, built, err)
		}
	}
}

// A clock that goes back forgets nothing that was known: declarations, facts and
// what was settled already.
func TestACaseIsMadeOfNoEarlierTimeThanWhatIsKnown(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*docket.Memory)
		want   time.Duration
	}{
		"a declaration": {func(m *docket.Memory) {}, 0},
		"a revision":    {func(m *docket.Memory) { declare(m, refund("a1", param("amount", number("1")), received(time.Minute))) }, time.Minute},
		"a fact":        {func(m *docket.Memory) { report(m, paid("re_1", on("o-1"))) }, 6 * time.Minute},
		"a verdict": {func(m *docket.Memory) {
			if _, _, err := m.Evaluate("a1", at(90*time.Hour)); err != nil {
				panic(err)
			}
		}, 90 * time.Hour},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := live(t, refunds)
			declare(m, refund("a1"))
			test.change(m)
			built, err := docket.BuildAll(docket.Asking(m), at(-time.Hour), []string{"a1"})
			if err != nil || built[0].Err != nil {
				t.Fatal(err, built[0].Err)
			}
			if got := built[0].Case.At; got != at(test.want) {
				t.Errorf("the case is of %s, want %s", got, at(test.want))
			}
		})
	}
}

func claimants(t *testing.T, m *docket.Memory, f evidence.Fact) []string {
	t.Helper()
	records := distant(m)
	var found []string
	err := docket.NewInquiry(records.answer).Until(func(r docket.Records) (err error) {
		claim, beside, err := docket.Claimants(r, f.Identity())
		found = slices.Sorted(slices.Values(slices.Concat(claim, beside)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestAFactWakesWhomItLinksToByAnyOfItsRevisions(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("a1"), refund("a2", order("o-2")), refund("a3", order("o-3"), param("desk", number("7.0"))), refund("a4", order("o-4")))
	f := paid("re_1", on("o-1"))
	report(m, f)
	wantIDs(t, "claimants by subject", claimants(t, m, f), "a1")
	report(m, paid("re_1", key("idempotency_key", "a2"), func(f *evidence.Fact) { f.Revision = 1 }))
	wantIDs(t, "claimants by subject, and by the key of a revision", claimants(t, m, f), "a1", "a2")
	report(m, paid("re_1", key("desk", "7"), func(f *evidence.Fact) { f.Revision = 2 }))
	wantIDs(t, "claimants also by a parameter", claimants(t, m, f), "a1", "a2", "a3")
	other := paid("re_2", on("o-4"), key("refund", "r"))
	report(m, other, paid("re_3", key("refund", "r")))
	wantIDs(t, "claimants of another telling", claimants(t, m, paid("re_3")), "a4")
	ignored := paid("re_4", on("o-1"), func(f *evidence.Fact) { f.Type = "refund.created" })
	report(m, ignored)
	wantIDs(t, "claimants of a type that nobody looks for", claimants(t, m, ignored))
}

func TestAFactThatCarriesAnIdIsBesideWhoeverElseIsOnItsSubject(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("a1"), refund("a2"), refund("a3"))
	f := paid("re_1", on("o-1"), key("idempotency_key", "a2"))
	report(m, f)
	claim, beside, err := docket.Claimants(m, f.Identity())
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "who may claim it", claim, "a2")
	wantIDs(t, "who is beside it", beside, "a1", "a3")
	report(m, paid("re_1", on("o-1"), func(f *evidence.Fact) { f.Revision = 1 }))
	if claim, beside, err = docket.Claimants(m, f.Identity()); err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "who may claim it when a revision has no key", claim, "a1", "a2", "a3")
	wantIDs(t, "who is beside it then", beside)
}

// A fact, and a declaration, change no verdict but of those that are found from it.
func TestWhoeverSomethingNewMattersToIsFoundFromIt(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		at := w.drawTime(t)
		without := *w
		var woken []string
		m := w.records(t)
		rivalsToo := func(ids ...string) {
			for _, id := range ids {
				c, err := docket.Build(m, id, at)
				if errors.As(err, new(*docket.UnknownActionError)) {
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				rivals, err := docket.Rivals(m, c)
				if err != nil {
					t.Fatal(err)
				}
				woken = append(append(woken, id), rivals...)
			}
		}
		if len(w.facts) > 0 && some(t, "what is new", 3) > 0 {
			i := some(t, "new fact", len(w.facts))
			without.facts = slices.Delete(slices.Clone(w.facts), i, i+1)
			claim, beside, err := docket.Claimants(m, w.facts[i].Identity())
			if err != nil {
				t.Fatal(err)
			}
			rivalsToo(claim...)
			woken = append(woken, beside...)
		} else {
			i := some(t, "new action", len(w.actions))
			without.actions = slices.Delete(slices.Clone(w.actions), i, i+1)
			rivalsToo(w.actions[i].ActionID)
			entries := docket.Entries([]*contract.Contract{w.version.Contract}, &w.actions[i])
			for j := range entries {
				later, err := m.Later(entries[j].Reaching(100))
				if err != nil {
					t.Fatal(err)
				}
				for _, l := range later {
					woken = append(woken, l.ActionID)
				}
			}
		}
		before := without.records(t)
		for _, d := range without.actions {
			if d.ReceivedAt > at || slices.Contains(woken, d.ActionID) {
				continue
			}
			_, was, err := before.Evaluate(d.ActionID, at)
			if err != nil {
				t.Fatal(err)
			}
			_, is, err := m.Evaluate(d.ActionID, at)
			if err != nil {
				t.Fatal(err)
			}
			if difference := unlike(was, is); difference != "" {
				t.Fatalf("at %s the verdict of %s changes, and only %v are found:\n%s%s", at, d.ActionID, woken, difference, w)
			}
		}
	})
}

func TestALimitIsNamedByWhatItAddsUp(t *testing.T) {
	t.Parallel()
	limited := func(limit, amount string) (*contract.Contract, *contract.Limit) {
		k := parse(t, `contract: refunds
params:
  amount: {type: money, `+amount+`}
  desk: {type: integer}
settle: {after: 72h}
sources: {stripe: {trust: independent}}
link: [refs.key == action_id]
steps: [{id: moved, expect: refund.succeeded, from: stripe}]
limits: [`+limit+`]
`)
		return k, &k.Limits[0]
	}
	key := func(limit, amount string) string { return docket.LimitKey(limited(limit, amount)) }
	daily := `{id: daily, total: params.amount, max: "10 USD", over: 24h, per: agent_id}`
	base := key(daily, "currency: USD")
	for name, test := range map[string]struct {
		limit, amount string
		same          bool
	}{
		"the same again":      {daily, "currency: USD", true},
		"another id":          {`{id: other, total: params.amount, max: "10 USD", over: 24h, per: agent_id}`, "currency: USD", true},
		"another maximum":     {`{id: daily, total: params.amount, max: "20 USD", over: 24h, per: agent_id}`, "currency: USD", true},
		"another span":        {`{id: daily, total: params.amount, max: "10 USD", over: 48h, per: agent_id}`, "currency: USD", true},
		"another group":       {`{id: daily, total: params.amount, max: "10 USD", over: 24h, per: subject_id}`, "currency: USD", false},
		"a count":             {`{id: daily, count: true, max: 10, over: 24h, per: agent_id}`, "currency: USD", false},
		"another sum":         {`{id: daily, total: params.amount + params.amount, max: "10 USD", over: 24h, per: agent_id}`, "currency: USD", false},
		"another currency":    {daily, "currency: EUR", false},
		"in cents":            {daily, "currency: USD, unit: minor", false},
		"another parameter's": {daily, "currency: USD, required: true", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := key(test.limit, test.amount) == base; got != test.same {
				t.Errorf("that it has the same key is %v, want %v", got, test.same)
			}
		})
	}
}

func TestWhatAnActionAddsToLimitsIsKnownWithoutItsDeclaration(t *testing.T) {
	t.Parallel()
	k := parse(t, refunds)
	d := refund("a1", param("desk", number("7.0")))
	entries := docket.Entries([]*contract.Contract{k, k}, &d)
	if len(entries) != 2 {
		t.Fatalf("%d entries, want one of each limit", len(entries))
	}
	for _, e := range entries {
		if e.Start != noon || e.Over != day {
			t.Errorf("the entry is %+v, want one that starts at noon and counts for a day", e)
		}
	}
	if entries[0].Amount.String() != "80.00 USD" || entries[0].Group != `"bot"` {
		t.Errorf("the total gets %s in %s, want 80.00 USD of the bot", entries[0].Amount, entries[0].Group)
	}
	if entries[1].Amount.Currency != "" || entries[1].Group != "7" {
		t.Errorf("the count gets %s in %s, want no amount at desk 7", entries[1].Amount, entries[1].Group)
	}
	if got := docket.LinkParams([]*contract.Contract{k}, &d); got["desk"] != "7" || len(got) != 1 {
		t.Errorf("links are by %v, want desk 7", got)
	}
}

// A declaration changes the totals of those that start within the span after it.
func TestWhoseTotalsADeclarationChangesIsFound(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("a1"), refund("a2", received(time.Hour)), refund("a3", received(day)), refund("a4", received(day-time.Microsecond)),
		refund("a5", received(time.Hour), func(d *verdict.Declaration) { d.AgentID = "other" }))
	k := parse(t, refunds)
	d := refund("a1")
	entries := docket.Entries([]*contract.Contract{k}, &d)
	later, err := m.Later(entries[0].Reaching(10))
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, l := range later {
		found = append(found, l.ActionID)
	}
	wantIDs(t, "those after a1 in the agent's day", found, "a1", "a2", "a4")
	if first, _ := m.Later(entries[0].Reaching(1)); len(first) != 1 || first[0].ActionID != "a1" {
		t.Errorf("at most one is %v, want the first", first)
	}
}

func TestWhoseCaseHoldsACompensationIsFound(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	undo := func(what string) func(*verdict.Declaration) {
		return func(d *verdict.Declaration) { d.Compensates = what }
	}
	b := refund("b", undo("a"))
	declare(m, refund("a"), b, refund("other", undo("a")), refund("c", undo("b")), refund("d", undo("c")), refund("e"))
	found, err := docket.Undoing(m, &b)
	if err != nil {
		t.Fatal(err)
	}
	wantIDs(t, "those that hold whether b undoes a", found, "a", "c", "d", "other")
}

// Until coverage is reached that an evaluation asked for and did not find, no
// coverage changes anything.
func TestNothingButWhatIsAwaitedChangesAVerdict(t *testing.T) {
	t.Parallel()
	law(t, func(t *rapid.T) {
		w := draw(t)
		at := w.drawTime(t)
		c, _ := w.judge(t, at)
		v, lacking, err := engine.Await(c)
		if err != nil {
			t.Fatal(err)
		}
		more := *w
		more.sources = slices.Clone(w.sources)
		for i := range more.sources {
			s := &more.sources[i]
			marks := map[string]value.Instant{}
			for _, factType := range factTypes {
				short := w.over()
				for _, wait := range lacking {
					if wait.Source == s.Name && wait.Type == factType {
						short = min(short, wait.Until-1)
					}
				}
				marks[factType] = max(short, s.Watermarks[factType])
			}
			s.Watermarks = marks
		}
		_, then := more.judge(t, at)
		forget := func(v *verdict.Verdict) {
			for i := range v.Waits {
				v.Waits[i].Watermark = 0
			}
			for i := range v.Checks {
				for j := range v.Checks[i].Waits {
					v.Checks[i].Waits[j].Watermark = 0
				}
			}
		}
		forget(&v)
		forget(&then)
		if difference := unlike(v, then); difference != "" {
			t.Fatalf("at %s it waits for %v, and less coverage changes it:\n%s%s", at, lacking, difference, w)
		}
	})
}
