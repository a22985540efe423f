package engine

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/verdict"
)

// Cases that differ only in an order which their form does not keep have one
// digest, so that they must have one verdict.
func TestCasesOfOneDigestHaveOneVerdict(t *testing.T) {
	t.Parallel()
	c := crowdedCase(t)
	want := evaluated(t, c)
	random := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		shuffle(random, c.Facts)
		shuffle(random, c.Sources)
		shuffle(random, c.Rivals)
		shuffle(random, c.History)
		shuffle(random, c.Shared)
		shuffle(random, c.Compensators)
		if got := evaluated(t, c); !bytes.Equal(got, want) {
			t.Fatalf("another order comes to another verdict (-one +other):\n%s", cmp.Diff(string(want), string(got)))
		}
	}
}

func TestACaseReadAgainHasTheSameVerdict(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]*verdict.Case{"the refund": refundCase(t), "a crowded case": crowdedCase(t)} {
		again, err := verdict.DecodeCase(c.AppendJSON(nil))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if one, other := evaluated(t, c), evaluated(t, again); !bytes.Equal(one, other) {
			t.Errorf("%s comes to another verdict once it was stored (-made +read):\n%s", name, cmp.Diff(string(one), string(other)))
		}
	}
}

func evaluated(t *testing.T, c *verdict.Case) []byte {
	t.Helper()
	v, err := Evaluate(c)
	if err != nil {
		t.Fatal(err)
	}
	return v.AppendJSON(nil)
}

// crowdedCase is the refund among rivals, revisions and compensators: every
// list of it has several elements.
func crowdedCase(t *testing.T) *verdict.Case {
	t.Helper()
	c := refundCase(t)
	rival := c.Declarations[0]
	rival.ActionID = "refund-o-1001-b"
	other := rival
	other.ActionID = "refund-o-1001-c"
	c.Rivals = []verdict.Declaration{rival, other}
	keyless := c.Facts[1]
	keyless.ExternalID, keyless.Refs = "re_2", nil
	late := keyless
	late.ExternalID, late.OccurredAt = "re_3", instant(t, "2026-11-04T18:00:00Z")
	older, twin := c.Facts[1], c.Facts[1]
	older.Revision, older.Retracted = 0, true
	twin.SubjectID = "o-2002" // disputes the refund
	reversed := c.Facts[1]
	reversed.ExternalID, reversed.Type, reversed.Refs = "re_4", "refund.failed", nil
	c.Facts = append(c.Facts, keyless, late, older, twin, reversed)
	c.Shared = []verdict.Shared{
		{Source: "stripe", Type: "refund.succeeded", ExternalID: "re_1", ActionID: "x", ContractID: "one"},
		{Source: "stripe", Type: "refund.succeeded", ExternalID: "re_1", ActionID: "y", ContractID: "two"},
		{Source: "zendesk", Type: "ticket.solved", ExternalID: "t_88", ActionID: "z", ContractID: "two"},
	}
	verified := amount(t, "60.00 USD")
	at := c.Declarations[0].ReceivedAt
	c.Compensators = []verdict.Compensator{
		{ActionID: "undo-2", ContractID: "refund_reversal_workflow", DeclaredAt: at.Add(2e9), Status: verdict.Settled, Outcome: verdict.Pass, Verified: &verified},
		{ActionID: "undo-1", ContractID: "refund_reversal_workflow", DeclaredAt: at.Add(2e9), Status: verdict.Settled, Outcome: verdict.Fail},
		{ActionID: "undo-0", ContractID: "other", DeclaredAt: at.Add(3e9), Status: verdict.Recorded, Outcome: verdict.Unknown},
	}
	c.History[0].Totals = append(c.History[0].Totals, money.Amount{Value: verified.Value, Currency: "EUR"})
	c.Sources = append(c.Sources, evidence.Source{Name: "ledger", Trust: evidence.Asserted})
	return c
}
