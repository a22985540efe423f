package protocol

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestDefinitionsListTheToolsOfAResult(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		result string
		want   [][2]string // name, and the canonical form that is hashed; or "raw " and the bytes
		more   bool
		err    error
	}{
		"each with its name and its form": {
			`{"resultType":"complete","tools":[{"name":"b","description":"x"} , {"description":"y","name":"a"}],"ttlMs":1}`,
			[][2]string{{`"b"`, `{"description":"x","name":"b"}`}, {`"a"`, `{"description":"y","name":"a"}`}},
			false, nil,
		},
		"a page says that there are more": {`{"nextCursor":"c","tools":[]}`, nil, true, nil},
		"an empty cursor is a cursor":     {`{"tools":[],"nextCursor":""}`, nil, true, nil},
		"a cursor of null is none":        {`{"tools":[],"nextCursor":null}`, nil, false, nil},
		"of two cursors the last counts":  {`{"tools":[],"nextCursor":"c","nextCursor":null}`, nil, false, nil},
		"of two lists the last counts":    {`{"tools":[{"name":"a"}],"tools":[{"name":"b"}]}`, [][2]string{{`"b"`, `{"name":"b"}`}}, false, nil},
		"of two names the last counts":    {`{"tools":[{"name":"a","name":"b"}]}`, [][2]string{{`"b"`, `{"name":"b"}`}}, false, nil},
		"names may be escaped":            {`{"t\u006fols":[{"n\u0061me":"\u0061"}]}`, [][2]string{{`"\u0061"`, `{"name":"a"}`}}, false, nil},
		"a name may be anything, or none": {`{"tools":[{"name":{"b":1}},{},7]}`, [][2]string{{`{"b":1}`, `{"name":{"b":1}}`}, {``, `{}`}, {``, `7`}}, false, nil},
		"one name twice is listed twice":  {`{"tools":[{"name":"a"},{"name":"a","x":1}]}`, [][2]string{{`"a"`, `{"name":"a"}`}, {`"a"`, `{"name":"a","x":1}`}}, false, nil},
		"deeper members of the name count not": {
			`{"x":{"tools":[1],"nextCursor":1},"tools":[{"inputSchema":{"name":"no"},"name":"a"}]}`,
			[][2]string{{`"a"`, `{"inputSchema":{"name":"no"},"name":"a"}`}},
			false, nil,
		},
		"what has no canonical form is hashed as it is": {
			`{"tools":[{"name":"a", "x":NaN},{"name":"b","x":01 }]}`, [][2]string{{`"a"`, `raw {"name":"a", "x":NaN}`}, {`"b"`, `raw {"name":"b","x":01 }`}}, false, nil,
		},
		"without a list there are none":     {`{"resultType":"complete","nextCursor":1}`, nil, true, ErrNoTools},
		"nor where it is no list":           {`{"tools":{"name":"a"}}`, nil, false, ErrNoTools},
		"the last counts though it is none": {`{"tools":[{"name":"a"}],"tools":null}`, nil, false, ErrNoTools},
		"a result may be no object":         {`[{"tools":[]}]`, nil, false, ErrBroken},
		"or be empty":                       {` `, nil, false, ErrBroken},
		"what breaks off gives what it has": {`{"tools":[{"name":"a"},{"name":"b"`, [][2]string{{`"a"`, `{"name":"a"}`}}, false, ErrBroken},
		"so it does behind the list":        {`{"tools":[{"name":"a"}]`, [][2]string{{`"a"`, `{"name":"a"}`}}, false, ErrBroken},
		"and within a number":               {`{"tools":[],"nextCursor":12`, nil, false, ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			list, more, err := Definitions([]byte(c.result))
			if more != c.more || !errors.Is(err, c.err) {
				t.Errorf("there are more: %v, %v", more, err)
			}
			var got, want [][2]string
			for _, d := range list {
				got = append(got, [2]string{string(d.Name.Raw), fmt.Sprintf("%x raw=%v", d.Sum, d.Raw)})
				if raw := c.result[d.Span.Start:d.Span.End]; int64(len(raw)) != d.Bytes {
					t.Errorf("%d bytes, of which the span has %q", d.Bytes, raw)
				}
			}
			for _, w := range c.want {
				form, raw := strings.CutPrefix(w[1], "raw ")
				want = append(want, [2]string{w[0], fmt.Sprintf("%x raw=%v", sha256.Sum256([]byte(form)), raw)})
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestALargeDefinitionIsHashedAsItIs(t *testing.T) {
	t.Parallel()
	for _, size := range []int{DefinitionLimit, DefinitionLimit + 1} {
		raw := `{"name":"b", "a":"` + strings.Repeat("x", size-20) + `"}`
		list, _, err := Definitions([]byte(`{"tools":[` + raw + `]}`))
		if err != nil || len(list) != 1 || list[0].Bytes != int64(size) || string(list[0].Name.Raw) != `"b"` {
			t.Fatalf("%d bytes: %d definitions, %v", size, len(list), err)
		}
		want := sha256.Sum256([]byte(raw))
		if large := size > DefinitionLimit; list[0].Raw != large || (list[0].Sum == want) != large {
			t.Errorf("%d bytes: raw is %v", size, list[0].Raw)
		}
	}
}

func TestALongNameOfAToolIsKeptAsATokenIs(t *testing.T) {
	t.Parallel()
	name := `"` + strings.Repeat("n", 5000) + `"`
	list, _, err := Definitions([]byte(`{"tools":[{"name":` + name + `}]}`))
	if err != nil || len(list) != 1 {
		t.Fatal(list, err)
	}
	checkToken(t, "the name", name, list[0].Name)
}

func TestADefinitionIsTheSameHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tool := `{"name":` + jsonString(t) + `,"inputSchema":` + jsonValue(t, 3, nil) + `}`
		one, more, err := Definitions([]byte(`{"tools":[` + tool + `]}`))
		if err != nil || more || len(one) != 1 {
			t.Fatalf("%s: %v, %v", tool, one, err)
		}
		two, more, err := Definitions([]byte(` {"nextCursor":1, "tools" : [1, ` + rewrite(t, []byte(tool)) + ` ]}`))
		if err != nil || !more || len(two) != 2 {
			t.Fatalf("%s: %v, %v", tool, two, err)
		}
		if one[0].Sum != two[1].Sum || one[0].Raw || two[1].Raw {
			t.Fatalf("%s has two sums", tool)
		}
	})
}

func FuzzDefinitions(f *testing.F) {
	for _, seed := range []string{
		`{"tools":[{"name":"a","inputSchema":{"type":"object"}}],"nextCursor":"c"}`, `{"tools":[{"name":{}},1,[2]],"tools":[]}`,
		`{"tools":[{"name":"a"},{"na`, `{"t\u006fols":[{"name":"\ud800","name":"b"}]}`, `{"tools":[}]}`, `{"tools":[{]},"x":1}`, `{"tools":null}`, `[]`, `{`, ``,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, result []byte) {
		list, more, err := Definitions(result)
		end := int64(0)
		for _, d := range list {
			if d.Span.Start < end || d.Span.End <= d.Span.Start || d.Span.End > int64(len(result)) || d.Bytes != d.Span.End-d.Span.Start {
				t.Fatalf("%q: a definition is at %+v", result, d.Span)
			}
			end = d.Span.End
		}
		if !json.Valid(result) || !utf8.Valid(result) {
			return
		}
		top := parsed(result)
		var want []json.RawMessage
		isList := json.Unmarshal(top["tools"], &want) == nil && want != nil
		switch {
		case top == nil:
			if !errors.Is(err, ErrBroken) {
				t.Fatalf("%q is no object: %v", result, err)
			}
			return
		case !isList:
			if !errors.Is(err, ErrNoTools) {
				t.Fatalf("%q has no tools: %v", result, err)
			}
			return
		}
		if cursor := top["nextCursor"]; err != nil || len(list) != len(want) || more != (cursor != nil && string(cursor) != "null") {
			t.Fatalf("%q has %d tools, more: %v, %v", result, len(list), more, err)
		}
		for i, d := range list {
			raw := result[d.Span.Start:d.Span.End]
			if string(raw) != string(want[i]) {
				t.Fatalf("tool %d of %q is %q", i, result, raw)
			}
			checkToken(t, "the name", string(parsed(want[i])["name"]), d.Name)
			if form, err := Canonical(raw); (err != nil) != d.Raw || err == nil && d.Sum != sha256.Sum256(form) {
				t.Fatalf("tool %d of %q: raw is %v, %v", i, result, d.Raw, err)
			}
		}
	})
}

func BenchmarkDefinitions(b *testing.B) {
	var tools []string
	for i := range 50 {
		tools = append(tools, fmt.Sprintf(`{"name":"tool_%d","description":"Does what it says, to whatever it is told.","inputSchema":`+
			`{"type":"object","properties":{"to":{"type":"string","description":"who"},"amount":{"type":"integer","minimum":0}},"required":["to"]}}`, i))
	}
	result := []byte(`{"tools":[` + strings.Join(tools, ",") + `]}`)
	b.SetBytes(int64(len(result)))
	b.ReportAllocs()
	for b.Loop() {
		if list, _, err := Definitions(result); err != nil || len(list) != 50 {
			b.Fatal(err)
		}
	}
}
