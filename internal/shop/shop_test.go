package shop

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// visit connects a real client to the shop, without a process in between.
func visit(t *testing.T, options *mcp.ClientOptions) *mcp.ClientSession {
	t.Helper()
	ours, theirs := mcp.NewInMemoryTransports()
	server, err := New("1.2.3").Connect(t.Context(), theirs, nil)
	if err != nil {
		t.Fatalf("connect the shop: %v", err)
	}
	client, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, options).
		Connect(t.Context(), ours, &mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
	if err != nil {
		t.Fatalf("connect the client: %v", err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("close the client: %v", err)
		}
		_ = server.Wait()
	})
	return client
}

// call returns a tool's result, and fails the test on a JSON-RPC error.
func call(t *testing.T, client *mcp.ClientSession, tool string, arguments map[string]any) *mcp.CallToolResult {
	t.Helper()
	result, err := client.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("call %s: %v", tool, err)
	}
	return result
}

// text is the only content of a result.
func text(t *testing.T, result *mcp.CallToolResult) string {
	t.Helper()
	if len(result.Content) != 1 {
		t.Fatalf("%d pieces of content, want 1", len(result.Content))
	}
	only, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("content is %T, want text", result.Content[0])
	}
	return only.Text
}

func TestEveryToolSaysWhatItDoes(t *testing.T) {
	t.Parallel()
	want := map[string]struct{ readOnly, destructive, openWorld, structured bool }{
		ListOrders:     {readOnly: true, structured: true},
		GetOrder:       {readOnly: true, structured: true},
		SlowReport:     {readOnly: true, structured: true},
		ExportCatalog:  {readOnly: true},
		TrackParcel:    {readOnly: true, openWorld: true},
		RefundOrder:    {destructive: true, openWorld: true, structured: true},
		ChargeCard:     {destructive: true, openWorld: true},
		NotifyCustomer: {openWorld: true, structured: true},
	}
	listed, err := visit(t, nil).ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(listed.Tools) != len(want) {
		t.Errorf("%d tools, want %d", len(listed.Tools), len(want))
	}
	for _, tool := range listed.Tools {
		expected, known := want[tool.Name]
		hints := tool.Annotations
		switch {
		case !known:
			t.Errorf("%s is not expected", tool.Name)
		case hints == nil || hints.DestructiveHint == nil || hints.OpenWorldHint == nil:
			t.Errorf("%s leaves a hint out", tool.Name)
		case hints.ReadOnlyHint != expected.readOnly || *hints.DestructiveHint != expected.destructive || *hints.OpenWorldHint != expected.openWorld:
			t.Errorf("%s: read-only %v, destructive %v, open world %v; want %+v",
				tool.Name, hints.ReadOnlyHint, *hints.DestructiveHint, *hints.OpenWorldHint, expected)
		}
		if tool.Description == "" || tool.InputSchema == nil {
			t.Errorf("%s has no description or no input schema", tool.Name)
		}
		if (tool.OutputSchema != nil) != expected.structured {
			t.Errorf("%s: output schema %v, want one: %v", tool.Name, tool.OutputSchema, expected.structured)
		}
	}
}

func TestARefundIsClaimedAndNothingChanges(t *testing.T) {
	t.Parallel()
	client := visit(t, nil)
	before := text(t, call(t, client, GetOrder, map[string]any{"order_id": "1042"}))
	claim := call(t, client, RefundOrder, map[string]any{"order_id": "1042", "amount": "180.00"})
	if got := text(t, claim); claim.IsError || !strings.Contains(got, "refund issued") {
		t.Errorf("the shop says %q (error: %v), want a refund issued", got, claim.IsError)
	}
	after := text(t, call(t, client, GetOrder, map[string]any{"order_id": "1042"}))
	if before != after || !strings.Contains(after, `"refunded":"0.00"`) {
		t.Errorf("the order changed from %s to %s", before, after)
	}
}

func TestRefundsThatNoShopWouldPay(t *testing.T) {
	t.Parallel()
	client := visit(t, nil)
	for name, arguments := range map[string]map[string]any{
		"an order that does not exist":    {"order_id": "7", "amount": "1.00"},
		"more than the total":             {"order_id": "1042", "amount": "180.01"},
		"what was refunded already":       {"order_id": "1040", "amount": "0.01"},
		"nothing":                         {"order_id": "1042", "amount": "0.00"},
		"a negative amount":               {"order_id": "1042", "amount": "-1.00"},
		"an exponent":                     {"order_id": "1042", "amount": "1e2"},
		"a fraction":                      {"order_id": "1042", "amount": "1/2"},
		"a number where text is asked":    {"order_id": "1042", "amount": 180},
		"no amount at all":                {"order_id": "1042"},
		"an argument that does not exist": {"order_id": "1042", "amount": "1.00", "account": "x"},
	} {
		if result := call(t, client, RefundOrder, arguments); !result.IsError {
			t.Errorf("%s: the shop says %q, want an error", name, text(t, result))
		}
	}
}

func TestOrdersCanBeNarrowedByStatus(t *testing.T) {
	t.Parallel()
	client := visit(t, nil)
	for status, want := range map[string]int{"": 5, "delivered": 3, "shipped": 1, "paid": 1, "lost": 0} {
		var got listOrdersOut
		answer := text(t, call(t, client, ListOrders, map[string]any{"status": status}))
		if err := json.Unmarshal([]byte(answer), &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Orders) != want {
			t.Errorf("status %q: %d orders, want %d", status, len(got.Orders), want)
		}
	}
}

func TestAMessageGoesToAnAddressOrNowhere(t *testing.T) {
	t.Parallel()
	client := visit(t, nil)
	for destination, sent := range map[string]bool{
		"mia@customer.example":             true,
		"https://hooks.example/orders":     true,
		"http://hooks.example/orders":      false,
		"the customer, you know which one": false,
	} {
		result := call(t, client, NotifyCustomer, map[string]any{"order_id": "1042", "destination": destination, "message": "hello"})
		if result.IsError == sent {
			t.Errorf("%s: the shop says %q", destination, text(t, result))
		}
	}
}

func TestACardIsDeclinedAsAToolFails(t *testing.T) {
	t.Parallel()
	result := call(t, visit(t, nil), ChargeCard, map[string]any{"order_id": "1043", "amount": "310.00"})
	if got := text(t, result); !result.IsError || got != "card declined: insufficient funds" {
		t.Errorf("the shop says %q (error: %v), want a declined card", got, result.IsError)
	}
}

func TestACarrierIsDownAsAProtocolFails(t *testing.T) {
	t.Parallel()
	_, err := visit(t, nil).CallTool(t.Context(), &mcp.CallToolParams{Name: TrackParcel, Arguments: map[string]any{"order_id": "1041"}})
	var failure *jsonrpc.Error
	if !errors.As(err, &failure) || failure.Code != CodeCarrierDown {
		t.Errorf("error is %v, want a JSON-RPC error with code %d", err, CodeCarrierDown)
	}
}

func TestTheCatalogueIsEnormousAndAlwaysTheSame(t *testing.T) {
	t.Parallel()
	client := visit(t, nil)
	first := text(t, call(t, client, ExportCatalog, nil))
	if size := len(first); size < 900<<10 || size > 1200<<10 {
		t.Errorf("%d bytes, want about 1 MiB", size)
	}
	var articles []article
	if err := json.Unmarshal([]byte(first), &articles); err != nil || len(articles) != catalogItems {
		t.Errorf("%d articles, error %v; want %d", len(articles), err, catalogItems)
	}
	if again := text(t, call(t, client, ExportCatalog, nil)); again != first {
		t.Error("the second answer differs from the first")
	}
}

func TestAReportTakesItsTimeAndTellsProgress(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told := make(chan float64, 1)
		client := visit(t, &mcp.ClientOptions{
			ProgressNotificationHandler: func(_ context.Context, req *mcp.ProgressNotificationClientRequest) {
				told <- req.Params.Progress
			},
		})
		params := &mcp.CallToolParams{Name: SlowReport}
		params.SetProgressToken("report-1")
		began := time.Now()
		result, err := client.CallTool(t.Context(), params)
		if err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took != ReportTime {
			t.Errorf("took %v, want %v", took, ReportTime)
		}
		if got := text(t, result); !strings.Contains(got, "5 orders were placed in 2026-03") {
			t.Errorf("the report says %s", got)
		}
		if progress := <-told; progress != 1 {
			t.Errorf("progress is %v, want 1", progress)
		}
	})
}

func TestACancelledReportEndsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		_, _, err := slowReport(ctx, &mcp.CallToolRequest{Params: &mcp.CallToolParamsRaw{}}, slowReportIn{})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error is %v, want the deadline", err)
		}
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("took %v, want 100ms", took)
		}
	})
}

func TestServingEndsWithoutErrorWhenTheClientCloses(t *testing.T) {
	t.Parallel()
	in, client := io.Pipe()
	answers, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- Serve(t.Context(), New("1.2.3"), in, out) }()

	request := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}` + "\n"
	if _, err := io.WriteString(client, request); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(answers).ReadBytes('\n')
	if err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Result struct {
			ServerInfo struct{ Name, Version string }
			// The shop has tools and nothing else to announce.
			Capabilities map[string]any
		}
	}
	if err := json.Unmarshal(line, &answer); err != nil {
		t.Fatal(err)
	}
	if got := answer.Result.ServerInfo; got.Name != "deed-demo-shop" || got.Version != "1.2.3" {
		t.Errorf("the server is %+v", got)
	}
	if got := answer.Result.Capabilities; !reflect.DeepEqual(got, map[string]any{"tools": map[string]any{"listChanged": true}}) {
		t.Errorf("capabilities are %v, want tools alone", got)
	}
	if err := client.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; err != nil {
		t.Errorf("serving ended with %v, want no error", err)
	}
}
