package shop

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Payer pays money back.
type Payer interface {
	PayBack(ctx context.Context, p Payment) error
}

// Payment is what a payer is asked for.
type Payment struct {
	Order, Amount, Currency string
	Key                     string        // by which the payment can be told to belong to an action
	After                   time.Duration // not before this has passed
}

// desk is where refunds are ordered. Without a payer nothing is paid.
type desk struct{ payer Payer }

// book has the orders that this shop knows.
func (d *desk) book() []Order {
	if d.payer == nil {
		return orders()
	}
	return slices.Concat(orders(), returned())
}

// fault makes of the payment that should be made those that are.
type fault func(Payment) []Payment

// faults are what is wrong with how the shop has some orders paid back. Each is a
// mistake that programs make; whatever it is, the shop says "refund issued".
func faults() map[string]fault {
	return map[string]fault{
		// The call is made in a branch that is never taken.
		"2003": func(Payment) []Payment { return nil },
		// A time-out is taken for a failure, and the call is made again.
		"2004": func(p Payment) []Payment { return []Payment{p, p} },
		// Two digits change places on the way.
		"2005": func(p Payment) []Payment { p.Amount = "84.00"; return []Payment{p} },
		// It waits in a queue that is worked off too seldom.
		"2006": func(p Payment) []Payment { p.After = 5 * time.Second; return []Payment{p} },
		// The currency is taken from the office's settings and not from the order.
		"2010": func(p Payment) []Payment { p.Currency = "USD"; return []Payment{p} },
	}
}

// pay has an order paid back, with whatever is wrong with that.
func (d *desk) pay(ctx context.Context, order Order, amount string) error {
	if d.payer == nil {
		return nil
	}
	due := Payment{Order: order.ID, Amount: amount, Currency: order.Currency, Key: "refund:" + order.ID}
	payments := []Payment{due}
	if wrong, has := faults()[order.ID]; has {
		payments = wrong(due)
	}
	for _, p := range payments {
		if err := d.payer.PayBack(ctx, p); err != nil {
			return fmt.Errorf("the refund could not be ordered: %w", err)
		}
	}
	return nil
}
