package intent_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/deed-dev/deed/internal/intent"
)

// mapped is a mapping of the tool t with one param v, as JSON.
func mapped(keys string) string {
	return fmt.Sprintf(`{"tools": {"t": {"contract_id": "c", "subject": "arguments.s", %s}}}`, keys)
}

func TestValuesKeepTheirSpelling(t *testing.T) {
	t.Parallel()
	m := parse(t, mapped(`"params": {"v": "arguments.v"}`))
	for _, value := range []string{
		"180.0", "12345678901234567890", "0.1000000000000000055511151231257827", "-0", "1E400", "true", "null", `""`, `"a\u00e9\/b"`,
		`{"amount": 1.50, "currency":"USD"}`, "[1, 2.0]", `"` + "é🙂" + `"`,
	} {
		got := declare(t, m, call(t, "t", `{"arguments":{"s":"x","v":`+value+`}}`))
		if want := `"params":{"v":` + value + `,"mcp_tool"`; !strings.Contains(string(got.Body), want) {
			t.Errorf("%s became %s", value, got.Body)
		}
	}
}

func TestAStringThatIsNoTextIsSpelledSoThatTheServerCanReadIt(t *testing.T) {
	t.Parallel()
	m := parse(t, mapped(`"params": {"v": "arguments.v"}`))
	for given, want := range map[string]string{
		`"\ud800"`: `"\\ud800"`, "\"\xff\"": `"\\xff"`, "\"a\tb\"": `"a\tb"`,
	} {
		got := declare(t, m, call(t, "t", `{"arguments":{"s":"x","v":`+given+`}}`))
		if !strings.Contains(string(got.Body), `"params":{"v":`+want+`,`) {
			t.Errorf("%q became %s", given, got.Body)
		}
	}
}

func TestASubjectIsATextANumberOrTrueOrFalse(t *testing.T) {
	t.Parallel()
	m := parse(t, mapped(`"action_id": "{arguments.s}-{name}"`))
	for given, want := range map[string]string{
		`"o-1"`: "o-1", "180.0": "180.0", "12345678901234567890": "12345678901234567890", "true": "true", "false": "false", "0": "0",
		`"\u00e9"`: "é", `" "`: " ", `"a\"b"`: `a"b`,
	} {
		got := declare(t, m, call(t, "t", `{"name":"t","arguments":{"s":`+given+`}}`))
		if got.SubjectID != want || got.ActionID != want+"-t" {
			t.Errorf("%s: subject %q, id %q; want %q", given, got.SubjectID, got.ActionID, want)
		}
	}
}

func TestAPathLeadsThroughObjectsListsAndQuotedNames(t *testing.T) {
	t.Parallel()
	const params = `{"name":"t","_meta":{"progressToken":9,"io.example/trace":"w-1"},"arguments":{"s":"x","items":[{"id":"a"},{"id":"b","0":"zero"}],"a.b":{"c\"d":1},"é":2,"01":3}}`
	for path, want := range map[string]string{
		"name": `"t"`, "_meta.progressToken": "9", `_meta."io.example/trace"`: `"w-1"`, "arguments.items.0.id": `"a"`, "arguments.items.1.id": `"b"`,
		"arguments.items.1.0": `"zero"`, `arguments."a.b"."c\"d"`: "1", "arguments.é": "2", `"arguments"."\u0065"`: "", "arguments.01": "3",
		"arguments.items.00.id": "", "arguments.items.2.id": "", "arguments.items.-1.id": "", "arguments.s.x": "", "arguments.items.id": "", "Arguments.s": "",
	} {
		m := parse(t, mapped(fmt.Sprintf(`"params": {"v": %q}`, path)))
		got := declare(t, m, call(t, "t", params))
		_, found, _ := strings.Cut(string(got.Body), `"params":{`)
		value, _, _ := strings.Cut(found, `,"mcp_request_id"`)
		value = strings.TrimPrefix(strings.TrimSuffix(strings.TrimSuffix(value, `"mcp_tool":"t"`), ","), `"v":`)
		if value != want {
			t.Errorf("%s leads to %q, want %q", path, value, want)
		}
	}
}

func TestAnEscapedNameIsTheSameName(t *testing.T) {
	t.Parallel()
	got := declare(t, parse(t, mapped(`"params": {"v": "arguments.v"}`)), call(t, "t", `{"argument\u0073":{"\u0073":"x","v":1}}`))
	if got.SubjectID != "x" || !strings.Contains(string(got.Body), `{"v":1,`) {
		t.Errorf("body %s", got.Body)
	}
}

func TestWhyACallCannotBeDeclared(t *testing.T) {
	t.Parallel()
	m := parse(t, mapped(`"params": {"v": "arguments.v", "deep": "arguments.a.b"}, "action_id": "r:{arguments.id}", "compensates": "arguments.c"`))
	long := strings.Repeat("x", 513)
	for _, test := range []struct {
		name, params string
		reason       intent.Reason
		path         string
	}{
		{"no arguments", `{"name":"t"}`, intent.NoSubject, "arguments.s"},
		{"no subject", `{"arguments":{"id":1}}`, intent.NoSubject, "arguments.s"},
		{"a subject of null", `{"arguments":{"id":1,"s":null}}`, intent.NoSubject, "arguments.s"},
		{"an empty subject", `{"arguments":{"id":1,"s":""}}`, intent.NoSubject, "arguments.s"},
		{"an object as subject", `{"arguments":{"id":1,"s":{"a":1}}}`, intent.NotScalar, "arguments.s"},
		{"a list as subject", `{"arguments":{"id":1,"s":["a"]}}`, intent.NotScalar, "arguments.s"},
		{"a long subject", `{"arguments":{"id":1,"s":"` + long[:257] + `"}}`, intent.TooLong, "arguments.s"},
		{"no placeholder", `{"arguments":{"s":"x"}}`, intent.NoPlaceholder, "arguments.id"},
		{"a placeholder of null", `{"arguments":{"s":"x","id":null}}`, intent.NoPlaceholder, "arguments.id"},
		{"an empty placeholder", `{"arguments":{"s":"x","id":""}}`, intent.NoPlaceholder, "arguments.id"},
		{"an object as placeholder", `{"arguments":{"s":"x","id":{}}}`, intent.NotScalar, "arguments.id"},
		{"a long id", `{"arguments":{"s":"x","id":"` + long + `"}}`, intent.TooLong, "action_id"},
		{"a line end in the id", `{"arguments":{"s":"x","id":"a\nb"}}`, intent.BadActionID, ""},
		{"an object as compensation", `{"arguments":{"s":"x","id":1,"c":{}}}`, intent.NotScalar, "arguments.c"},
		{"a long compensation", `{"arguments":{"s":"x","id":1,"c":"` + long + `"}}`, intent.TooLong, "arguments.c"},
		{"the subject twice", `{"arguments":{"s":"x","s":"x","id":1}}`, intent.Twice, "arguments.s"},
		{"a parameter twice", `{"arguments":{"s":"x","id":1,"v":1,"v":2}}`, intent.Twice, "arguments.v"},
		{"the arguments twice", `{"arguments":{},"arguments":{"s":"x","id":1}}`, intent.Twice, "arguments"},
		{"the arguments twice, once escaped", `{"arguments":{"s":"x","id":1},"argument\u0073":{"s":"y"}}`, intent.Twice, "arguments"},
		{"the arguments twice, once not an object", `{"arguments":{"s":"x","id":1},"arguments":0}`, intent.Twice, "arguments"},
		{"the name twice", `{"name":"t","name":"u","arguments":{"s":"x","id":1}}`, intent.Twice, "name"},
		{"what a path leads through twice", `{"arguments":{"s":"x","id":1,"a":{"b":1},"a":{}}}`, intent.Twice, "arguments.a"},
		{"a key twice within a value", `{"arguments":{"s":"x","id":1,"v":{"k":1,"k":2}}}`, intent.Twice, "arguments.v"},
		{"a long value", `{"arguments":{"s":"x","id":1,"v":"` + strings.Repeat("x", 65<<10) + `"}}`, intent.TooLong, "arguments.v"},
		{"long values together", `{"arguments":{"s":"x","id":1,"v":"` + strings.Repeat("x", 40<<10) + `","a":{"b":"` + strings.Repeat("x", 40<<10) + `"}}}`, intent.TooLong, "params"},
		{"no JSON", `{"arguments":{"s":"x","id":1}`, intent.Unreadable, ""},
		{"no object", `["arguments"]`, intent.Unreadable, ""},
		{"nothing", ``, intent.Unreadable, ""},
		{"more than an object", `{"arguments":{"s":"x","id":1}} {}`, intent.Unreadable, ""},
		{"a number that is none", `{"arguments":{"s":"x","id":01}}`, intent.Unreadable, "arguments.id"},
		{"a value that is no JSON", `{"arguments":{"s":"x","id":1,"v":[01]}}`, intent.Unreadable, "arguments.v"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			in, err := m.Intent(call(t, "t", test.params))
			var why *intent.NotDeclarable
			if !errors.As(err, &why) {
				t.Fatalf("declared %s, error %v", in.Body, err)
			}
			if why.Reason != test.reason || why.Path != test.path {
				t.Errorf("%s at %q, want %s at %q", why.Reason, why.Path, test.reason, test.path)
			}
			if message := err.Error(); message == string(why.Reason) || len(message) > 200 || !strings.Contains(message, test.path) {
				t.Errorf("it is told as %q", message)
			}
		})
	}
}

func TestAKeyThatStandsTwiceElsewhereIsNoHindrance(t *testing.T) {
	t.Parallel()
	got := declare(t, parse(t, mapped(`"params": {"v": "arguments.v"}`)), call(t, "t", `{"x":1,"x":2,"arguments":{"s":"x","y":{"s":1},"y":3}}`))
	if got.SubjectID != "x" {
		t.Errorf("subject %q", got.SubjectID)
	}
}

func TestACallWithoutARequestIDIsNotDeclared(t *testing.T) {
	t.Parallel()
	for _, id := range []string{"", "null", " null "} {
		c := call(t, "refund_payment", `{"arguments":{"order_id":"o-1"}}`)
		c.RequestID = []byte(id)
		_, err := parse(t, refunds).Intent(c)
		var why *intent.NotDeclarable
		if !errors.As(err, &why) || why.Reason != intent.NoRequestID {
			t.Errorf("%q: error %v", id, err)
		}
	}
}

func TestAToolThatIsNotMappedIsNotDeclared(t *testing.T) {
	t.Parallel()
	_, err := parse(t, refunds).Intent(call(t, "refund_payments", `{"arguments":{"order_id":"o-1"}}`))
	var why *intent.NotDeclarable
	if !errors.As(err, &why) || why.Reason != intent.Unmapped {
		t.Errorf("error %v", err)
	}
}

func TestAnIDMayNotLookLikeOneOfTheServersOwn(t *testing.T) {
	t.Parallel()
	m := parse(t, mapped(`"action_id": "act_{arguments.id}"`))
	for id, refused := range map[string]bool{
		"01kb3fz8s0q7m2x5v9c4e6t8wr": true, "01kb3fz8s0q7m2x5v9c4e6t8w": false, "01kb3fz8s0q7m2x5v9c4e6t8wrr": false, "01KB3FZ8S0Q7M2X5V9C4E6T8WR": false,
	} {
		_, err := m.Intent(call(t, "t", `{"arguments":{"s":"x","id":"`+id+`"}}`))
		if (err != nil) != refused {
			t.Errorf("act_%s: error %v", id, err)
		}
	}
}

func TestTheLimitsThemselvesAreAllowed(t *testing.T) {
	t.Parallel()
	m := parse(t, mapped(`"action_id": "r:{arguments.id}", "compensates": "arguments.c"`))
	subject, id, other := strings.Repeat("s", 256), strings.Repeat("i", 510), strings.Repeat("c", 512)
	got := declare(t, m, call(t, "t", `{"arguments":{"s":"`+subject+`","id":"`+id+`","c":"`+other+`"}}`))
	if len(got.ActionID) != 512 || len(got.SubjectID) != 256 || !strings.Contains(string(got.Body), other) {
		t.Errorf("lengths %d and %d", len(got.ActionID), len(got.SubjectID))
	}
}

func TestAMillionLevelsOfNestingAreJustALongCall(t *testing.T) {
	t.Parallel()
	const levels = 1_000_000
	m := parse(t, mapped(`"params": {"v": "arguments.v.0.0"}`))
	params := `{"arguments":{"s":"x","deep":` + strings.Repeat("[", levels) + strings.Repeat("]", levels) + `}}`
	if got := declare(t, m, call(t, "t", params)); got.SubjectID != "x" {
		t.Errorf("subject %q", got.SubjectID)
	}
}
