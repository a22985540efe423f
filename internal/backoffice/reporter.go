package backoffice

import (
	"context"
	"fmt"
	"time"

	"github.com/deed-dev/deed/client"
)

// The sources that the office is to Deed, and what they tell of.
const (
	Payments        = "payments"
	Approvals       = "approvals"
	RefundSucceeded = "refund.succeeded"
	ApprovalGranted = "approval.granted"
)

// Evidence is whom the reporter tells. [client.Evidence] is one.
type Evidence interface {
	Push(ctx context.Context, facts ...client.Fact) (client.Pushed, error)
	Complete(ctx context.Context, source string, upTo time.Time, types ...string) error
}

// Reporter tells what the ledger holds.
type Reporter struct {
	Ledger *Ledger
	To     Evidence
	Every  time.Duration
	// Withhold is an entry that is never told, as if the ledger had lost it.
	Withhold string

	told int // entries of the ledger
}

// Run walks the ledger again and again until ctx ends. What cannot be told now is
// told by the next walk; the failure goes to trouble.
func (r *Reporter) Run(ctx context.Context, trouble func(error)) {
	ticks := time.NewTicker(r.Every)
	defer ticks.Stop()
	for {
		if err := r.Walk(ctx); err != nil && ctx.Err() == nil {
			trouble(err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
	}
}

// Walk tells what is new, and then up to when all of it was told.
func (r *Reporter) Walk(ctx context.Context) error {
	entries, complete := r.Ledger.Since(r.told)
	var facts []client.Fact
	for _, e := range entries {
		if e.ID != r.Withhold {
			facts = append(facts, factOf(e))
		}
	}
	if len(facts) > 0 {
		if _, err := r.To.Push(ctx, facts...); err != nil {
			return fmt.Errorf("tell the ledger's news: %w", err)
		}
	}
	r.told += len(entries)
	for source, factType := range map[string]string{Payments: RefundSucceeded, Approvals: ApprovalGranted} {
		if err := r.To.Complete(ctx, source, complete, factType); err != nil {
			return fmt.Errorf("state that %s is complete: %w", source, err)
		}
	}
	return nil
}

func factOf(e Entry) client.Fact {
	f := client.Fact{ExternalID: e.ID, OccurredAt: e.At}
	if e.Kind == Approval {
		f.Source, f.Type = Approvals, ApprovalGranted
		f.Refs = map[string]string{"action_id": e.Action}
		f.Attrs = map[string]any{"by": e.By}
		return f
	}
	f.Source, f.Type = Payments, RefundSucceeded
	f.SubjectID, f.SubjectKind = e.Order, "order"
	f.Attrs = map[string]any{"amount": client.Money(e.Amount, e.Currency)}
	if e.Key != "" {
		f.Refs = map[string]string{"idempotency_key": e.Key}
	}
	return f
}
