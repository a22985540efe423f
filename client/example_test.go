package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/deed-dev/deed/client"
)

// A refund is declared, then paid, and its verdict is waited for. The server here
// is a stand-in that has seen the refund at once.
func ExampleActions_Do() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, `{"recorded":"new","action":{"action_id":"refund:o-1001"},"verification":{"status":"provisional","badge":"UNKNOWN"}}`)
			return
		}
		fmt.Fprint(w, `{"action":{"action_id":"refund:o-1001"},"verification":{"status":"settled","badge":"PASS","summary":{"headline":"PASS: all checks met"}}}`)
	}))
	defer server.Close()

	actions, err := client.NewActions(server.URL, "spk_an_agents_key")
	if err != nil {
		fmt.Println(err)
		return
	}
	ctx := context.Background()
	refund := client.Action{
		ID: "refund:o-1001", ContractID: "refund_workflow", Type: "refund_order",
		SubjectID: "o-1001", SubjectKind: "order", AgentID: "support-bot",
		Params: map[string]any{"amount": client.Money("180.00", "USD")},
	}
	_, err = actions.Do(ctx, refund, func(_ context.Context, a client.Action) error {
		fmt.Println("paying back with the idempotency key", a.ID)
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	declared, err := actions.Wait(ctx, refund.ID, client.UntilSettled)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(declared.Verification.Summary.Headline)
	// Output:
	// paying back with the idempotency key refund:o-1001
	// PASS: all checks met
}
