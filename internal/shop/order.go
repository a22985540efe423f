package shop

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"regexp"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

type listOrdersIn struct {
	Status string `json:"status,omitempty" jsonschema:"only orders in this state: paid, shipped, delivered or returned"`
}

type listOrdersOut struct {
	Orders []Order `json:"orders" jsonschema:"the orders, oldest first"`
}

type getOrderIn struct {
	OrderID string `json:"order_id" jsonschema:"number of the order, such as 1042"`
}

type refundOrderIn struct {
	OrderID string `json:"order_id" jsonschema:"number of the order, such as 1042"`
	Amount  string `json:"amount" jsonschema:"what to pay back, as decimal text such as 180.00"`
	Reason  string `json:"reason,omitempty" jsonschema:"why, in a few words"`
}

type refundOrderOut struct {
	Message  string `json:"message" jsonschema:"what the shop says happened"`
	RefundID string `json:"refund_id" jsonschema:"number of the refund"`
	OrderID  string `json:"order_id" jsonschema:"number of the order"`
	Amount   string `json:"amount" jsonschema:"what is paid back, as decimal text"`
	Currency string `json:"currency" jsonschema:"ISO 4217 code of the amount"`
}

type notifyCustomerIn struct {
	OrderID     string `json:"order_id" jsonschema:"number of the order the message is about"`
	Destination string `json:"destination" jsonschema:"an e-mail address or the URL of a webhook"`
	Message     string `json:"message" jsonschema:"what to say"`
}

type notifyCustomerOut struct {
	Message     string `json:"message" jsonschema:"what the shop says happened"`
	Destination string `json:"destination" jsonschema:"where it went"`
}

// addOrderTools adds what a shop does on a good day.
func addOrderTools(server *mcp.Server, payer Payer) {
	counter := &desk{payer: payer}
	mcp.AddTool(server, &mcp.Tool{
		Name: ListOrders, Description: "List the orders of the shop.",
		Annotations: reads("List orders", false),
	}, counter.listOrders)
	mcp.AddTool(server, &mcp.Tool{
		Name: GetOrder, Description: "Everything the shop knows about one order.",
		Annotations: reads("Get an order", false),
	}, getOrder)
	mcp.AddTool(server, &mcp.Tool{
		Name: RefundOrder, Description: "Pay money back for an order.",
		Annotations: writes("Refund an order", true, true),
	}, counter.refundOrder)
	mcp.AddTool(server, &mcp.Tool{
		Name: NotifyCustomer, Description: "Send a message to a customer, by e-mail or to a webhook.",
		Annotations: writes("Notify a customer", false, true),
	}, notifyCustomer)
}

func (d *desk) listOrders(_ context.Context, _ *mcp.CallToolRequest, in listOrdersIn) (*mcp.CallToolResult, listOrdersOut, error) {
	out := listOrdersOut{Orders: []Order{}}
	for _, o := range d.book() {
		if in.Status == "" || in.Status == o.Status {
			out.Orders = append(out.Orders, o)
		}
	}
	return nil, out, nil
}

func getOrder(_ context.Context, _ *mcp.CallToolRequest, in getOrderIn) (*mcp.CallToolResult, Order, error) {
	order, err := findOrder(in.OrderID)
	return nil, order, err
}

// refundOrder says that it refunds. What is paid is another matter.
func (d *desk) refundOrder(ctx context.Context, _ *mcp.CallToolRequest, in refundOrderIn) (*mcp.CallToolResult, refundOrderOut, error) {
	order, err := findOrder(in.OrderID)
	if err != nil {
		return nil, refundOrderOut{}, err
	}
	if err := checkRefund(order, in.Amount); err != nil {
		return nil, refundOrderOut{}, err
	}
	if err := d.pay(ctx, order, in.Amount); err != nil {
		return nil, refundOrderOut{}, err
	}
	return nil, refundOrderOut{
		Message: "refund issued", RefundID: "re_" + order.ID,
		OrderID: order.ID, Amount: in.Amount, Currency: order.Currency,
	}, nil
}

// checkRefund refuses what no shop would pay back.
func checkRefund(order Order, amount string) error {
	// big.Rat would also read fractions, exponents of any size and
	// hexadecimals; money is digits and at most two decimals.
	if !regexp.MustCompile(`^[0-9]{1,9}(\.[0-9]{1,2})?$`).MatchString(amount) {
		return fmt.Errorf("amount %q is no decimal number such as 180.00", amount)
	}
	asked, _ := new(big.Rat).SetString(amount)
	total, _ := new(big.Rat).SetString(order.Total)
	refunded, _ := new(big.Rat).SetString(order.Refunded)
	left := new(big.Rat).Sub(total, refunded)
	switch {
	case asked.Sign() == 0:
		return errors.New("amount is zero; say how much to pay back")
	case asked.Cmp(left) > 0:
		return fmt.Errorf("amount %s is more than the %s %s left of order %s", amount, left.FloatString(2), order.Currency, order.ID)
	}
	return nil
}

// notifyCustomer says that it sends. Nothing leaves the machine.
func notifyCustomer(_ context.Context, _ *mcp.CallToolRequest, in notifyCustomerIn) (*mcp.CallToolResult, notifyCustomerOut, error) {
	if _, err := findOrder(in.OrderID); err != nil {
		return nil, notifyCustomerOut{}, err
	}
	if !strings.Contains(in.Destination, "@") && !strings.HasPrefix(in.Destination, "https://") {
		return nil, notifyCustomerOut{}, fmt.Errorf("destination %q is neither an e-mail address nor an https URL", in.Destination)
	}
	return nil, notifyCustomerOut{Message: "message sent", Destination: in.Destination}, nil
}
