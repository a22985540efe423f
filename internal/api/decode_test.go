package api

import (
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
)

func TestWhatIsWrongWithABodyIsSaidOfItsMember(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		`{}`:                                              "name: is missing",
		`{"name":null}`:                                   "name: null stands for nothing here; leave out what is not there",
		`{"name":7}`:                                      "name: a JSON number cannot stand here",
		`{"name":"k","scopes":["actions:raed"]}`:          `scopes.0: there is no scope "actions:raed"`,
		`{"name":"k","scopes":"actions:read"}`:            "scopes: a JSON string cannot stand here",
		`{"name":"k","limits":{"contract":[]}}`:           "limits.contract: there is no such member",
		`{"name":"k","limits":{"agents":[null]}}`:         "limits.agents.0: null stands for nothing here; leave out what is not there",
		`{"name":"k","Name":"k"}`:                         "Name: there is no such member",
		`{"name":"k","expires_at":"2026-11-02"}`:          `expires_at: "2026-11-02" is no time; write it as in 2026-10-15T12:00:00Z`,
		`{"name":"k","name":"k"}`:                         "name: the member is there twice",
		`{"name":"k","limits":{"agents":[],"agents":[]}}`: "limits.agents: the member is there twice",
		`[]`:                "the body is no JSON object",
		`"name"`:            "the body is no JSON object",
		`null`:              "the body is no JSON object",
		`{"name":"k"}{}`:    "something stands behind the JSON object",
		`{"name":"k"} tail`: "something stands behind the JSON object",
	} {
		err := decode([]byte(body), &keyOrder{})
		if err == nil || err.Error() != want {
			t.Errorf("%s is refused with %v, want %s", body, err, want)
		}
	}
}

// Whatever is sent is either refused, or is what it says: written again and read
// again it is the same.
func FuzzDecode(f *testing.F) {
	for route, s := range samples {
		_ = route
		if s.body != "" {
			f.Add([]byte(s.body))
		}
	}
	f.Add([]byte(`{"name":"k","limits":{"agents":["a"]},"scopes":["actions:read"],"expires_at":"2026-11-02T12:00:00Z"}`))
	f.Add([]byte(`{"name":"\ud800"}`))
	f.Add([]byte(`{"name":{"name":{"name":[[[[`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var in keyOrder
		if decode(body, &in) != nil {
			return
		}
		text, err := json.Marshal(in)
		if err != nil {
			t.Fatalf("%s is taken and cannot be written: %v", body, err)
		}
		var again keyOrder
		if err := decode(text, &again); err != nil || !reflect.DeepEqual(in, again) {
			t.Fatalf("%s is %+v, and read again from %s is %+v, %v", body, in, text, again, err)
		}
	})
}
