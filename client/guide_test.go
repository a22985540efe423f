package client_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/client"
)

// guidePage is the page whose examples are those of this file.
const guidePage = "../docs/client.md"

// transfers stands for a bank's own client.
type transfers struct{ made []string }

func (b *transfers) Transfer(_ context.Context, reference, amount string) error {
	b.made = append(b.made, reference+" "+amount)
	return nil
}

func guideForAgents(ctx context.Context, server string, bank *transfers, another client.Action) error {
	actions, err := client.NewActions(server, os.Getenv("DEED_API_KEY"))
	if err != nil {
		return err
	}
	refund := client.Action{
		ID: "refund:o-1001", ContractID: "order_refund", Type: "refund_order",
		SubjectID: "o-1001", SubjectKind: "order", AgentID: "support-bot",
		Params: map[string]any{"amount": client.Money("180.00", "EUR")},
	}
	_, err = actions.Do(ctx, refund, func(ctx context.Context, a client.Action) error {
		return bank.Transfer(ctx, a.ID, "180.00 EUR")
	})
	if err != nil {
		return err
	}
	list, err := actions.DeclareAll(ctx, refund, another)
	if err != nil || len(list) != 2 {
		return fmt.Errorf("declared %d actions: %w", len(list), err)
	}
	for found, err := range actions.List(ctx, client.Query{Verdict: client.Fail, Period: "last 7 days"}) {
		if err != nil {
			return err
		}
		fmt.Println(found.Action.ID, found.Verification.Summary.Headline)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	declared, err := actions.Wait(ctx, refund.ID, client.UntilSettled)
	if err != nil {
		return err
	}
	fmt.Println(declared.Verification.Badge, declared.Verification.Summary.Headline)
	return nil
}

func guideForConnectors(ctx context.Context, server string, booked, readAt time.Time) error {
	evidence, err := client.NewEvidence(server, os.Getenv("DEED_API_KEY"))
	if err != nil {
		return err
	}
	_, err = evidence.Push(ctx, client.Fact{
		Source: "bank", ExternalID: "tr_1", Type: "transfer.booked", OccurredAt: booked,
		Refs:  map[string]string{"reference": "refund:o-1001"},
		Attrs: map[string]any{"amount": client.Money("180.00", "EUR")},
	})
	if err != nil {
		return err
	}
	err = evidence.Complete(ctx, "bank", readAt, "transfer.booked")
	return err
}

// It changes the environment, so that it is not parallel.
func TestTheExamplesOfTheGuideRun(t *testing.T) {
	t.Setenv("DEED_API_KEY", key)
	var seen []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = append(seen, r.Method+" "+r.URL.Path)
		switch r.Method + " " + r.URL.Path {
		case "POST /v1/actions:batch":
			fmt.Fprintf(w, `{"results":[%s,%[1]s]}`, declared("new", "provisional", "UNKNOWN"))
		case "GET /v1/actions":
			fmt.Fprint(w, `{"actions":[],"next_cursor":null}`)
		case "POST /v1/actions":
			w.WriteHeader(http.StatusCreated)
			fmt.Fprint(w, declared("new", "provisional", "UNKNOWN"))
		case "GET /v1/actions/refund:o-1001":
			fmt.Fprint(w, declared("", "settled", "PASS"))
		default:
			fmt.Fprint(w, `{"new":1,"known":0}`)
		}
	}))
	defer server.Close()
	bank := &transfers{}
	if err := guideForAgents(t.Context(), server.URL, bank, client.Action{SubjectID: "o-2"}); err != nil {
		t.Error(err)
	}
	if len(bank.made) != 1 || bank.made[0] != "refund:o-1001 180.00 EUR" {
		t.Errorf("the bank was told %q", bank.made)
	}
	if err := guideForConnectors(t.Context(), server.URL, time.Now(), time.Now()); err != nil {
		t.Error(err)
	}
	want := "POST /v1/actions, POST /v1/actions:batch, GET /v1/actions, GET /v1/actions/refund:o-1001, POST /v1/facts, PUT /v1/sources/bank/watermark"
	if got := strings.Join(seen, ", "); got != want {
		t.Errorf("the server was asked for %s", got)
	}
}

func TestTheGuideShowsTheExamplesThatRun(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(guidePage)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile("guide_test.go")
	if err != nil {
		t.Fatal(err)
	}
	examples := strings.Split(string(page), "```go\n")[1:]
	if len(examples) < 6 {
		t.Fatalf("%d examples", len(examples))
	}
	for _, example := range examples {
		code, _, _ := strings.Cut(example, "```")
		if !strings.Contains(squeezed(string(source)), squeezed(code)) {
			t.Errorf("nothing runs this example of the guide:\n%s", code)
		}
	}
}

// squeezed is a text without what sets its lines in.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }
