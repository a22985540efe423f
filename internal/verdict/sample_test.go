package verdict

import (
	_ "embed"
	"testing"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
)

//go:embed testdata/refund.yaml
var refundText []byte

func instant(t testing.TB, text string) value.Instant {
	t.Helper()
	i, err := value.ParseInstant(text)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func amount(t testing.TB, text string) money.Amount {
	t.Helper()
	a, err := money.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// refundCase is a refund of 180.00 USD that was approved, made, and told to the
// customer, at the time when all of that settles.
func refundCase(t testing.TB) *Case {
	t.Helper()
	governing, err := contract.Parse(refundText)
	if err != nil {
		t.Fatal(err)
	}
	at := func(text string) value.Instant { return instant(t, text) }
	number, err := money.ParseDecimal("180.00")
	if err != nil {
		t.Fatal(err)
	}
	settles := at("2026-11-05T12:00:00Z")
	return &Case{
		Engine: Engine,
		At:     at("2026-11-05T12:30:00Z"),
		Declarations: []Declaration{{
			ActionID: "refund-o-1001", ContractID: "refund_workflow", ActionType: "refund_order",
			SubjectID: "o-1001", SubjectKind: "order", AgentID: "support-bot", WorkflowID: "refunds",
			RequestedAt: at("2026-11-02T12:00:00Z"), ReceivedAt: at("2026-11-02T12:00:00.25Z"),
			Params:  map[string]value.Value{"amount": value.OfDecimal(number), "currency": value.OfString("usd")},
			Channel: "mcp",
		}},
		Governing: &Governing{Contract: governing, Version: 3, Mode: Live},
		Facts: []evidence.Fact{
			{
				Source: "approvals", ExternalID: "ap_7", Type: "approval.granted", SubjectID: "o-1001", SubjectKind: "order",
				Refs: map[string]string{"action_id": "refund-o-1001"}, Attrs: map[string]value.Value{"by": value.OfString("dana")},
				OccurredAt: at("2026-11-02T11:40:00Z"), IngestedAt: at("2026-11-02T11:40:02Z"),
			},
			{
				Source: "stripe", ExternalID: "re_1", Type: "refund.succeeded", SubjectID: "o-1001", SubjectKind: "order",
				Refs:       map[string]string{"idempotency_key": "refund-o-1001", "refund": "re_1"},
				Attrs:      map[string]value.Value{"amount": value.OfMoney(amount(t, "180.00 USD")), "actor": value.OfString("support-bot")},
				OccurredAt: at("2026-11-02T12:00:04Z"), IngestedAt: at("2026-11-02T12:05:00Z"), Revision: 1,
			},
			{
				Source: "zendesk", ExternalID: "t_88", Type: "ticket.solved", SubjectID: "o-1001", SubjectKind: "order",
				Refs:       map[string]string{"idempotency_key": "refund-o-1001"},
				OccurredAt: at("2026-11-02T15:10:00Z"), IngestedAt: at("2026-11-02T15:11:00Z"),
			},
		},
		Sources: []evidence.Source{
			{Name: "approvals", Trust: evidence.Attested, Watermarks: map[string]value.Instant{"approval.granted": settles}},
			{Name: "stripe", Trust: evidence.Independent, Watermarks: map[string]value.Instant{"refund.succeeded": settles, "refund.failed": settles}},
			{Name: "zendesk", Trust: evidence.Attested, Watermarks: map[string]value.Instant{"ticket.solved": settles}},
		},
		History: []History{
			{
				Limit: "agent_daily", From: at("2026-11-01T12:00:00Z"), To: at("2026-11-02T12:00:00Z"),
				Count: 4, Totals: []money.Amount{amount(t, "610.50 USD")}, CompleteTo: at("2026-11-05T12:30:00Z"),
			},
			{
				Limit: "once_per_order", From: at("2026-10-03T12:00:00Z"), To: at("2026-11-02T12:00:00Z"),
				CompleteTo: at("2026-11-05T12:30:00Z"),
			},
		},
	}
}
