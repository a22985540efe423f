package shop

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// CodeCarrierDown is the JSON-RPC error code of track_parcel. It is in the
// range that JSON-RPC leaves to servers.
const CodeCarrierDown = -32050

type slowReportIn struct {
	Month string `json:"month,omitempty" jsonschema:"month to report on, such as 2026-03"`
}

type slowReportOut struct {
	Month  string `json:"month" jsonschema:"month of the report"`
	Orders int    `json:"orders" jsonschema:"how many orders were placed"`
	Text   string `json:"text" jsonschema:"the report"`
}

type chargeCardIn struct {
	OrderID string `json:"order_id" jsonschema:"number of the order to charge for"`
	Amount  string `json:"amount" jsonschema:"what to charge, as decimal text such as 310.00"`
}

type trackParcelIn struct {
	OrderID string `json:"order_id" jsonschema:"number of the order whose parcel to look for"`
}

type exportCatalogIn struct{}

// addTroubleTools adds what makes somebody ask what happened: tools that are
// slow, that fail in either of MCP's two ways, and that answer too much.
func addTroubleTools(server *mcp.Server) {
	mcp.AddTool(server, &mcp.Tool{
		Name: SlowReport, Description: "The sales of a month. Takes its time.",
		Annotations: reads("Sales report", false),
	}, slowReport)
	mcp.AddTool(server, &mcp.Tool{
		Name: ChargeCard, Description: "Charge the card of an order. The card of this shop is always declined.",
		Annotations: writes("Charge a card", true, true),
	}, chargeCard)
	mcp.AddTool(server, &mcp.Tool{
		Name: TrackParcel, Description: "Where a parcel is. The carrier of this shop never answers.",
		Annotations: reads("Track a parcel", true),
	}, trackParcel)
	mcp.AddTool(server, &mcp.Tool{
		Name: ExportCatalog, Description: "The whole catalogue in one answer, about 1 MiB.",
		Annotations: reads("Export the catalogue", false),
	}, exportCatalog)
}

// slowReport waits first, and reports half-way to those who asked for
// progress.
func slowReport(ctx context.Context, req *mcp.CallToolRequest, in slowReportIn) (*mcp.CallToolResult, slowReportOut, error) {
	if in.Month == "" {
		in.Month = "2026-03"
	}
	for step := 1; step <= 2; step++ {
		if err := wait(ctx, ReportTime/2); err != nil {
			return nil, slowReportOut{}, err
		}
		token := req.Params.GetProgressToken()
		if token == nil || step == 2 {
			continue
		}
		progress := &mcp.ProgressNotificationParams{ProgressToken: token, Progress: 1, Total: 2, Message: "adding up"}
		if err := req.Session.NotifyProgress(ctx, progress); err != nil {
			return nil, slowReportOut{}, fmt.Errorf("report progress: %w", err)
		}
	}
	count := 0
	for _, o := range orders() {
		if strings.HasPrefix(o.Placed, in.Month) {
			count++
		}
	}
	return nil, slowReportOut{
		Month: in.Month, Orders: count,
		Text: fmt.Sprintf("%d orders were placed in %s.", count, in.Month),
	}, nil
}

// wait ends early, with an error, when the call is cancelled.
func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("wait for the report: %w", ctx.Err())
	}
}

// chargeCard fails as a tool does: the call worked, the tool did not, and the
// reason is for the model to read.
func chargeCard(_ context.Context, _ *mcp.CallToolRequest, in chargeCardIn) (*mcp.CallToolResult, any, error) {
	if _, err := findOrder(in.OrderID); err != nil {
		return nil, nil, err
	}
	return nil, nil, errors.New("card declined: insufficient funds")
}

// trackParcel fails as a protocol does: a JSON-RPC error instead of a result.
func trackParcel(_ context.Context, _ *mcp.CallToolRequest, _ trackParcelIn) (*mcp.CallToolResult, any, error) {
	return nil, nil, &jsonrpc.Error{Code: CodeCarrierDown, Message: "the carrier does not answer"}
}

// exportCatalog answers with text alone: a structured copy beside it would
// double an answer that is too big already.
func exportCatalog(context.Context, *mcp.CallToolRequest, exportCatalogIn) (*mcp.CallToolResult, any, error) {
	text, err := catalog(catalogItems)
	if err != nil {
		return nil, nil, err
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: text}}}, nil, nil
}
