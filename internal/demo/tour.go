package demo

import (
	"context"
	"fmt"
	"time"

	"github.com/deed-dev/deed/internal/shop"
	"github.com/deed-dev/deed/internal/terminal"
)

// step is one call of the tour. Nothing here says what the shop will answer:
// what is shown is read from the answer.
type step struct {
	tool      string
	arguments map[string]any
	tell      func(out map[string]any) string // of a structured answer; nil shows its text
}

// tourLimit is how long one answer of the shop is waited for.
const tourLimit = 15 * time.Second

// tour is how the agent's day begins: the usual calls, and every kind of trouble.
func (d *Demo) tour(ctx context.Context, c *client) error {
	const order = "1042"
	for _, visit := range []step{
		{shop.ListOrders, nil, tellOrders},
		{shop.GetOrder, map[string]any{"order_id": order}, tellOrder},
		{shop.NotifyCustomer, map[string]any{"order_id": order, "destination": "https://hooks.mail.example/send", "message": "Your chair was delivered."}, tellMessage},
		{shop.SlowReport, nil, tellReport},
		{shop.ChargeCard, map[string]any{"order_id": "1043", "amount": "310.00"}, nil},
		{shop.TrackParcel, map[string]any{"order_id": "1041"}, nil},
		{shop.ExportCatalog, nil, nil},
	} {
		a := c.call(ctx, visit.tool, visit.arguments)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		d.callLine(visit.tool, nameWidth, a, visit.told(a))
	}
	return nil
}

// told is what the step makes of its answer.
func (s step) told(a answer) string {
	if out, ok := structured(a); ok && s.tell != nil {
		return s.tell(out) + slowly(a)
	}
	return a.text()
}

// nameWidth is how much room the names of tools get at least.
const nameWidth = 18

// callLine shows one call, with its name in a column of some width.
func (d *Demo) callLine(tool string, width int, a answer, told string) {
	word := fmt.Sprintf("%-9s", a.word())
	if a.word() != "ok" {
		word = d.Style.Warn(word)
	}
	d.say("  %-*s %s %s", width, oneLine(tool), word, told)
}

// structured returns the structured part of a successful answer.
func structured(a answer) (map[string]any, bool) {
	if a.err != nil || a.result.IsError {
		return nil, false
	}
	out, ok := a.result.StructuredContent.(map[string]any)
	return out, ok
}

// slowly adds the time where somebody would have noticed it.
func slowly(a answer) string {
	if a.took < 200*time.Millisecond {
		return ""
	}
	return " (" + terminal.Duration(a.took) + ")"
}

func tellOrders(out map[string]any) string {
	list, _ := out["orders"].([]any)
	return terminal.Plural(int64(len(list)), "order")
}

func tellOrder(out map[string]any) string {
	return oneLine(fmt.Sprintf("%s: %s %s paid, %s refunded", str(out["item"]), str(out["total"]), str(out["currency"]), str(out["refunded"])))
}

func tellRefund(out map[string]any) string {
	return oneLine(fmt.Sprintf("%s: %s %s, number %s", str(out["message"]), str(out["amount"]), str(out["currency"]), str(out["refund_id"])))
}

func tellMessage(out map[string]any) string {
	return oneLine(fmt.Sprintf("%s to %s", str(out["message"]), str(out["destination"])))
}

func tellReport(out map[string]any) string { return oneLine(str(out["text"])) }

func str(value any) string {
	text, _ := value.(string)
	return text
}
