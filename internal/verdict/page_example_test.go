package verdict_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/contract"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/money"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/verdict/engine"
)

const exampleContract = `contract: refund_workflow
params:
  amount: {type: money, currency: currency, required: true}
  currency: {type: currency, default: USD}
settle: {after: 72h, grace: 12h, max_skew: 2m}
sources:
  stripe: {trust: independent}
link:
  - refs.idempotency_key == action_id
steps:
  - {id: money_moved, expect: refund.succeeded, from: stripe, where: fact.amount == params.amount, count: 1, within: 48h}
limits:
  - {id: single_cap, check: params.amount <= money("250.00 USD")}
`

// exampleCase is the page's: 180.00 USD were declared, 18.00 USD were refunded.
func exampleCase(t *testing.T) *verdict.Case {
	t.Helper()
	governing, err := contract.Parse([]byte(exampleContract))
	if err != nil {
		t.Fatal(err)
	}
	eighteen, err := money.Parse("18.00 USD")
	if err != nil {
		t.Fatal(err)
	}
	c := verdict.RefundCase(t)
	c.Governing.Contract = governing
	refund := c.Facts[1]
	refund.Attrs = map[string]value.Value{"amount": value.OfMoney(eighteen)}
	c.Facts = []evidence.Fact{refund}
	c.Sources = c.Sources[1:2]
	c.History = nil
	return c
}

func TestTheExampleOfThePageIsWhatItsCaseComesTo(t *testing.T) {
	t.Parallel()
	c := exampleCase(t)
	v, err := engine.Evaluate(c)
	if err != nil {
		t.Fatal(err)
	}
	// What the page says of its example: a certain failure of the one lens, and
	// a declaration that was allowed.
	if v.Outcome.Result != verdict.Fail || !slices.Equal(v.Outcome.Codes, []verdict.Code{verdict.ValueMismatch}) ||
		v.Conformance.Result != verdict.Pass || v.Status != verdict.Settled || !v.Decided {
		t.Fatalf("the example comes to %s", v.AppendJSON(nil))
	}
	var page strings.Builder
	fmt.Fprintf(&page, "\n```json\n%s\n```\n\nIts digest is\n`%s`.\nIt comes to this verdict:\n\n```json\n%s\n```\n\nIts digest is\n`%s`.\n\n",
		indented(t, c.AppendJSON(nil)), c.Digest(), indented(t, v.AppendJSON(nil)), v.Digest())
	verdict.Generated(t, verdict.CasePage, "example", page.String())
	followPage(t)
}

func indented(t *testing.T, text []byte) string {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// followPage does what a reader does who has no more than a JSON library.
func followPage(t *testing.T) {
	t.Helper()
	_, example, _ := strings.Cut(verdict.ReadPage(t), "<!-- example -->")
	parts := strings.Split(example, "```json\n")
	if len(parts) != 3 {
		t.Fatalf("the page has %d JSON blocks in its example, want a case and a verdict", len(parts)-1)
	}
	caseText, afterCase, _ := strings.Cut(parts[1], "```")
	verdictText, afterVerdict, _ := strings.Cut(parts[2], "```")
	c, err := verdict.DecodeCase([]byte(caseText))
	if err != nil {
		t.Fatal(err)
	}
	v, err := engine.Evaluate(c)
	if err != nil {
		t.Fatal(err)
	}
	if want := verdict.Resort(t, []byte(verdictText)); !bytes.Equal(v.AppendJSON(nil), want) {
		t.Errorf("the page's case comes to\n%s, the page says\n%s", v.AppendJSON(nil), want)
	}
	digests := regexp.MustCompile(`sha256:[0-9a-f]{64}`)
	if got := digests.FindString(afterCase); got != c.Digest() || got != v.Case {
		t.Errorf("the case's digest is %s, the page says %s", c.Digest(), got)
	}
	if got := digests.FindString(afterVerdict); got != v.Digest() {
		t.Errorf("the verdict's digest is %s, the page says %s", v.Digest(), got)
	}
}
