package demo

import (
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

func TestWhatOnlyReadsIsToldByPromisesAndNames(t *testing.T) {
	t.Parallel()
	yes, promise := true, &mcp.ToolAnnotations{ReadOnlyHint: true}
	for _, test := range []struct {
		name  string
		hints *mcp.ToolAnnotations
		want  bool
	}{
		{"list_orders", nil, true},
		{"getSecret", nil, true},
		{"refund_payment", nil, false},
		{"order_pizza", nil, false},
		{"sequentialthinking", nil, false},
		{"get_or_update", nil, false},
		{"list_orders", &mcp.ToolAnnotations{DestructiveHint: &yes}, false},
		{"list_orders", &mcp.ToolAnnotations{Title: "Orders"}, true},
		{"orders", promise, true},
		{"delete_order", promise, false},
		{"update_order", promise, false},
		{"отчёт", promise, false},
	} {
		if got := OnlyReads(&mcp.Tool{Name: test.name, Annotations: test.hints}); got != test.want {
			t.Errorf("%s with %+v: %t", test.name, test.hints, got)
		}
	}
}
