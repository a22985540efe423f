package fit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/deed-dev/deed/internal/intent/fit"
	"pgregory.net/rapid"
)

func TestADraftProposesWhatASchemaShows(t *testing.T) {
	t.Parallel()
	draft := fit.Draft([]fit.Tool{
		{Name: "list_orders", ReadOnly: true},
		{Name: "refund_payment", Description: "Refund an order. It takes\nmoney back.", Input: schema(t, `{"type": "object", "required": ["order_id", "amount"], "properties": {
			"order_id": {"type": "string"}, "amount": {"type": "number"}, "currency": {"type": "string"}, "api_key": {"type": "string"}, "message": {"type": "string"},
			"idempotency_key": {"type": "string"}, "how": {"type": "object", "properties": {"card": {"type": "string"}, "amount": {"type": "number"}}}}}`)},
		{Name: "create_entities", Input: schema(t, `{"type": "object", "required": ["entities"], "properties": {"entities": {"type": "array", "items": {
			"type": "object", "required": ["name"], "properties": {"name": {"type": "string"}, "entityType": {"type": "string"}}}}}}`)},
		{Name: "ping!"},
	}, false)
	want := `
agent_id: agent  # CHOOSE: who acts
tools:

  refund_payment:  # Refund an order
    contract_id: refund_payment  # CHOOSE: the contract that shall govern it
    action_type: refund_payment
    subject: arguments.order_id  # CHOOSE: what is acted on
    subject_kind: order
    params:  # what a contract looks at; the rest goes out
      amount: arguments.amount
      currency: arguments.currency
      how_amount: arguments.how.amount
      card: arguments.how.card
      idempotency_key: arguments.idempotency_key
    # not in params: arguments.api_key: it may be a secret
    # not in params: arguments.message: it may be long
    action_id: "refund_payment:{arguments.idempotency_key}"  # a retried call is the same action
    # compensates: arguments.…  # where a call says which action it undoes

  create_entities:
    contract_id: create_entities  # CHOOSE: the contract that shall govern it
    action_type: create_entities
    subject: arguments.entities.0.name  # CHOOSE: only the first of the list is declared
    subject_kind: entities
    # compensates: arguments.…  # where a call says which action it undoes

  "ping!":
    contract_id: ping  # CHOOSE: the contract that shall govern it
    action_type: ping
    subject: name  # CHOOSE: the schema names nothing that is acted on; this is the tool's own name
    subject_kind: tool
    # compensates: arguments.…  # where a call says which action it undoes

# Tools that only read, by their annotations or their names (--all proposes them too):
#   list_orders
`
	_, got, _ := strings.Cut(draft, "mapping.schema.json\n")
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// loads holds that a draft is a mapping that fits the server it was made for.
func loads(t interface{ Errorf(string, ...any) }, tools []fit.Tool, draft string, proposed []string) {
	m, err := intent.Parse("draft.yaml", []byte(draft))
	if err != nil {
		t.Errorf("%v\n%s", err, draft)
		return
	}
	if len(m.Notes) > 0 && len(m.Tools()) > 0 {
		t.Errorf("it is odd: %v\n%s", m.Notes, draft)
	}
	if c := fit.CheckServer("draft.yaml", m, "", tools); !c.Fits {
		t.Errorf("it does not fit: %+v\n%s", c, draft)
	}
	has := map[string]bool{}
	for _, tool := range m.Tools() {
		has[tool.Key] = true
	}
	for _, name := range proposed {
		if !has[name] {
			t.Errorf("%q is not proposed:\n%s", name, draft)
		}
	}
}

func TestAllProposesToolsThatOnlyReadToo(t *testing.T) {
	t.Parallel()
	tools := []fit.Tool{{Name: "list_orders", ReadOnly: true}, {Name: "get", ReadOnly: true}}
	loads(t, tools, fit.Draft(tools, false), nil)
	loads(t, tools, fit.Draft(tools, true), []string{"list_orders", "get"})
}

func TestADraftLoadsWhateverTheToolsAreCalled(t *testing.T) {
	t.Parallel()
	names := []string{
		"yes", "null", "3", "0x10", "a b", "a: b", "- a", "# a", "'a", `"a`, "{a}", "[a", "*a", "&a", "!a", "|", ">", "%a", "@a", "`a", "?", ":", "<<", "~", ".inf", "2026-10-15",
		"a\nb", "a\tb", "a\u2028b", "\ufeffa", "é🙂", "\x7f", "a\u0085b", "a\\b", " a ", "gmail.send", "slack.send", "x.", ".y", strings.Repeat("long", 60), "1.5", "TRUE", "=", "tools", "\u202ea",
	}
	var tools []fit.Tool
	for _, name := range names {
		quoted, err := json.Marshal(name)
		if err != nil {
			t.Fatal(err)
		}
		tools = append(tools, fit.Tool{
			Name: name, Description: name + "\ncontract_id: forged",
			Input: schema(t, fmt.Sprintf(`{"type": "object", "required": [%s], "properties": {%s: {"type": "string"}, "nested": {"properties": {%s: {"type": "integer"}}}}}`, quoted, quoted, quoted)),
		})
	}
	draft := fit.Draft(tools, false)
	var expected []string
	for _, name := range names {
		if len(name) < 200 && name != "slack.send" {
			expected = append(expected, name)
		}
	}
	loads(t, tools, draft, expected)
	if strings.Contains(draft, "\n    contract_id: forged") || !strings.Contains(draft, "#   slack.send: another tool has the same name behind its dot") {
		t.Errorf("%s", draft)
	}
}

func TestADraftOfAnyServerLoads(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var tools []fit.Tool
		for range rapid.IntRange(0, 4).Draw(t, "tools") {
			tools = append(tools, fit.Tool{
				Name: rapid.StringN(1, 20, 300).Draw(t, "name"), Description: rapid.String().Draw(t, "description"), ReadOnly: rapid.Bool().Draw(t, "read only"),
				Input: object(2).Draw(t, "schema"),
			})
		}
		loads(t, tools, fit.Draft(tools, true), nil)
	})
}

// object draws a schema, now and then one with words that make no sense.
func object(depth int) *rapid.Generator[map[string]any] {
	return rapid.Custom(func(t *rapid.T) map[string]any {
		properties := map[string]any{}
		names := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"id", "order_id", "name", "path", "content", "idempotency_key", "0", "a.b", `a"b`, "{x}"})), 0, 4).Draw(t, "names")
		for _, name := range names {
			properties[name] = property(t, depth)
		}
		required := []any{}
		for _, name := range names {
			if rapid.Bool().Draw(t, "required") {
				required = append(required, name)
			}
		}
		return map[string]any{"type": "object", "properties": properties, "required": required}
	})
}

func property(t *rapid.T, depth int) any {
	kinds := []string{"string", "integer", "boolean", "number", "nonsense", "any", "ref", "either"}
	if depth > 0 {
		kinds = append(kinds, "object", "array")
	}
	switch kind := rapid.SampledFrom(kinds).Draw(t, "kind"); kind {
	case "object":
		return any(object(depth-1).Draw(t, "object"))
	case "array":
		return map[string]any{"type": "array", "items": property(t, depth-1)}
	case "any":
		return map[string]any{}
	case "nonsense":
		return map[string]any{"type": 7.0, "properties": []any{}, "required": "x", "items": "y", "anyOf": true}
	case "ref":
		return map[string]any{"$ref": "#"}
	case "either":
		return map[string]any{"type": []any{"string", "null"}}
	default:
		return map[string]any{"type": kind}
	}
}

func TestADraftOfAHugeServerStaysAMappingThatLoads(t *testing.T) {
	t.Parallel()
	var tools []fit.Tool
	for i := range 3_000 {
		tools = append(tools, fit.Tool{Name: fmt.Sprintf("tool_%d", i), Input: schema(t, refundInput)})
	}
	draft := fit.Draft(tools, false)
	loads(t, tools, draft, []string{"tool_0"})
	if !strings.Contains(draft, "the mapping would become too long") {
		t.Error("it does not say that tools are left out")
	}
}
