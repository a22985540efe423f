package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/deed-dev/deed/internal/backoffice"
	"github.com/deed-dev/deed/internal/shop"
	"github.com/deed-dev/deed/internal/terminal"
)

// What people do in the story, beside the agent. None of it says what comes of it.
const (
	needsApproval  = "100.00"         // the manager looks at refunds above that
	approvedLate   = "2008"           // the order whose refund the manager sees too late
	paidByHand     = "1039"           // the order for which somebody pays by hand
	manager        = "the manager"    // who approves
	settlingLimit  = 40 * time.Second // for all verdicts; much more than the contract needs
	lookEvery      = 200 * time.Millisecond
	goodwillAmount = "15.00"
)

// story is a day at the shop with a verifier beside it: an agent pays back what
// was returned, and the systems of record say what came of it.
func (d *Demo) story(ctx context.Context, home string) (err error) {
	d.say("An agent works in a small shop by its MCP tools. Deed records the wire, has each\nrefund declared before it is made, and asks the shop's back office, which keeps\nthe money, what really happened.\n")
	v, err := d.startVerifier(ctx, home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, v.process.stop()) }()
	if d.Keep {
		d.address = v.address
		if err := v.login.Keep(home); err != nil {
			return err
		}
	}
	office, address, err := d.startOffice(ctx, home, v)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, office.stop()) }()
	caller := backoffice.NewCaller(address)

	if err := d.agent(ctx, home, v, address, caller); err != nil {
		return err
	}
	if err := d.people(ctx, caller); err != nil {
		return err
	}
	if err := d.verdicts(ctx, v); err != nil {
		return err
	}
	return d.unclaimed(ctx, v)
}

// startOffice starts the system of record. It alone holds the evidence key.
func (d *Demo) startOffice(ctx context.Context, home string, v *verifier) (*background, string, error) {
	office, err := d.start("back office", home, []string{"DEED_API_KEY=" + v.evidence},
		append([]string{"demo-office", "--ledger", filepath.Join(home, "ledger.jsonl"), "--server", v.address}, d.props.office...)...)
	if err != nil {
		return nil, "", err
	}
	ctx, cancel := context.WithTimeout(ctx, d.limits.start)
	defer cancel()
	address, err := office.await(ctx, "the back office is at ")
	if err != nil {
		return nil, "", errors.Join(err, office.stop())
	}
	return office, address, nil
}

// agent is what the agent does: it looks around, and pays back what was returned.
func (d *Demo) agent(ctx context.Context, home string, v *verifier, office string, caller *backoffice.Caller) error {
	mapping := filepath.Join(home, "refund.map.yaml")
	if err := os.WriteFile(mapping, []byte(d.props.mapping), 0o600); err != nil {
		return fmt.Errorf("write the mapping: %w", err)
	}
	d.say("$ deed run --label shop --map refund.map.yaml -- deed demo-server\n")
	c, err := d.connectWith(ctx, home, recorded{
		label: "shop", flags: []string{"--map", mapping, "--api-url", v.address},
		variables: []string{"DEED_API_KEY=" + v.recorder},
		server:    []string{d.Program, "demo-server", "--back-office", office},
	})
	if err != nil {
		return err
	}
	defer c.session.Close() // harmless after close
	// The shop is known to answer, on a busy machine too.
	c.limit = max(c.limit, tourLimit)
	// As every client does, before it calls one.
	if _, err := d.tools(ctx, c); err != nil {
		return err
	}
	if err := d.tour(ctx, c); err != nil {
		return err
	}
	if err := d.refunds(ctx, c, caller); err != nil {
		return err
	}
	return c.close()
}

// refunds has every returned order paid back, one after another.
func (d *Demo) refunds(ctx context.Context, c *client, caller *backoffice.Caller) error {
	listed := c.call(ctx, shop.ListOrders, map[string]any{"status": "returned"})
	out, ok := structured(listed)
	if !ok {
		return fmt.Errorf("the shop does not list the returned orders: %s", listed.text())
	}
	orders, _ := out["orders"].([]any)
	d.heading(fmt.Sprintf("%s came back. The agent pays them all, and is told", terminal.Plural(int64(len(orders)), "order")))
	for _, o := range orders {
		order, _ := o.(map[string]any)
		id, total := str(order["id"]), str(order["total"])
		if above(total, needsApproval) && id != approvedLate {
			if err := caller.Approve(ctx, backoffice.Consent{Action: "refund:" + id, By: manager}); err != nil {
				return err
			}
		}
		a := c.call(ctx, shop.RefundOrder, map[string]any{"order_id": id, "amount": total, "reason": "returned"})
		if ctx.Err() != nil {
			return ctx.Err()
		}
		told := a.text()
		if out, ok := structured(a); ok {
			told = tellRefund(out)
		}
		d.callLine(oneLine(id+" "+str(order["item"])), nameWidth+4, a, told)
	}
	return nil
}

// above compares two amounts as the shop writes them: digits, and two decimals.
func above(a, b string) bool {
	if len(a) != len(b) {
		return len(a) > len(b)
	}
	return a > b
}

// people do their part once the agent is done.
func (d *Demo) people(ctx context.Context, caller *backoffice.Caller) error {
	d.heading("Meanwhile, at the back office")
	if err := caller.Approve(ctx, backoffice.Consent{Action: "refund:" + approvedLate, By: manager}); err != nil {
		return err
	}
	d.say("  The manager, who approves what is above %s EUR, gets to order %s only now.", needsApproval, approvedLate)
	by := backoffice.Payment{Order: paidByHand, Amount: goodwillAmount, Currency: "EUR"}
	if err := caller.PayBack(ctx, by); err != nil {
		return err
	}
	d.say("  Somebody pays %s EUR back for order %s by hand. No agent said anything of it.", by.Amount, by.Order)
	return nil
}

// verdicts shows each verdict as it settles.
func (d *Demo) verdicts(ctx context.Context, v *verifier) error {
	d.heading("What the back office's own ledger says, verdict by verdict as it settles")
	ctx, cancel := context.WithTimeoutCause(ctx, settlingLimit, fmt.Errorf("not all verdicts were settled within %s", terminal.Duration(settlingLimit)))
	defer cancel()
	shown := map[string]bool{}
	ticks := time.NewTicker(lookEvery)
	defer ticks.Stop()
	for {
		all, err := v.actions(ctx)
		if err != nil {
			return d.ended(ctx, v, fmt.Errorf("ask for the verdicts: %w", err))
		}
		slices.SortFunc(all, func(a, b found) int { return strings.Compare(a.Action.ActionID, b.Action.ActionID) })
		for i := range all {
			f := &all[i]
			if !f.settled() || shown[f.Action.ActionID] {
				continue
			}
			shown[f.Action.ActionID] = true
			badge := fmt.Sprintf("%-8s", oneLine(f.Verification.Badge))
			if f.Verification.Badge != "PASS" {
				badge = d.Style.Warn(badge)
			}
			headline := strings.TrimPrefix(f.Verification.Summary.Headline, f.Verification.Badge+": ")
			d.say("  %s %-12s %s", badge, oneLine(f.Action.ActionID), oneLine(headline))
		}
		if len(all) > 0 && len(shown) == len(all) {
			return nil
		}
		select {
		case <-ctx.Done():
			return d.ended(ctx, v, context.Cause(ctx))
		case <-ticks.C:
		}
	}
}

// ended is why the story could not go on; what the verifier complained of may be
// the reason.
func (d *Demo) ended(ctx context.Context, v *verifier, err error) error {
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	if said := v.process.stderr.String(); said != "" && !errors.Is(err, context.Canceled) {
		return terminal.WithHint(err, said)
	}
	return err
}

// unclaimed shows the effects that nobody declared.
func (d *Demo) unclaimed(ctx context.Context, v *verifier) error {
	effects, err := v.orphans(ctx)
	if err != nil {
		return d.ended(ctx, v, fmt.Errorf("ask for effects without an action: %w", err))
	}
	if len(effects) == 0 {
		return nil
	}
	d.heading("Money that moved and that no agent had declared")
	for _, e := range effects {
		d.say("  %s", oneLine(fmt.Sprintf("%s %s for order %s (%s, told by %s)", e.Attrs.Amount.Amount, e.Attrs.Amount.Currency, e.SubjectID, e.ExternalID, e.Source)))
	}
	return nil
}
