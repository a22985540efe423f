package intent_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/go-json-experiment/json/jsontext"
)

// FuzzParse holds that whatever stands in a file, it is read or its problems
// are told with their places, and that what is read can be used.
func FuzzParse(f *testing.F) {
	example, err := os.ReadFile("../../examples/coinbase.json")
	if err != nil {
		f.Fatal(err)
	}
	for _, seed := range []string{
		refunds, refundsYAML, string(example), "", "{", "- a", "tools: &a\n  <<: *a\n", "a: [[[[", "tools:\n  t: {<<: [*x, *y]}", "? a\n: b", "a: !!x b", "%YAML 1.1\n---\n",
		tool(`contract_id: c` + "\n" + `subject: _meta."a\"b".0` + "\n" + `action_id: 'a{name}b{arguments."x}y"}'`), "\xff", "a: |\n  b\n c: >-\n", "\ufeff{}", "a:\r\rb: c", "{\"tools\":{\"a\":",
	} {
		f.Add("m.yaml", seed)
		f.Add("m", seed)
	}
	c := call(f, "t", `{"name":"t","arguments":{"order_id":"o-1"}}`)
	f.Fuzz(func(t *testing.T, name, text string) {
		began := time.Now()
		m, err := intent.Parse(name, []byte(text))
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%d bytes took %s", len(text), took)
		}
		var wrong *intent.MappingError
		switch {
		case err == nil:
		case !errors.As(err, &wrong) || len(wrong.Problems) == 0:
			t.Fatalf("error %#v", err)
		default:
			lines := strings.Count(text, "\n") + strings.Count(text, "\r") + 2
			for _, p := range wrong.Problems {
				if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" {
					t.Errorf("a problem of a text of %d lines: %+v", lines, p)
				}
			}
			return
		}
		for _, mapped := range m.Tools() {
			if found, ok := m.Tool(mapped.Key); !ok || found.Key != mapped.Key {
				t.Errorf("%q is not found", mapped.Key)
			}
			c.Tool = mapped.Key
			in, err := m.Intent(c)
			var why *intent.NotDeclarable
			switch {
			case err != nil && !errors.As(err, &why):
				t.Errorf("error %v", err)
			case err == nil && !jsontext.Value(in.Body).IsValid():
				t.Errorf("body %q", in.Body)
			}
		}
	})
}

// hostile has a path of every kind.
const hostile = `{"agent_id": "a", "tools": {"t": {
	"contract_id": "c", "subject": "arguments.s", "action_id": "i:{arguments.items.0.id}:{_meta.\"io.x/y\"}", "compensates": "arguments.c",
	"params": {"v": "arguments.v", "whole": "arguments", "second": "arguments.items.1", "zero": "arguments.\"0\"", "deep": "a.b.c.d"}}}}`

// FuzzIntent holds that a declaration is strict JSON within the server's
// limits, and says what a reader that knows nothing of this package sees.
func FuzzIntent(f *testing.F) {
	for _, seed := range []string{
		`{"name":"t","arguments":{"s":"x","items":[{"id":1}],"v":180.0},"_meta":{"io.x/y":"z"}}`,
		`{"arguments":{"s":1e5,"items":[{"id":"a"},{}],"0":null,"c":"\ud800"},"_meta":{"io.x/y":true},"a":{"b":{"c":{"d":[]}}}}`,
		`{"arguments":{"s":"x","s":"y"}}`, `{"argument\u0073":{"s":"\"","items":[{"id":"\n"}]},"_meta":{"io.x\/y":1}}`, `[[[[`, "\xff", `{"arguments":{"s":01}}`,
		`{"arguments":{"s":"x","items":[{"id":1}],"v":{"a":1,"a":2}},"_meta":{"io.x/y":"z"}}`, `{"arguments":{"s":"x","v":"` + "\x01" + `"}}`,
	} {
		f.Add([]byte(seed), []byte("7"), "session")
	}
	f.Add([]byte(`{}`), []byte(`"\u0000"`), "")
	m := parse(f, hostile)
	f.Fuzz(func(t *testing.T, params, id []byte, session string) {
		c := call(t, "t", "")
		c.Params, c.RequestID, c.Session = params, id, session
		in, err := m.Intent(c)
		if err != nil {
			var why *intent.NotDeclarable
			if !errors.As(err, &why) || why.Reason == "" || err.Error() == "" {
				t.Fatalf("error %#v", err)
			}
			return
		}
		if !jsontext.Value(in.Body).IsValid() {
			t.Fatalf("the body is no strict JSON: %q", in.Body)
		}
		if len(in.ActionID) > 512 || len(in.SubjectID) > 256 || in.SubjectID == "" || strings.ContainsAny(in.ActionID, "\n\x00\x7f") {
			t.Errorf("id %q, subject %q", in.ActionID, in.SubjectID)
		}
		if !json.Valid(params) || !utf8.Valid(params) || bytes.Contains(params, []byte(`\u`)) {
			return // the other reader would see something else or nothing
		}
		compare(t, in, params)
	})
}

// compare holds a declaration against the standard library's reading.
func compare(t *testing.T, in intent.Intent, params []byte) {
	t.Helper()
	seen := decode(t, params)
	declared := decode(t, in.Body).(map[string]any)
	if want := scalarAt(seen, "arguments", "s"); in.SubjectID != want || declared["subject_id"] != want {
		t.Errorf("subject %q, want %q", in.SubjectID, want)
	}
	if want := "i:" + scalarAt(seen, "arguments", "items", "0", "id") + ":" + scalarAt(seen, "_meta", "io.x/y"); in.ActionID != want || declared["action_id"] != want {
		t.Errorf("action id %q, want %q", in.ActionID, want)
	}
	if want := scalarAt(seen, "arguments", "c"); want != "" && declared["compensates"] != want {
		t.Errorf("compensates %v, want %q", declared["compensates"], want)
	}
	values := declared["params"].(map[string]any)
	for name, way := range map[string][]string{
		"v": {"arguments", "v"}, "whole": {"arguments"}, "second": {"arguments", "items", "1"}, "zero": {"arguments", "0"}, "deep": {"a", "b", "c", "d"},
	} {
		want, there := at(seen, way...)
		got, declared := values[name]
		if there != declared || text(t, got) != text(t, want) {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
}

func decode(t *testing.T, data []byte) any {
	t.Helper()
	reading := json.NewDecoder(bytes.NewReader(data))
	reading.UseNumber()
	var value any
	if err := reading.Decode(&value); err != nil {
		t.Fatalf("%v: %q", err, data)
	}
	return value
}

func text(t *testing.T, value any) string {
	t.Helper()
	b, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// at follows a path the slow way.
func at(value any, way ...string) (any, bool) {
	for _, step := range way {
		switch node := value.(type) {
		case map[string]any:
			next, ok := node[step]
			if !ok {
				return nil, false
			}
			value = next
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(node) {
				return nil, false
			}
			value = node[i]
		default:
			return nil, false
		}
	}
	return value, true
}

func scalarAt(value any, way ...string) string {
	found, _ := at(value, way...)
	switch found := found.(type) {
	case string:
		return found
	case json.Number:
		return found.String()
	case bool:
		return strconv.FormatBool(found)
	}
	return ""
}
