package docket_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
)

func TestWhoCouldClaimTheSameFactsIsARival(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m,
		refund("r-1"),
		// Shares a fact on the order, and itself one of a desk with another.
		refund("r-2", param("desk", number("7"))),
		refund("r-3", param("desk", number("7")), order("o-3")),
		// Shares nothing that is there.
		refund("r-4", param("desk", number("8")), order("o-4")),
	)
	report(m, paid("on the order", on("o-1")), paid("of the desk", key("desk", "7")), paid("of r-4", key("idempotency_key", "r-4")))
	c := build(t, m, "r-1", at(time.Hour))
	wantIDs(t, "the rivals of r-1", rivalIDs(c), "r-2", "r-3")
	wantIDs(t, "the facts", factIDs(c), "of the desk", "on the order")
	wantIDs(t, "the rivals of r-4", rivalIDs(build(t, m, "r-4", at(time.Hour))))
}

func TestWhoCannotClaimAFactIsNoRival(t *testing.T) {
	t.Parallel()
	change := func(change func(*verdict.Declaration)) verdict.Declaration { return refund("r-2", change) }
	loose, keyed := paid("re_1", on("o-1")), paid("re_1", on("o-1"), key("idempotency_key", "r-1"))
	for _, test := range []struct {
		name  string
		other verdict.Declaration
		fact  evidence.Fact
		want  int
	}{
		{"one who could is", refund("r-2"), loose, 1},
		{"nobody is where the fact has the action's key", refund("r-2"), keyed, 0},
		{"one that starts when the fact occurred is", refund("r-2", received(5*time.Minute)), loose, 1},
		{"one that starts in the second of the fact is", refund("r-2", received(5*time.Minute+900*time.Millisecond)), loose, 1},
		{"one that starts in the next second is not", refund("r-2", received(5*time.Minute+time.Second)), loose, 0},
		{"one that settles when the fact occurred is", refund("r-2", received(5*time.Minute-3*day)), loose, 1},
		{"one that settled a second before is not", refund("r-2", received(5*time.Minute-3*day-time.Second)), loose, 0},
		{"one of another agent is not, where the fact names its actor", change(func(d *verdict.Declaration) { d.AgentID = "other" }), paid("re_1", on("o-1"), func(f *evidence.Fact) {
			f.Attrs = map[string]value.Value{"actor": value.OfString("bot")}
		}), 0},
		{"one on another kind of subject is not", change(func(d *verdict.Declaration) { d.SubjectKind = "charge" }), loose, 0},
		{"one that the contract is not for is not", change(func(d *verdict.Declaration) { d.ActionType = "something_else" }), loose, 0},
		{"one of another contract is not", change(func(d *verdict.Declaration) { d.ContractID = "reversals" }), loose, 0},
		{"nobody is for a fact that was taken back", refund("r-2"), paid("re_1", on("o-1"), func(f *evidence.Fact) { f.Retracted = true }), 0},
		{"nobody is for a reversal, which backs nobody", refund("r-2"), paid("re_1", on("o-1"), func(f *evidence.Fact) { f.Type = "refund.failed" }), 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			m := live(t, refunds)
			declare(m, refund("r-1"), test.other)
			report(m, test.fact)
			if got := len(build(t, m, "r-1", at(day)).Rivals); got != test.want {
				t.Errorf("there are %d rivals, want %d", got, test.want)
			}
		})
	}
}

func TestARivalByKeyMayStartAsMuchLaterAsClocksDiffer(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	desk := param("desk", number("7"))
	declare(m, refund("r-1", desk),
		refund("two minutes after the fact", desk, order("o-2"), received(7*time.Minute)),
		refund("a second more", desk, order("o-2"), received(7*time.Minute+time.Second)),
	)
	report(m, paid("re_1", key("desk", "7")))
	wantIDs(t, "rivals", rivalIDs(build(t, m, "r-1", at(time.Hour))), "two minutes after the fact")
}

func TestARivalIsNotKnownBeforeItIsDeclared(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	declare(m, refund("r-1"), refund("r-2", received(time.Hour), func(d *verdict.Declaration) { d.RequestedAt = at(0) }))
	report(m, paid("re_1", on("o-1")))
	wantIDs(t, "rivals before", rivalIDs(build(t, m, "r-1", at(59*time.Minute))))
	wantIDs(t, "rivals after", rivalIDs(build(t, m, "r-1", at(time.Hour))), "r-2")
}

func TestAShadowActionTakesNothingFromALiveOne(t *testing.T) {
	t.Parallel()
	m := docket.NewMemory()
	k := parse(t, refunds)
	for _, v := range []docket.Version{version(k, 1, verdict.Live, 0, at(time.Minute)), version(k, 2, verdict.Shadow, at(time.Minute), 0)} {
		if err := m.Activate(v); err != nil {
			t.Fatal(err)
		}
	}
	declare(m, refund("live"), refund("shadow", received(time.Minute)), refund("other shadow", received(2*time.Minute)))
	report(m, paid("re_1", on("o-1")))
	wantIDs(t, "the rivals of a live action", rivalIDs(build(t, m, "live", at(time.Hour))))
	wantIDs(t, "the rivals of a shadow action", rivalIDs(build(t, m, "shadow", at(time.Hour))), "live", "other shadow")
}

func TestTheSearchStopsWhenThereAreMoreRivalsThanCanBeToldApart(t *testing.T) {
	t.Parallel()
	m := live(t, refunds)
	for i := range 200 {
		declare(m, refund(fmt.Sprintf("r-%03d", i)))
	}
	report(m, paid("re_1", on("o-1")))
	if got := len(build(t, m, "r-150", at(time.Hour)).Rivals); got != 65 {
		t.Errorf("%d rivals are in the case, want 65", got)
	}
}
