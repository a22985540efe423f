package weakening_test

import (
	"slices"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/weakening"
)

const small = `contract: small
params: {amount: {type: money, currency: USD}}
settle: {after: 72h}
sources: {a: {trust: attested}}
link: [refs.k == action_id, subject]
steps:
  - {id: paid, expect: pay.done, within: 48h}
limits:
  - {id: cap, check: params.amount <= money("250.00 USD")}
`

// paidLate is a case in which it was paid some hours after the start.
func paidLate(amount string, hours int) *verdict.Case {
	return &verdict.Case{
		Engine: verdict.Engine, At: dawn.Add(100 * time.Hour),
		Declarations: []verdict.Declaration{{ActionID: "r-" + amount, ContractID: "small", SubjectID: "s", SubjectKind: "order", ReceivedAt: dawn, Params: map[string]value.Value{"amount": usd(amount)}}},
		Facts: []evidence.Fact{{
			Source: "a", ExternalID: "f", Type: "pay.done", OccurredAt: dawn.Add(time.Duration(hours) * time.Hour),
			Refs: map[string]string{"k": "r-" + amount},
		}},
		Sources: []evidence.Source{{Name: "a", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"pay.done": dawn.Add(100 * time.Hour)}}},
	}
}

func TestReplayNamesWhatTurnsToPassForEachLensAndWhatStoodInTheWay(t *testing.T) {
	t.Parallel()
	old := parse(t, small)
	now := parse(t, edit(t, small, "within: 48h", "within: 60h", "250.00 USD", "300.00 USD"))
	flips, err := weakening.Replay(old, now, []*verdict.Case{
		paidLate("200.00 USD", 50), // late by the old one
		paidLate("280.00 USD", 10), // above the old cap
		paidLate("290.00 USD", 55), // both
		paidLate("100.00 USD", 10), // PASS by both
		paidLate("400.00 USD", 70), // FAIL by both
	})
	if err != nil {
		t.Fatal(err)
	}
	type flip struct{ action, lens, check string }
	var got []flip
	for _, f := range flips {
		if f.Was != verdict.Fail || len(f.Because) != 1 {
			t.Errorf("%+v", f)
		}
		got = append(got, flip{f.ActionID, f.Lens, f.Because[0].Check})
	}
	want := []flip{
		{"r-200.00 USD", "outcome", "paid"},
		{"r-280.00 USD", "conformance", "cap"},
		{"r-290.00 USD", "outcome", "paid"},
		{"r-290.00 USD", "conformance", "cap"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%v turned, want %v", got, want)
	}
	if back, err := weakening.Replay(now, old, []*verdict.Case{paidLate("200.00 USD", 50)}); err != nil || len(back) != 0 {
		t.Errorf("backwards %v turned (%v)", back, err)
	}
}

func TestWhatIsNoCaseIsNotReplayed(t *testing.T) {
	t.Parallel()
	k := parse(t, small)
	if _, err := weakening.Replay(k, k, []*verdict.Case{{Engine: verdict.Engine}}); err == nil {
		t.Error("a case without a time was replayed")
	}
}

// The exception that docs/weakening.md tells of: a declaration that came late is
// UNKNOWN unless what was seen shows that it came first, and a step more sees more.
func TestAStepMoreCanShowThatALateDeclarationCameFirst(t *testing.T) {
	t.Parallel()
	old := parse(t, small)
	now := parse(t, edit(t, small, "  - {id: paid, expect: pay.done, within: 48h}\n", "  - {id: paid, expect: pay.done, within: 48h}\n  - {id: told, expect: told.done}\n"))
	c := paidLate("100.00 USD", 10)
	c.Declarations[0].RequestedAt = dawn.Add(-time.Hour)
	c.Facts[0].Refs, c.Facts[0].SubjectID, c.Facts[0].SubjectKind = nil, "s", "order"
	c.Facts = append(c.Facts, evidence.Fact{Source: "a", ExternalID: "g", Type: "told.done", OccurredAt: dawn.Add(time.Hour), Refs: map[string]string{"k": "r-100.00 USD"}})
	c.Sources[0].Watermarks["told.done"] = dawn.Add(100 * time.Hour)
	if changes := weakening.Compare(old, now); weakening.Suspect(changes) {
		t.Errorf("a step more is %+v", changes)
	}
	flips, err := weakening.Replay(old, now, []*verdict.Case{c})
	if err != nil {
		t.Fatal(err)
	}
	if len(flips) != 1 || flips[0].Lens != verdict.ConformanceLens || flips[0].Because[0].Codes[0] != verdict.DeclaredLate {
		t.Errorf("it is no exception any more: %+v", flips)
	}
}
