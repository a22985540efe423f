package docket_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/docket"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/value"
)

func TestActionsAreReadAsAgentsSendThem(t *testing.T) {
	t.Parallel()
	declarations, warnings, err := docket.ReadActions("actions.jsonl", strings.NewReader(`
{"action_id":"refund:o-1","contract_id":"refunds","subject_id":"o-1","subject_kind":"order","action_type":"refund_order","agent_id":"bot","workflow_id":"w","requested_at":"2026-11-02T12:00:00Z","received_at":"2026-11-02T12:00:01Z","params":{"amount":180.0,"currency":"USD","mcp_request_id":"7"},"channel":"mcp"}

{"action_id":"r-2","received_at":"2026-11-02T13:00:00+01:00","params":{"items":{"a":1},"ok":true},"shoe_size":43,"journal_proof":"aGk="}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(declarations) != 2 {
		t.Fatalf("%d actions were read", len(declarations))
	}
	first, second := declarations[0], declarations[1]
	if first.ActionID != "refund:o-1" || first.RequestedAt != noon || first.ReceivedAt != at(time.Second) || first.Channel != "mcp" || first.SubjectKind != "order" {
		t.Errorf("the first action is %+v", first)
	}
	// 180.0 keeps the decimals of its text.
	if got, _ := first.Params["amount"].AppendJSON(nil); string(got) != "180.0" {
		t.Errorf("the amount is %s", got)
	}
	if second.ReceivedAt != noon || !value.Same(second.Params["ok"], value.OfBool(true)) {
		t.Errorf("the second action is %+v", second)
	}
	if _, there := second.Params["items"]; there {
		t.Error("an object without meaning became a parameter")
	}
	want := []string{"params.items of action r-2 was left out", "unknown field journal_proof in 1 of 2 actions", "unknown field shoe_size in 1 of 2 actions"}
	if len(warnings) != len(want) {
		t.Fatalf("the warnings are %q", warnings)
	}
	for i := range want {
		if !strings.HasPrefix(warnings[i], want[i]) {
			t.Errorf("warning %q does not begin with %q", warnings[i], want[i])
		}
	}
}

func TestWhatCannotBeReadIsNamedWithFileLineAndKey(t *testing.T) {
	t.Parallel()
	actions := func(text string) error {
		_, _, err := docket.ReadActions("a.jsonl", strings.NewReader(text))
		return err
	}
	facts := func(text string) error {
		_, err := docket.ReadFacts("f.jsonl", strings.NewReader(text))
		return err
	}
	sources := func(text string) error {
		_, err := docket.ReadSources("w.json", strings.NewReader(text))
		return err
	}
	const fact = `{"source":"stripe","external_id":"re_1","type":"refund.succeeded","occurred_at":"2026-11-02T12:00:00Z"}`
	for _, test := range []struct {
		name string
		err  error
		want string
	}{
		{"an action without an id", actions(`{"received_at":"2026-11-02T12:00:00Z"}`), "a.jsonl:1: action_id: is missing"},
		{"an action that nobody received", actions("\n" + `{"action_id":"r-1"}`), "a.jsonl:2: received_at: is missing"},
		{"a time without a zone", actions(`{"action_id":"r-1","received_at":"2026-11-02T12:00:00"}`), `a.jsonl:1: received_at: time "2026-11-02T12:00:00" names no zone`},
		{"a text where a number is wanted", actions(`{"action_id":"r-1","contract_version":"x"}`), "a.jsonl:1: contract_version: "},
		{"a key twice", actions(`{"action_id":"r-1","action_id":"r-2"}`), "a.jsonl:1: action_id: the key is there twice"},
		{"half a line", actions(`{"action_id":"r-1",`), "a.jsonl:1: this is not JSON"},
		{"a line without end", actions(strings.Repeat("x", 1<<20)), "a.jsonl:1: the line is longer than 1048576 bytes"},
		{"a fact without a time", facts(`{"source":"stripe","external_id":"re_1","type":"refund.succeeded"}`), "f.jsonl:1: occurred_at: is missing"},
		{"a fact with a key that facts do not have", facts(fact + "\n" + strings.Replace(fact, `"type"`, `"kind"`, 1)), "f.jsonl:2: kind: there is no such key"},
		{"a fact with an attribute of no kind", facts(strings.Replace(fact, "{", `{"attrs":{"amount":{"value":3}},`, 1)), "f.jsonl:1: attrs.amount.value: an object here is"},
		{"a fact of no mode", facts(strings.Replace(fact, "{", `{"mode":"maybe",`, 1)), `f.jsonl:1: mode: "maybe" is neither event nor state`},
		{"a source of no trust that is known", sources(`{"sources":[{"name":"stripe","trust":"much"}]}`), `w.json: sources.0.trust: trust "much" is not one of`},
		{"a source that does not say its trust", sources(`{"sources":[{"name":"stripe"}]}`), "w.json: sources.0.trust: is missing"},
		{"a source twice", sources(`{"sources":[{"name":"a","trust":"attested"},{"name":"a","trust":"attested"}]}`), "w.json: sources.1.name: the source a is there twice"},
	} {
		var input *docket.InputError
		if !errors.As(test.err, &input) || !strings.HasPrefix(test.err.Error(), test.want) {
			t.Errorf("%s fails with\n%v\nwant\n%s…", test.name, test.err, test.want)
		}
	}
}

func TestSourcesAreReadWithTheirWatermarks(t *testing.T) {
	t.Parallel()
	sources, err := docket.ReadSources("w.json", strings.NewReader(`{"sources":[
		{"name":"stripe","trust":"independent","provides":["refund.succeeded"],"resolution":"1ms","watermarks":{"refund.succeeded":"2026-11-02T12:00:00Z"}}]}`))
	if err != nil || len(sources) != 1 {
		t.Fatal(sources, err)
	}
	if s := sources[0]; s.Trust != evidence.Independent || s.Unit() != time.Millisecond || s.Watermark("refund.succeeded") != noon {
		t.Errorf("the source is %+v", s)
	}
}
