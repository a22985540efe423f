package shop

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// ReportTime is how long slow_report takes.
const ReportTime = 700 * time.Millisecond

// Names of the tools, in the order in which a tour would call them.
const (
	ListOrders     = "list_orders"
	GetOrder       = "get_order"
	RefundOrder    = "refund_order"
	NotifyCustomer = "notify_customer"
	SlowReport     = "slow_report"
	ChargeCard     = "charge_card"
	TrackParcel    = "track_parcel"
	ExportCatalog  = "export_catalog"
)

// New makes the server. The version is what it tells its clients.
func New(version string) *mcp.Server { return Connected(version, nil) }

// Connected makes a server that has its refunds paid by somebody, as well as it
// can: see [faults]. Without a payer nothing is paid.
func Connected(version string, payer Payer) *mcp.Server {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "deed-demo-shop", Title: "Deed demo shop", Version: version},
		&mcp.ServerOptions{
			Instructions: "A shop to try Deed on. Its data is made up, and nothing it does has an effect outside of this machine.",
			// Without this the SDK announces logging, which the shop has not.
			Capabilities: &mcp.ServerCapabilities{},
		},
	)
	addOrderTools(server, payer)
	addTroubleTools(server)
	return server
}

// Serve answers one client until it closes its side or ctx ends. A client
// that went away is the normal end and no error.
func Serve(ctx context.Context, server *mcp.Server, in io.Reader, out io.Writer) error {
	err := server.Run(ctx, &mcp.IOTransport{Reader: io.NopCloser(in), Writer: unclosed{out}})
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, mcp.ErrConnectionClosed) {
		return fmt.Errorf("serve the shop: %w", err)
	}
	return nil
}

// unclosed leaves closing to whoever opened it.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }

// reads describes a tool that changes nothing. An open world is one with
// others in it, outside of the shop.
func reads(title string, openWorld bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{
		Title: title, ReadOnlyHint: true, IdempotentHint: true,
		DestructiveHint: new(false), OpenWorldHint: &openWorld,
	}
}

// writes describes a tool that changes something.
func writes(title string, destructive, openWorld bool) *mcp.ToolAnnotations {
	return &mcp.ToolAnnotations{Title: title, DestructiveHint: &destructive, OpenWorldHint: &openWorld}
}
