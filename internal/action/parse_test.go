package action_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/value"
)

const noon = value.Instant(1_793_620_800_000_000) // 2026-11-02T12:00:00Z

func parsed(t testing.TB, body string) *action.Declaration {
	t.Helper()
	d, err := action.Parse([]byte(body))
	if err != nil {
		t.Fatalf("%v in %s", err, body)
	}
	return d
}

func TestADeclarationIsReadAsItWasSent(t *testing.T) {
	t.Parallel()
	body := `{"action_id": "refund-o-1001", "contract_id": "refund_workflow", "contract_version": 3, "subject_id": "o-1001", "subject_kind": "order",
		"action_type": "refund_order", "agent_id": "support-bot", "workflow_id": "refunds", "requested_at": "2026-11-02T13:00:00+01:00",
		"params": {"amount": 180.00, "currency": "usd", "big": 12345678901234567890.10, "none": null, "when": {"time": "2026-11-02T12:00:00Z"}},
		"channel": "mcp", "compensates": "refund-o-1000"}`
	d := parsed(t, body)
	if string(d.Body) != body {
		t.Error("the body was changed")
	}
	if len(d.Warnings) > 0 {
		t.Errorf("warned of %v", d.Warnings)
	}
	if d.ActionID != "refund-o-1001" || d.ContractID != "refund_workflow" || d.ContractVersion != 3 || d.SubjectID != "o-1001" || d.SubjectKind != "order" ||
		d.ActionType != "refund_order" || d.AgentID != "support-bot" || d.WorkflowID != "refunds" || d.RequestedAt != noon ||
		d.Channel != "mcp" || d.Compensates != "refund-o-1000" || d.ReceivedAt != 0 {
		t.Errorf("read %+v", d.Declaration)
	}
	for name, want := range map[string]string{"amount": "180.00", "currency": `"usd"`, "big": "12345678901234567890.10", "when": `{"time":"2026-11-02T12:00:00Z"}`} {
		if got, err := d.Params[name].AppendJSON(nil); err != nil || string(got) != want {
			t.Errorf("params.%s is %s, want %s", name, got, want)
		}
	}
	if _, there := d.Params["none"]; there || len(d.Params) != 4 {
		t.Errorf("a null parameter is there: %v", d.Params)
	}
}

func TestWhatCannotBeReadIsRefusedWithTheMemberThatIsWrong(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 600)
	for name, test := range map[string]struct{ body, field, message string }{
		"a list":                      {`[]`, "", "a declaration is a JSON object"},
		"nothing":                     {``, "", "this is not JSON: it ends too early"},
		"half of it":                  {`{"contract_id": "c"`, "", "this is not JSON: it ends too early"},
		"no JSON":                     {`{"contract_id": c}`, "contract_id", "this is not JSON"},
		"two of them":                 {`{"contract_id": "c"} {}`, "", "there is something after the declaration"},
		"a member twice":              {`{"contract_id": "c", "contract_id": "d"}`, "contract_id", "the member is there twice"},
		"a member twice, in params":   {`{"contract_id": "c", "params": {"a": 1, "a": 2}}`, "params.a", "the member is there twice"},
		"a number for a text":         {`{"contract_id": 7}`, "contract_id", "has to be a text, not a number"},
		"an object for a text":        {`{"contract_id": "c", "agent_id": {}}`, "agent_id", "has to be a text, not an object"},
		"a text for a number":         {`{"contract_id": "c", "contract_version": "3"}`, "contract_version", "has to be a number, not a text"},
		"half a version":              {`{"contract_id": "c", "contract_version": 3.5}`, "contract_version", "has to be a whole number from 1"},
		"a time without a zone":       {`{"contract_id": "c", "requested_at": "2026-11-02T12:00:00"}`, "requested_at", "a time needs a zone, such as 2026-11-02T12:00:00Z"},
		"no time":                     {`{"contract_id": "c", "requested_at": "yesterday"}`, "requested_at", "is no time; write it as in 2026-11-02T12:00:00Z"},
		"a list of params":            {`{"contract_id": "c", "params": []}`, "params", "has to be an object, not a list"},
		"params that are too long":    {`{"contract_id": "c", "params": {"a": "` + strings.Repeat("x", 65_528) + `"}}`, "params", "has 65537 bytes, at most 65536 are taken"},
		"an action id too long":       {`{"contract_id": "c", "action_id": "` + long + `"}`, "action_id", "has 600 bytes, at most 512 are taken"},
		"a contract id too long":      {`{"contract_id": "` + long[:257] + `"}`, "contract_id", "has 257 bytes, at most 256 are taken"},
		"a channel too long":          {`{"contract_id": "c", "channel": "` + long[:65] + `"}`, "channel", "has 65 bytes, at most 64 are taken"},
		"a server's own id":           {`{"contract_id": "c", "action_id": "act_01kb3fz8s0q7m2x5v9c4e6t8wr"}`, "action_id", "has the form of the server's own ids; leave it out to get one"},
		"an endpoint's own name":      {`{"contract_id": "c", "action_id": "pending"}`, "action_id", `"pending" names something else in a path; take another id`},
		"this folder":                 {`{"contract_id": "c", "action_id": "."}`, "action_id", `"." names something else in a path; take another id`},
		"the folder above":            {`{"contract_id": "c", "action_id": ".."}`, "action_id", `".." names something else in a path; take another id`},
		"control characters":          {`{"contract_id": "c", "action_id": "a\u001b[31m"}`, "action_id", "has control characters"},
		"a character that no text is": {`{"contract_id": "c", "agent_id": "a\u0000"}`, "agent_id", "has a character U+0000, which no text may have"},
		"no UTF-8":                    {"{\"contract_id\": \"\xff\"}", "contract_id", "this is not JSON"},
		"about nothing":               {`{"agent_id": "a"}`, "", "at least one of contract_id, action_type and subject_id must be there"},
		"null for what it is about":   {`{"contract_id": null}`, "", "at least one of contract_id, action_type and subject_id must be there"},
		"everything":                  {`{"contract_id": "c", "extra": "` + strings.Repeat("x", 256<<10) + `"}`, "", "has 262177 bytes, at most 262144 are taken"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := action.Parse([]byte(test.body))
			invalid, is := errors.AsType[*action.InvalidError](err)
			if !is || access.CodeOf(err) != access.InvalidRequest {
				t.Fatalf("the error is %v", err)
			}
			got := invalid.Problems[0]
			if got.Field != test.field || !strings.HasPrefix(got.Message, test.message) {
				t.Errorf("%q is wrong because it %s, want %q: %s", got.Field, got.Message, test.field, test.message)
			}
		})
	}
}

func TestAllThatIsWrongIsToldAtOnce(t *testing.T) {
	t.Parallel()
	_, err := action.Parse([]byte(`{"contract_id": 7, "agent_id": [], "requested_at": "soon"}`))
	invalid, is := errors.AsType[*action.InvalidError](err)
	if !is || len(invalid.Problems) != 3 {
		t.Errorf("the error is %v, want three problems", err)
	}
}

func TestWhatIsOddIsKeptAndWarnedOf(t *testing.T) {
	t.Parallel()
	d := parsed(t, `{"contract_id": "c", "colour": {"deep": [1]}, "params": {"amount": 1, "odd": {"a": 1}, "odder": [[{"b": 2}]]}, "agent_id": null}`)
	var got []string
	for _, w := range d.Warnings {
		got = append(got, fmt.Sprintf("%s %s", w.Code, w.Field))
	}
	want := "[unknown_field colour unreadable_param params.odd unreadable_param params.odder]"
	if fmt.Sprint(got) != want {
		t.Errorf("warned of %v, want %s", got, want)
	}
	if len(d.Params) != 1 || d.AgentID != "" {
		t.Errorf("read %v by %q, want the amount alone by nobody", d.Params, d.AgentID)
	}
}

func TestTwoHundredParametersAreTakenAndOneMoreIsNot(t *testing.T) {
	t.Parallel()
	with := func(n int) string {
		params := map[string]int{}
		for i := range n {
			params[fmt.Sprint("p", i)] = i
		}
		text, err := json.Marshal(map[string]any{"contract_id": "c", "params": params})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	parsed(t, with(200))
	_, err := action.Parse([]byte(with(201)))
	if err == nil || err.Error() != "params: has 201 members, at most 200 are taken" {
		t.Errorf("the error is %v", err)
	}
}

func TestABatchIsReadWholeBeforeAnythingIsRecorded(t *testing.T) {
	t.Parallel()
	all, err := action.ParseBatch([]byte(`{"actions": [{"action_id": "a", "contract_id": "c", "extra": 1}, {"subject_id": "o-1"}]}`))
	if err != nil || len(all) != 2 || all[0].ActionID != "a" || len(all[0].Warnings) != 1 || all[1].SubjectID != "o-1" || all[1].ActionID != "" {
		t.Fatalf("read %v, %v", all, err)
	}
	if string(all[1].Body) != `{"subject_id": "o-1"}` {
		t.Errorf("the second body is %s", all[1].Body)
	}
	_, err = action.ParseBatch([]byte(`{"actions": [{"requested_at": "2026-11-02T12:00:00", "contract_id": "c"}, {"contract_id": "c"}, {"agent_id": "a"}]}`))
	invalid, is := errors.AsType[*action.InvalidError](err)
	if !is {
		t.Fatalf("the error is %v", err)
	}
	if got, want := err.Error(), "2 of 3 actions cannot be recorded, so none was"; got != want {
		t.Errorf("the error says %s, want %s", got, want)
	}
	if got, want := fmt.Sprint(invalid.Problems), "[{0 requested_at a time needs a zone, such as 2026-11-02T12:00:00Z} {2  at least one of contract_id, action_type and subject_id must be there}]"; got != want {
		t.Errorf("the problems are %s, want %s", got, want)
	}
}

func TestABatchHasOneToAThousandDeclarationsAndNothingElse(t *testing.T) {
	t.Parallel()
	for body, message := range map[string]string{
		`{"actions": []}`: "actions: has 0 declarations; a batch has 1 to 1000",
		`{"actions": [` + strings.Repeat(`{"contract_id": "c"},`, 1000) + `{"contract_id": "c"}]}`: "actions: has 1001 declarations; a batch has 1 to 1000",
		`{}`:                                "actions: is missing",
		`{"actions": {}}`:                   "actions: has to be a list of declarations",
		`{"actions": [{}], "dry": true}`:    "dry: there is no such member beside actions",
		`{"actions": [{"contract_id": "c"}`: "this is not JSON: it ends too early",
	} {
		if _, err := action.ParseBatch([]byte(body)); err == nil || err.Error() != message {
			t.Errorf("of %.40s… the error is %v, want %s", body, err, message)
		}
	}
}

// Whatever comes is read or refused, and what is read is what was sent.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"action_id": "a", "contract_id": "c", "params": {"amount": 180.00, "at": {"time": "2026-11-02T12:00:00Z"}}, "requested_at": "2026-11-02T12:00:00Z"}`))
	f.Add([]byte(`{"subject_id": "o", "params": null, "extra": [1, {"a": "\ud800"}]}`))
	f.Add([]byte(`{"actions": [{"contract_id": "c"}, 7]}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		d, err := action.Parse(body)
		if (d == nil) == (err == nil) {
			t.Fatalf("neither or both: %v, %v", d, err)
		}
		if err != nil {
			if !errors.As(err, new(*action.InvalidError)) {
				t.Fatalf("an error of another kind: %v", err)
			}
			return
		}
		if v := jsontext.Value(d.Body); !v.IsValid() || v.Kind() != jsontext.KindBeginObject {
			t.Fatalf("read what is no object: %s", body)
		}
		if d.ContractID == "" && d.ActionType == "" && d.SubjectID == "" || action.IsRef(d.ActionID) {
			t.Fatalf("read %+v", d.Declaration)
		}
		if _, err := action.ParseBatch(body); err == nil && d.ContractID != "" {
			t.Log("a declaration and a batch at once")
		}
	})
}
