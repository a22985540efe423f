package intent_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/deed-dev/deed/internal/value"
)

// refunds is the mapping that the documentation begins with.
const refunds = `{
  "agent_id": "support-bot",
  "workflow_id": "refunds",
  "tools": {
    "refund_payment": {
      "contract_id": "refund_workflow",
      "action_type": "refund_order",
      "subject": "arguments.order_id",
      "subject_kind": "order",
      "params": {"amount": "arguments.amount", "currency": "arguments.currency"},
      "action_id": "refund:{arguments.order_id}",
      "compensates": "arguments.original_action_id"
    }
  }
}`

// noon is the time of the call in these tests.
const noon = "2026-10-15T12:00:00Z"

func parse(t testing.TB, text string) *intent.Mapping {
	t.Helper()
	m, err := intent.Parse("mapping", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// call is a call at noon with the request id 7.
func call(t testing.TB, tool, params string) intent.Call {
	t.Helper()
	at, err := value.ParseInstant(noon)
	if err != nil {
		t.Fatal(err)
	}
	return intent.Call{Tool: tool, Params: []byte(params), RequestID: []byte("7"), At: at}
}

func declare(t testing.TB, m *intent.Mapping, c intent.Call) intent.Intent {
	t.Helper()
	in, err := m.Intent(c)
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(in.Body) {
		t.Fatalf("the body is no JSON: %s", in.Body)
	}
	return in
}

func TestTheBodyHasTheMembersOfTheDocumentationInItsOrder(t *testing.T) {
	t.Parallel()
	got := declare(t, parse(t, refunds), call(t, "refund_payment", `{"name":"refund_payment","arguments":{"order_id":"order_10231","amount":180.0,"currency":"USD"}}`))
	want := `{"action_id":"refund:order_10231","contract_id":"refund_workflow","subject_id":"order_10231","subject_kind":"order",` +
		`"action_type":"refund_order","agent_id":"support-bot","workflow_id":"refunds","requested_at":"2026-10-15T12:00:00Z",` +
		`"params":{"amount":180.0,"currency":"USD","mcp_tool":"refund_payment","mcp_request_id":"7"},"channel":"mcp"}`
	if string(got.Body) != want {
		t.Errorf("body\n%s, want\n%s", got.Body, want)
	}
	if got.ActionID != "refund:order_10231" || got.ContractID != "refund_workflow" || got.SubjectID != "order_10231" || got.Tool != "refund_payment" {
		t.Errorf("got %+v", got)
	}
}

func TestWhatTheMappingLeavesOutIsNotInTheBody(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"tools": {"t": {"contract_id": "c", "subject": "arguments.s"}}}`)
	got := declare(t, m, call(t, "t", `{"name":"t","arguments":{"s":"x"}}`))
	want := `{"action_id":"mcp:t:7","contract_id":"c","subject_id":"x","requested_at":"2026-10-15T12:00:00Z",` +
		`"params":{"mcp_tool":"t","mcp_request_id":"7"},"channel":"mcp"}`
	if string(got.Body) != want {
		t.Errorf("body\n%s, want\n%s", got.Body, want)
	}
}

func TestVersionTypeKindAndCompensationPassThrough(t *testing.T) {
	t.Parallel()
	m := parse(t, strings.Replace(refunds, `"action_type"`, `"contract_version": 3, "action_type"`, 1))
	got := declare(t, m, call(t, "refund_payment", `{"arguments":{"order_id":"o-1","original_action_id":"refund:o-0"}}`))
	for _, part := range []string{
		`"contract_id":"refund_workflow","contract_version":3,"subject_id"`, `"subject_kind":"order","action_type":"refund_order"`,
		`"channel":"mcp","compensates":"refund:o-0"}`,
	} {
		if !strings.Contains(string(got.Body), part) {
			t.Errorf("%s is not in %s", part, got.Body)
		}
	}
}

func TestAnAbsentParamIsSkippedAndAnAbsentCompensationOmitted(t *testing.T) {
	t.Parallel()
	got := declare(t, parse(t, refunds), call(t, "refund_payment", `{"arguments":{"order_id":"o-1","currency":"USD"}}`))
	if strings.Contains(string(got.Body), `"amount"`) || strings.Contains(string(got.Body), "compensates") {
		t.Errorf("body %s", got.Body)
	}
}

func TestFlagsGoBeforeTheFile(t *testing.T) {
	t.Parallel()
	m := parse(t, refunds)
	c := call(t, "refund_payment", `{"arguments":{"order_id":"o-1"}}`)
	got := declare(t, m.With("night-bot", "", ""), c)
	if !strings.Contains(string(got.Body), `"agent_id":"night-bot","workflow_id":"refunds"`) {
		t.Errorf("body %s", got.Body)
	}
	got = declare(t, m.With("", "nights", ""), c)
	if !strings.Contains(string(got.Body), `"agent_id":"support-bot","workflow_id":"nights"`) {
		t.Errorf("body %s", got.Body)
	}
	if m.AgentID != "support-bot" || m.WorkflowID != "refunds" {
		t.Errorf("the mapping itself changed: %s, %s", m.AgentID, m.WorkflowID)
	}
}

func TestARetriedRequestHasTheSameIDAndAnotherSessionAnotherOne(t *testing.T) {
	t.Parallel()
	m := parse(t, `{"tools": {"t": {"contract_id": "c", "subject": "arguments.s"}}}`)
	for _, test := range []struct{ session, id, want string }{
		{"", "7", "mcp:t:7"},
		{"6d4e", "7", "mcp:t:6d4e:7"},
		{"6d4e", `"7"`, "mcp:t:6d4e:7"},
		{"", `"a\u002fb"`, "mcp:t:a/b"},
		{"", "1e3", "mcp:t:1e3"},
	} {
		c := call(t, "t", `{"arguments":{"s":"x"}}`)
		c.Session, c.RequestID = test.session, []byte(test.id)
		first, again := declare(t, m, c), declare(t, m, c)
		if first.ActionID != test.want || string(first.Body) != string(again.Body) {
			t.Errorf("session %q, id %s: %s and %s, want %s", test.session, test.id, first.ActionID, again.ActionID, test.want)
		}
	}
}

func TestTheRequestIDIsATextInTheParams(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"7": `"7"`, `"seven"`: `"seven"`, "-0": `"-0"`, "12345678901234567890": `"12345678901234567890"`, "7.0": `"7.0"`, `"\""`: `"\""`, `""`: `""`,
		// Half a surrogate pair is no text, so its spelling stands for it.
		`"\ud800"`: `"\\ud800"`,
	} {
		c := call(t, "refund_payment", `{"arguments":{"order_id":"o-1"}}`)
		c.RequestID = []byte(id)
		if got := declare(t, parse(t, refunds), c); !strings.Contains(string(got.Body), `"mcp_request_id":`+want+`}`) {
			t.Errorf("%s: body %s", id, got.Body)
		}
	}
}

func TestTheExampleForCoinbaseDeclaresAnOrder(t *testing.T) {
	t.Parallel()
	m, err := intent.Load("../../examples/coinbase.json")
	if err != nil {
		t.Fatal(err)
	}
	params := `{"name":"orders_create","arguments":{"client_order_id":"c-1","product_id":"BTC-USD","side":"BUY",` +
		`"order_configuration":{"market_market_ioc":{"quote_size":"100.00"}}}}`
	got := declare(t, m, call(t, "orders_create", params))
	want := `"params":{"amount":"100.00","side":"BUY","client_order_id":"c-1","mcp_tool":"orders_create","mcp_request_id":"7"}`
	if got.ActionID != "coinbase:c-1" || got.SubjectID != "BTC-USD" || !strings.Contains(string(got.Body), want) {
		t.Errorf("got %s", got.Body)
	}
	retried := call(t, "orders_create", params)
	retried.RequestID = []byte("8")
	if again := declare(t, m, retried); again.ActionID != got.ActionID {
		t.Errorf("a retried call is %s", again.ActionID)
	}
}

func TestAFileThatIsNotThereIsSaidSo(t *testing.T) {
	t.Parallel()
	if _, err := intent.Load("missing.json"); !os.IsNotExist(err) {
		t.Errorf("error %v", err)
	}
}
