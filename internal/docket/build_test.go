package docket_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

func TestACaseHoldsWhatCouldBelongToTheActionAndNothingElse(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("r-1", param("desk", number("7.0"))))
	typed := func(factType string) func(*evidence.Fact) { return func(f *evidence.Fact) { f.Type = factType } }
	from := func(source string) func(*evidence.Fact) { return func(f *evidence.Fact) { f.Source = source } }
	report(m,
		paid("by key", key("idempotency_key", "r-1")),
		paid("by parameter", key("desk", "7")),
		paid("on the order", on("o-1")),
		paid("of another action, on the order", on("o-1"), key("idempotency_key", "r-9")),
		paid("reversal", typed("refund.failed"), key("idempotency_key", "r-1")),
		paid("approval", typed("approval.granted"), from("approvals"), on("o-1"), occurred(-6*day)),
		paid("same effect", key("refund", "re_1")),
		paid("by key, with the effect's reference", key("idempotency_key", "r-1"), key("refund", "re_1")),

		paid("by another key", key("idempotency_key", "r-2")),
		paid("on another order", on("o-2")),
		paid("of another type", typed("refund.pending"), on("o-1")),
		paid("of another source", from("bank"), on("o-1")),
		paid("on the order long ago", on("o-1"), occurred(-30*day)),
	)
	wantIDs(t, "facts", factIDs(build(t, m, "r-1", at(time.Hour))),
		"approval", "by key", "by key, with the effect's reference", "by parameter", "of another action, on the order",
		"on the order", "reversal", "same effect")
}

func TestEveryRevisionOfAFactComesAlong(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("r-1"))
	revised := func(n int64, changes ...func(*evidence.Fact)) evidence.Fact {
		return paid("re_1", append(changes, func(f *evidence.Fact) { f.Revision = n })...)
	}
	// Later it turns out to be somebody else's, and of a type nobody asked for.
	report(m,
		revised(1, key("idempotency_key", "r-1")),
		revised(2, key("idempotency_key", "r-2"), func(f *evidence.Fact) { f.Type = "refund.pending" }),
		revised(3, func(f *evidence.Fact) { f.IngestedAt = at(2 * time.Hour) }),
	)
	for _, test := range []struct {
		at   time.Duration
		want int
	}{{time.Minute, 0}, {time.Hour, 2}, {2 * time.Hour, 3}} {
		if got := len(build(t, m, "r-1", at(test.at)).Facts); got != test.want {
			t.Errorf("after %s the case has %d revisions, want %d", test.at, got, test.want)
		}
	}
}

func TestAReplayedDeclarationIsNoRevision(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m,
		refund("r-1", received(0)),
		refund("r-1", received(time.Minute), param("mcp_request_id", value.OfString("8")), func(d *verdict.Declaration) { d.RequestedAt, d.Channel = at(30*time.Second), "mcp" }),
		refund("r-1", received(2*time.Minute), param("amount", number("80"))),
		refund("r-1", received(3*time.Minute), param("amount", number("90"))),
		refund("r-1", received(4*time.Minute)),
		refund("r-1", received(9*time.Minute), func(d *verdict.Declaration) { d.ProvedAt = at(time.Second) }),
	)
	var got []value.Instant
	for _, d := range build(t, m, "r-1", at(time.Hour)).Declarations {
		got = append(got, d.ReceivedAt)
	}
	if want := []value.Instant{at(0), at(3 * time.Minute), at(9 * time.Minute)}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("the declarations of %v are kept, want %v", got, want)
	}
}

func TestAnActionThatNobodyDeclaredYetHasNoCase(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("r-1", received(time.Hour)))
	for _, id := range []string{"r-1", "r-2"} {
		var unknown *docket.UnknownActionError
		if _, err := docket.Build(m, id, at(59*time.Minute)); !errors.As(err, &unknown) || unknown.ActionID != id {
			t.Errorf("building %s failed with %v", id, err)
		}
	}
	build(t, m, "r-1", at(time.Hour))
}

func TestTheVersionActiveAtReceiptGoverns(t *testing.T) {
	t.Parallel()
	m := docket.NewMemory()
	k := parse(t, refunds)
	for _, v := range []docket.Version{
		version(k, 1, verdict.Live, at(-time.Hour), at(time.Hour)),
		version(k, 2, verdict.Shadow, at(time.Hour), at(2*time.Hour)),
	} {
		if err := m.Activate(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := m.Activate(version(k, 3, verdict.Live, at(119*time.Minute), 0)); err == nil {
		t.Error("two versions are active at the same time")
	}
	for _, test := range []struct {
		received time.Duration
		want     int
	}{{-time.Hour - 1000, 0}, {-time.Hour, 1}, {time.Hour - 1000, 1}, {time.Hour, 2}, {2 * time.Hour, 0}} {
		id := fmt.Sprint("r", test.received)
		declare(m, refund(id, received(test.received), func(d *verdict.Declaration) { d.ContractVersion, d.RequestedAt = 1, at(-time.Minute) }))
		got := 0
		if g := build(t, m, id, at(day)).Governing; g != nil {
			got = g.Version
		}
		if got != test.want {
			t.Errorf("received at %s, version %d governs, want %d", test.received, got, test.want)
		}
	}
}

func TestOnlyTheWatermarksOfTypesThatTheContractLooksForAreInTheCase(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("r-1"))
	state := func(refund, other value.Instant) string {
		m.Connect(evidence.Source{Name: "stripe", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"refund.succeeded": refund, "charge.succeeded": other}})
		m.Connect(evidence.Source{Name: "unheard of", Watermarks: map[string]value.Instant{"refund.succeeded": other}})
		return build(t, m, "r-1", at(day)).Digest()
	}
	before := state(at(1), at(1))
	if state(at(1), at(time.Hour)) != before {
		t.Error("a type that the contract does not look for shows in the case")
	}
	if state(at(time.Hour), at(1)) == before {
		t.Error("a watermark that the verdict depends on does not show in the case")
	}
}

// situation is a handful of actions and facts that hang together in many ways.
func situation(t *rapid.T) (declarations []verdict.Declaration, facts []evidence.Fact) {
	ids := []string{"r-1", "r-2", "r-3", "r-4"}
	minute := func(name string) time.Duration {
		return time.Duration(rapid.IntRange(-3, 3).Draw(t, name)) * time.Minute
	}
	for range rapid.IntRange(1, 8).Draw(t, "declarations") {
		d := refund(rapid.SampledFrom(ids).Draw(t, "id"), received(minute("received")), order(rapid.SampledFrom([]string{"o-1", "o-2"}).Draw(t, "order")))
		if rapid.Bool().Draw(t, "other amount") {
			param("amount", number("1.5"))(&d)
		}
		if rapid.Bool().Draw(t, "desk") {
			param("desk", number("7"))(&d)
		}
		d.Compensates = rapid.SampledFrom([]string{"", "", "r-1", "r-2"}).Draw(t, "compensates")
		declarations = append(declarations, d)
	}
	for range rapid.IntRange(0, 8).Draw(t, "facts") {
		f := paid(rapid.SampledFrom([]string{"re_1", "re_2", "re_3"}).Draw(t, "fact"), occurred(minute("occurred")))
		f.Revision = rapid.Int64Range(0, 2).Draw(t, "revision")
		f.Retracted = rapid.IntRange(0, 5).Draw(t, "retracted") == 0
		f.Attrs = map[string]value.Value{"amount": amount(rapid.SampledFrom([]string{"80 USD", "80.00 USD", "1.5 USD"}).Draw(t, "amount"))}
		if rapid.Bool().Draw(t, "key") {
			key("idempotency_key", rapid.SampledFrom(ids).Draw(t, "key of"))(&f)
		}
		if rapid.Bool().Draw(t, "desk") {
			key("desk", "7")(&f)
		}
		if rapid.Bool().Draw(t, "subject") {
			on(rapid.SampledFrom([]string{"o-1", "o-2"}).Draw(t, "on"))(&f)
		}
		facts = append(facts, f)
	}
	return declarations, facts
}

func TestTheOrderOfArrivalShowsInNoCase(t *testing.T) {
	t.Parallel()
	k := parse(t, refunds)
	filled := func(t *rapid.T, declarations []verdict.Declaration, facts []evidence.Fact, activateLast bool) *docket.Memory {
		m := docket.NewMemory()
		activate := func() {
			if err := m.Activate(version(k, 1, verdict.Live, 0, 0)); err != nil {
				t.Fatal(err)
			}
		}
		if !activateLast {
			activate()
		}
		declare(m, declarations...)
		report(m, facts...)
		if activateLast {
			activate()
		}
		m.Connect(evidence.Source{Name: "stripe", Trust: evidence.Independent})
		return m
	}
	rapid.Check(t, func(t *rapid.T) {
		declarations, facts := situation(t)
		one := filled(t, declarations, facts, false)
		// Everything in another order, and some of it twice.
		again := append(rapid.Permutation(facts).Draw(t, "shuffled facts"), facts[:len(facts)/2]...)
		other := filled(t, append(rapid.Permutation(declarations).Draw(t, "shuffled declarations"), declarations[0]), again, rapid.Bool().Draw(t, "activate last"))
		for _, id := range one.ActionIDs() {
			for _, when := range []time.Duration{time.Minute, day} {
				a, errA := docket.Build(one, id, at(when))
				b, errB := docket.Build(other, id, at(when))
				if (errA == nil) != (errB == nil) {
					t.Fatalf("%s: %v and %v", id, errA, errB)
				}
				if errA == nil && a.Digest() != b.Digest() {
					t.Fatalf("%s after %s: in one order\n%s\nin another\n%s", id, when, a.AppendJSON(nil), b.AppendJSON(nil))
				}
			}
		}
	})
}
