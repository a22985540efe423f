package recorder_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"

	"github.com/deed-dev/deed/recorder"
)

const refunds = `
agent_id: support-bot
workflow_id: refunds
tools:
  refund_payment:
    contract_id: refund_workflow
    action_type: refund_order
    subject: arguments.order_id
    subject_kind: order
    params:
      amount: arguments.amount
      currency: arguments.currency
    action_id: refund:{arguments.order_id}
`

// A program that relays messages between a client and a server asks the
// recorder about each of the client's, and shows it each of the server's.
func Example() {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var action struct {
			ID     string          `json:"action_id"`
			Params json.RawMessage `json:"params"`
		}
		_ = json.Unmarshal(body, &action)
		fmt.Println(r.Method, r.URL.Path, action.ID, string(action.Params))
		w.WriteHeader(http.StatusCreated)
		fmt.Fprint(w, `{"recorded": "new"}`)
	}))
	defer api.Close()

	mapping, err := recorder.ParseMapping("refunds.yaml", []byte(refunds))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := recorder.New(mapping, recorder.Options{
		APIKey: "spk_example", APIURL: api.URL, AgentID: "support-bot", Log: log.New(os.Stdout, "", 0),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	call := []byte(`{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"refund_payment","arguments":{"order_id":"order_10231","amount":180.0,"currency":"USD"}}}`)
	decision := r.BeforeForward(context.Background(), call)
	fmt.Println(decision.Forward, decision.ActionID, decision.Err)

	r.AfterResponse([]byte(`{"jsonrpc":"2.0","id":7,"result":{"content":[{"type":"text","text":"refund issued"}],"isError":false}}`))
	// Output:
	// POST /v1/actions refund:order_10231 {"amount":180.0,"currency":"USD","mcp_tool":"refund_payment","mcp_request_id":"7"}
	// true refund:order_10231 <nil>
	// recorded refund:order_10231 → tool result isError=false
}

// The body of a declaration can be had without sending it.
func ExampleBuildAction() {
	mapping, err := recorder.ParseMapping("pay.json", []byte(`{"tools": {"pay": {"contract_id": "pay", "subject": "arguments.invoice"}}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	tool, _ := mapping.Tool("pay")
	body, err := recorder.BuildAction("pay", []byte(`{"name":"pay","arguments":{"invoice":4711}}`), tool, []byte("7"))
	var action map[string]any
	if err != nil || json.Unmarshal(body, &action) != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(action["action_id"], action["subject_id"], action["channel"])
	// Output: mcp:pay:7 4711 mcp
}

// With NoFailOpen a call whose declaration fails does not reach the server:
// the client gets the reply instead.
func ExampleOptions_noFailOpen() {
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(w, `{"error": {"code": "unavailable"}}`)
	}))
	defer api.Close()
	mapping, err := recorder.ParseMapping("refunds.yaml", []byte(refunds))
	if err != nil {
		fmt.Println(err)
		return
	}
	r, err := recorder.New(mapping, recorder.Options{APIKey: "spk_example", APIURL: api.URL, NoFailOpen: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	decision := r.BeforeForward(context.Background(), []byte(`{"jsonrpc":"2.0","id":"a","method":"tools/call","params":{"name":"refund_payment","arguments":{"order_id":"o-1"}}}`))
	fmt.Println(decision.Forward)
	fmt.Println(string(decision.Reply))
	// Output:
	// false
	// {"jsonrpc":"2.0","id":"a","error":{"code":-32000,"message":"Deed recording failed: declare refund:o-1: the API answered 503 (unavailable)"}}
}

// What is wrong with a mapping is said with its place.
func ExampleMappingError() {
	_, err := recorder.ParseMapping("refunds.json", []byte(`{"tools": {
  "refund_payment": {"contract_id": "refund_workflow", "subject": "arguments..order_id"}}}`))
	fmt.Println(err)
	// Output: refunds.json:2:67: tool "refund_payment": key "subject": the path has a dot too many; write a path such as arguments.order_id
}
