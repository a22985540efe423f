package fit_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/deed-dev/deed/internal/intent/fit"
)

func schema(t testing.TB, text string) map[string]any {
	t.Helper()
	var input map[string]any
	if err := json.Unmarshal([]byte(text), &input); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return input
}

func parse(t testing.TB, label, text string) *intent.Mapping {
	t.Helper()
	m, err := intent.ParseFor("m.yaml", []byte(text), label)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

const refundInput = `{"type": "object", "required": ["order_id", "items"], "properties": {
	"order_id": {"type": "string"}, "amount": {"type": "number"}, "note": {"type": ["string", "null"]}, "when": {"type": "object", "properties": {"date": {"type": "string"}}},
	"items": {"type": "array", "items": {"$ref": "#/$defs/item"}}, "meta": {"type": "object"}, "labels": {"type": "object", "additionalProperties": {"type": "string"}},
	"how": {"anyOf": [{"type": "object", "properties": {"card": {"type": "string"}}}, {"type": "object", "properties": {"iban": {"type": "string"}}}]},
	"pair": {"type": "array", "prefixItems": [{"type": "string"}, {"type": "object"}]}, "tags": {"patternProperties": {"^x-": {"type": "string"}}, "additionalProperties": false}},
	"$defs": {"item": {"allOf": [{"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]}, {"properties": {"parent": {"$ref": "#/$defs/item"}}}]}}}`

// oneFinding is what is said about one mapped path.
func oneFinding(t *testing.T, input, key, path string) string {
	t.Helper()
	keys := fmt.Sprintf("subject: %q", path)
	if key != "subject" {
		keys = fmt.Sprintf("subject: arguments.order_id, %s: %q", key, path)
		if name, ok := strings.CutPrefix(key, "params."); ok {
			keys = fmt.Sprintf("subject: arguments.order_id, params: {%s: %q}", name, path)
		}
	}
	m := parse(t, "", "tools: {refund: {contract_id: c, "+keys+"}}")
	c := fit.CheckServer("m.yaml", m, "", []fit.Tool{{Name: "refund", Input: schema(t, input)}})
	var all []string
	for _, f := range c.Mapped[0].Findings {
		word := "note"
		if f.Misfit {
			word = "misfit"
		}
		all = append(all, word+": "+f.Message+"; "+f.Hint)
	}
	if c.Fits != !strings.Contains(strings.Join(all, ""), "misfit") {
		t.Errorf("fits is %t, findings %q", c.Fits, all)
	}
	return strings.Join(all, " | ")
}

func TestAMappedPathIsLookedForInTheSchema(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ key, path, want string }{
		{"subject", "arguments.order_id", ""},
		{"subject", "name", ""},
		{"subject", `_meta."io.x/y"`, ""},
		{"subject", "arguments.items.0.id", ""},
		{"subject", "arguments.items.0.parent.parent.id", "note: arguments.items.0.parent may be left out of a call, which is then not declared; "},
		{"subject", "arguments.orderid", "misfit: arguments.orderid is not in the tool's schema; did you mean arguments.order_id?"},
		{"subject", "arguments.note", "note: arguments.note may be left out of a call, which is then not declared; "},
		{"subject", "arguments.meta.anything", "note: arguments.meta may be left out of a call, which is then not declared; "},
		{"subject", "arguments.items", "misfit: arguments.items is an object or a list, and a text or a number is needed; "},
		{"subject", "arguments.when", "misfit: arguments.when is an object or a list, and a text or a number is needed; arguments.when has date"},
		{"subject", "order_id", "misfit: order_id is not in the params of tools/call; did you mean arguments.order_id?"},
		{"subject", "argument.order_id", "misfit: argument.order_id is not in the params of tools/call; did you mean arguments?"},
		{"subject", "params.x", "misfit: params.x is not in the params of tools/call; a path begins with arguments, name, _meta or another member of the params"},
		{"subject", "name.x", "misfit: name.x leads nowhere: the name is a text; "},
		{"params.v", "arguments.note", ""},
		{"params.v", "arguments.meta", ""},
		{"params.v", "arguments.when.date", ""},
		{"params.v", "arguments.when.dat", "misfit: arguments.when.dat is not in the tool's schema; did you mean arguments.when.date?"},
		{"params.v", "arguments.order_id.x", "misfit: arguments.order_id.x is not in the tool's schema; "},
		{"params.v", "arguments.labels.any", ""},
		{"params.v", "arguments.labels.any.more", "misfit: arguments.labels.any.more is not in the tool's schema; "},
		{"params.v", "arguments.how.iban", ""},
		{"params.v", "arguments.how.card", ""},
		{"params.v", "arguments.how.cash", "misfit: arguments.how.cash is not in the tool's schema; did you mean arguments.how.card?"},
		{"params.v", "arguments.pair.0", ""},
		{"params.v", "arguments.pair.1.x", ""},
		{"params.v", "arguments.tags.x-y", ""},
		{"params.v", "arguments.tags.y", "misfit: arguments.tags.y is not in the tool's schema; "},
		{"params.v", "arguments.items.0.name", "misfit: arguments.items.0.name is not in the tool's schema; arguments.items.0 has id, parent"},
		{"compensates", "arguments.note", ""},
		{"compensates", "arguments.when", "misfit: arguments.when is an object or a list, and a text or a number is needed; arguments.when has date"},
		{"action_id", "r:{arguments.note}", "note: arguments.note may be left out of a call, which is then not declared; "},
		{"action_id", "r:{arguments.ammount}", "misfit: arguments.ammount is not in the tool's schema; did you mean arguments.amount?"},
	} {
		if got := oneFinding(t, refundInput, test.key, test.path); got != test.want {
			t.Errorf("%s %s: %q, want %q", test.key, test.path, got, test.want)
		}
	}
}

// Nobody can know what a schema does not say.
func TestASchemaThatSaysNothingIsNoReasonToComplain(t *testing.T) {
	t.Parallel()
	for _, input := range []string{
		`{}`, `{"type": "object"}`, `{"$ref": "https://example.com/x.json"}`, `{"$ref": "#/nowhere"}`, `{"anyOf": [true, {"properties": {"x": {}}}]}`,
		`{"properties": {"x": {}}, "additionalProperties": true}`, `{"$ref": "#"}`, `{"patternProperties": {"[": {}}}`, `{"allOf": [{"$ref": "#/allOf/0"}]}`,
	} {
		if got := oneFinding(t, input, "params.v", "arguments.v.w"); strings.Contains(got, "misfit") {
			t.Errorf("%s: %s", input, got)
		}
	}
	for _, input := range []string{`{"type": "object", "properties": {}}`, `{"additionalProperties": false}`} {
		if got := oneFinding(t, input, "params.v", "arguments.v"); !strings.Contains(got, "misfit: arguments.v is not in the tool's schema") {
			t.Errorf("%s: %s", input, got)
		}
	}
}

func TestToolsOfTheServerAndOfTheMappingAreHeldAgainstEachOther(t *testing.T) {
	t.Parallel()
	const text = `tools:
  stripe.refund: {contract_id: r, subject: name}
  create_chrge: {contract_id: c, subject: name}
  zendesk.close: {contract_id: z, subject: name}
`
	offered := []fit.Tool{{Name: "list_orders", ReadOnly: true}, {Name: "refund"}, {Name: "void"}, {Name: "create_charge"}, {Name: "refund"}}
	c := fit.CheckServer("m.yaml", parse(t, "stripe", text), "stripe", offered)
	got := fmt.Sprint(c.Fits, " ", c.Server)
	for _, m := range c.Mapped {
		got += fmt.Sprintf("\n%s %s %q", m.Key, m.State, m.Tool)
		for _, f := range m.Findings {
			got += fmt.Sprintf(" %d:%d %s %s", f.Line, f.Column, f.Message, f.Hint)
		}
	}
	for _, u := range c.Unmapped {
		got += fmt.Sprintf("\nunmapped %s %t", u.Tool, u.ReadOnly)
	}
	want := `false stripe
stripe.refund offered "refund"
create_chrge missing "" 3:3 the server has no tool of this name did you mean create_charge?
zendesk.close other_server ""
unmapped create_charge false
unmapped void false
unmapped list_orders true`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	// Where no key names this server, one of another server is just missing.
	c = fit.CheckServer("m.yaml", parse(t, "", text), "shop", offered)
	if c.Mapped[2].State != fit.Missing {
		t.Errorf("zendesk.close is %s", c.Mapped[2].State)
	}
}

func TestTheExactKeyIsTheOneThatIsOffered(t *testing.T) {
	t.Parallel()
	m := parse(t, "", "tools:\n  refund: {contract_id: a, subject: name}\n  s.refund: {contract_id: b, subject: name}\n")
	c := fit.CheckServer("m.yaml", m, "", []fit.Tool{{Name: "refund"}})
	if c.Mapped[0].State != fit.Offered || c.Mapped[1].State != fit.Missing {
		t.Errorf("%+v", c.Mapped)
	}
}

func TestAFileAloneIsCheckedForKeysThatWereMeantOtherwise(t *testing.T) {
	t.Parallel()
	m := parse(t, "", "owner: me\ntools:\n  t: {contract_id: c, subject: name, actiontype: x}\n")
	c := fit.Check("m.yaml", m)
	if c.Fits || len(c.Findings) != 1 || c.Findings[0].Misfit || len(c.Mapped[0].Findings) != 1 || !c.Mapped[0].Findings[0].Misfit || c.Mapped[0].State != fit.NotAsked {
		t.Errorf("%+v", c)
	}
	if c = fit.Check("m.yaml", parse(t, "", "owner: me\ntools:\n  t: {contract_id: c, subject: name}\n")); !c.Fits {
		t.Errorf("%+v", c)
	}
}

func TestOfTwoToolsWithOneNameTheFirstCounts(t *testing.T) {
	t.Parallel()
	m := parse(t, "", "tools:\n  pay: {contract_id: a, subject: arguments.id}\n")
	first, second := fit.Tool{Name: "pay", Input: schema(t, `{"properties": {"id": {"type": "string"}}}`)}, fit.Tool{Name: "pay", Input: schema(t, `{"properties": {}}`)}
	if c := fit.CheckServer("m.yaml", m, "", []fit.Tool{first, second}); !c.Fits {
		t.Errorf("%+v", c)
	}
	if c := fit.CheckServer("m.yaml", m, "", []fit.Tool{second, first}); c.Fits {
		t.Errorf("%+v", c)
	}
}
