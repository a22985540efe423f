//go:build unix

package servertest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/url"
	"testing"
	"time"
)

// A client that knows only this much of the API, and none of ours, works: POST a
// body of these members to {api_url}/v1/actions with x-api-key and content-type,
// and read the verdict with GET /v1/actions/{action_id}.
func TestAClientThatKnowsOnlyTheBodyAndTheHeaderDeclaresAndReadsItsVerdict(t *testing.T) {
	t.Parallel()
	s, w := furnished(t)
	apiURL, apiKey := s.url(), w.agent.credential

	body := []byte(`{
		"action_id": "refund:order_10231",
		"contract_id": "refund_workflow",
		"subject_id": "order_10231",
		"subject_kind": "order",
		"action_type": "refund_order",
		"agent_id": "support-bot",
		"workflow_id": "refunds",
		"requested_at": "` + time.Now().UTC().Format("2006-01-02T15:04:05Z") + `",
		"params": {"amount": 180.0, "currency": "USD", "mcp_tool": "refund_payment", "mcp_request_id": "7"},
		"channel": "mcp"
	}`)
	ask := func(method, path string, body []byte) (int, map[string]any) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, apiURL+path, bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("x-api-key", apiKey)
		if body != nil {
			request.Header.Set("content-type", "application/json")
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		var answer map[string]any
		if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
			t.Fatal(err)
		}
		return response.StatusCode, answer
	}
	status, declared := ask(http.MethodPost, "/v1/actions", body)
	if status != http.StatusCreated {
		t.Fatalf("declared: %d, %v", status, declared)
	}
	// A retried request updates one record instead of creating two.
	if status, answer := ask(http.MethodPost, "/v1/actions", body); status != http.StatusOK {
		t.Fatalf("declared again: %d, %v", status, answer)
	}
	for _, ref := range []string{"refund:order_10231", url.PathEscape("refund:order_10231"), url.QueryEscape("refund:order_10231")} {
		status, answer := ask(http.MethodGet, "/v1/actions/"+ref, nil)
		verification, _ := answer["verification"].(map[string]any)
		summary, _ := verification["summary"].(map[string]any)
		if status != http.StatusOK || summary["headline"] == nil || summary["headline"] == "" {
			t.Errorf("the verdict of %s: %d, %v", ref, status, answer)
		}
	}

	// The systems of record show the refund, and the verdict follows.
	connector := w.connector
	kept, _ := declared["action"].(map[string]any)
	receivedAt, _ := kept["received_at"].(string)
	if receivedAt == "" {
		t.Fatalf("declared: %v", declared)
	}
	fact := object{
		"source": "stripe", "external_id": "re_1", "type": "refund.succeeded", "subject_id": "order_10231", "subject_kind": "order",
		"refs": object{"idempotency_key": "refund:order_10231"}, "attrs": object{"amount": object{"amount": "180.00", "currency": "USD"}, "currency": "USD"},
		"occurred_at": receivedAt, // however long a busy machine takes, it is within the contract's time
	}
	if err := connector.ask(t.Context(), http.MethodPost, "/v1/facts", object{"facts": []object{fact}}, nil); err != nil {
		t.Fatal(err)
	}
	complete := stamp(time.Now().Add(30 * time.Second))
	marks := object{"refund.succeeded": complete, "refund.failed": complete}
	if err := connector.ask(t.Context(), http.MethodPut, "/v1/sources/stripe/watermark", object{"watermarks": marks}, nil); err != nil {
		t.Fatal(err)
	}
	again := time.NewTicker(50 * time.Millisecond)
	defer again.Stop()
	limit := time.After(patience)
	for {
		_, answer := ask(http.MethodGet, "/v1/actions/refund:order_10231", nil)
		verification, _ := answer["verification"].(map[string]any)
		if verification["status"] == "settled" {
			if verification["badge"] != "PASS" {
				t.Errorf("settled as %v", verification)
			}
			return
		}
		select {
		case <-again.C:
		case <-limit:
			t.Fatalf("it never settled: %v", verification)
		}
	}
}
