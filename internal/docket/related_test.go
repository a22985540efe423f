package docket_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

const reversals = `contract: reversals
params: {amount: {type: money, currency: USD}}
settle: {after: 48h}
sources: {stripe: {trust: independent}}
link: [refs.idempotency_key == action_id]
steps:
  - {id: money_back, expect: charge.succeeded, from: stripe}
`

func compensates(id string) func(*verdict.Declaration) {
	return func(d *verdict.Declaration) { d.Compensates = id }
}

func of(contractID string) func(*verdict.Declaration) {
	return func(d *verdict.Declaration) { d.ContractID = contractID }
}

func TestWhatUndoesAnActionIsInItsCase(t *testing.T) {
	t.Parallel()
	m := live(t, refunds, reversals)
	declare(m, refund("r-1"),
		refund("second", of("reversals"), compensates("r-1"), received(2*time.Hour)),
		refund("first", of("reversals"), compensates("r-1"), received(time.Hour)),
		refund("of another", of("reversals"), compensates("r-2"), received(time.Hour)),
		refund("not declared yet", of("reversals"), compensates("r-1"), received(9*time.Hour)),
	)
	m.Keep(build(t, m, "first", at(3*time.Hour)), verdict.Verdict{ActionID: "first", Status: verdict.Provisional, Outcome: verdict.Lens{Result: verdict.Pass}})
	var got []string
	for _, by := range build(t, m, "r-1", at(3*time.Hour)).Compensators {
		got = append(got, fmt.Sprintln(by.ActionID, by.ContractID, by.DeclaredAt, by.Status, by.Outcome))
	}
	want := []string{
		"first reversals 2026-11-02T13:00:00Z provisional PASS\n",
		"second reversals 2026-11-02T14:00:00Z recorded UNKNOWN\n",
	}
	if strings.Join(got, "") != strings.Join(want, "") {
		t.Errorf("the compensators are\n%s\nwant\n%s", got, want)
	}
}

func TestWhatAnActionUndoesIsInItsCase(t *testing.T) {
	t.Parallel()
	m := live(t, refunds, reversals)
	declare(m, refund("r-1", compensates("r-0")), refund("r-0"),
		refund("earlier", of("reversals"), compensates("r-1"), received(time.Minute)),
		refund("own", of("reversals"), compensates("r-1"), received(time.Hour)),
		refund("later", of("reversals"), compensates("r-1"), received(2*time.Hour)),
		refund("of nothing known", compensates("r-9")),
	)
	target := build(t, m, "own", at(3*time.Hour)).Compensates
	if target == nil || target.ActionID != "r-1" || target.By != "reversals" {
		t.Fatalf("the target is %+v", target)
	}
	wantIDs(t, "what the target undoes", target.Chain, "r-0")
	if len(target.Earlier) != 1 || target.Earlier[0].ActionID != "earlier" {
		t.Errorf("the earlier compensators are %+v", target.Earlier)
	}
	if target := build(t, m, "of nothing known", at(3*time.Hour)).Compensates; target != nil {
		t.Errorf("an action that is not known is the target %+v", target)
	}
}

func TestActionsThatUndoEachOtherEnd(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("a", compensates("b")), refund("b", compensates("c")), refund("c", compensates("a")), refund("self", compensates("self")))
	wantIDs(t, "the chain of a's target", build(t, m, "a", at(time.Hour)).Compensates.Chain, "c", "a", "b")
	wantIDs(t, "the chain of an action that undoes itself", build(t, m, "self", at(time.Hour)).Compensates.Chain, "self")
	if _, _, err := m.Evaluate("a", at(time.Hour)); err != nil {
		t.Error(err)
	}
}

func TestAFactThatBacksAnActionOfAnotherContractIsShared(t *testing.T) {
	t.Parallel()
	other := strings.Replace(strings.Replace(refunds, "contract: refunds", "contract: goodwill", 1), "within: 48h", "within: 4m", 1)
	for _, test := range []struct {
		name  string
		fact  evidence.Fact
		other verdict.Declaration
		want  string
	}{
		{"where it could back both", paid("re_1", on("o-1"), occurred(4*time.Minute)), refund("g-1", of("goodwill")), "g-1 goodwill re_1"},
		{"not where it came after the other's window", paid("re_1", on("o-1")), refund("g-1", of("goodwill")), ""},
		{"not where the other asks for another amount", paid("re_1", on("o-1"), occurred(4*time.Minute)), refund("g-1", of("goodwill"), param("amount", number("81"))), ""},
		{"not where it has this action's key", paid("re_1", on("o-1"), occurred(4*time.Minute), key("idempotency_key", "r-1")), refund("g-1", of("goodwill")), ""},
		{"not with an action of the same contract", paid("re_1", on("o-1"), occurred(4*time.Minute)), refund("r-2"), ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := live(t, refunds, other)
			declare(m, refund("r-1"), test.other)
			report(m, test.fact)
			got := ""
			for _, s := range build(t, m, "r-1", at(time.Hour)).Shared {
				got += strings.Join([]string{s.ActionID, s.ContractID, s.ExternalID}, " ")
			}
			if got != test.want {
				t.Errorf("shared is %q, want %q", got, test.want)
			}
			if test.want == "" {
				return
			}
			if back := build(t, m, "g-1", at(time.Hour)).Shared; len(back) != 1 || back[0].ActionID != "r-1" {
				t.Errorf("seen from the other action, shared is %+v", back)
			}
		})
	}
}

func TestASettledVerdictComesAlongAndStands(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("r-1"))
	state := func(to value.Instant) {
		m.Connect(evidence.Source{Name: "stripe", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"refund.succeeded": to, "refund.failed": to}})
	}
	evaluate := func(when time.Duration) (*verdict.Case, verdict.Verdict) {
		c, v, err := m.Evaluate("r-1", at(when))
		if err != nil {
			t.Fatal(err)
		}
		return c, v
	}
	state(at(3 * day))
	if c, v := evaluate(day); c.Previous != nil || v.Status != verdict.Provisional {
		t.Fatalf("the first verdict is %s after %+v", v.Status, c.Previous)
	}
	c, settled := evaluate(4 * day)
	if c.Previous != nil || settled.Status != verdict.Settled {
		t.Fatalf("after a provisional verdict the next is %s after %+v", settled.Status, c.Previous)
	}
	state(at(day)) // read again, and stated lower
	c, confirmed := evaluate(5 * day)
	if c.Previous == nil || c.Previous.Digest != settled.Digest() || confirmed.Revision != 1 {
		t.Fatalf("the settled verdict is not the previous one: %+v", c.Previous)
	}
	if stored, _ := m.Latest("r-1"); stored.Verdict.Digest() != settled.Digest() {
		t.Error("a verdict that only confirms the settled one took its place")
	}
	report(m, paid("re_1", on("o-1"), occurred(time.Hour), func(f *evidence.Fact) { f.IngestedAt = at(6 * day) }))
	_, revised := evaluate(6 * day)
	if revised.Status != verdict.Revised || revised.Supersedes != settled.Digest() {
		t.Fatalf("late evidence gives %s of %s", revised.Status, revised.Supersedes)
	}
	// What was covered for the settled verdict is so for all that come after.
	next, _ := evaluate(7 * day)
	if got := next.Previous.Sources[0].Watermarks["refund.succeeded"]; next.Previous.Revision != 2 || got != at(3*day) {
		t.Errorf("revision %d was covered to %s, want 2 and %s", next.Previous.Revision, got, at(3*day))
	}
}

func TestEffectsThatNoActionClaimsAreOrphans(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("r-1"))
	by := func(actor string) func(*evidence.Fact) {
		return func(f *evidence.Fact) {
			f.Attrs = map[string]value.Value{"amount": amount("80.00 USD"), "actor": value.OfString(actor)}
		}
	}
	report(m,
		paid("claimed", on("o-1"), key("idempotency_key", "r-1"), by("bot")),
		paid("claimed, of another amount", key("idempotency_key", "r-1"), func(f *evidence.Fact) {
			f.Attrs = map[string]value.Value{"amount": amount("9.00 USD"), "actor": value.OfString("bot")}
		}),
		paid("later", on("o-9"), by("bot"), occurred(time.Hour)),
		paid("of another action on the order", on("o-1"), key("idempotency_key", "r-9"), by("bot")),
		paid("by a person", on("o-9"), by("ann")),
		paid("by nobody knows whom", on("o-9")),
		paid("taken back", on("o-9"), by("bot"), func(f *evidence.Fact) { f.Retracted = true }),
		paid("not arrived yet", on("o-9"), by("bot"), func(f *evidence.Fact) { f.IngestedAt = at(9 * day) }),
		paid("a reversal", on("o-9"), by("bot"), func(f *evidence.Fact) { f.Type = "refund.failed" }),
	)
	_, v, err := m.Evaluate("r-1", at(day))
	if err != nil {
		t.Fatal(err)
	}
	orphans, err := docket.Orphans(m, parse(t, refunds), at(day), []verdict.Verdict{v})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range orphans {
		got = append(got, f.ExternalID)
	}
	wantIDs(t, "orphans", got, "by nobody knows whom", "of another action on the order", "later")
}
