package protocol

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestACanonicalFormLeavesOutWhatNobodySees(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]string{
		` { "b" : [ 1 , { } , [ ] ] , "a" : "x" } `:           `{"a":"x","b":[1,{},[]]}`,
		`{"a":1,"b":2,"a":3}`:                                 `{"a":3,"b":2}`,
		`{"a":1,"\u0061":2}`:                                  `{"a":2}`,
		`{"aa":1,"a":2,"":3,"b":4}`:                           `{"":3,"a":2,"aa":1,"b":4}`,
		`{"é":1,"z":2,"😀":3,"\uff5e":4}`:                      `{"z":2,"é":1,"～":4,"😀":3}`,
		`{"b":{"d":1,"c":{"f":1,"e":2}},"a":[{"z":1,"y":2}]}`: `{"a":[{"y":2,"z":1}],"b":{"c":{"e":2,"f":1},"d":1}}`,
		`"\u0041\/\u00e9\u2028\ud83d\ude00\u007f"`:            "\"A/é\u2028😀\x7f\"",
		`"\"\\\b\f\n\r\t\u0000\u001F\u0008\u000a"`:            `"\"\\\b\f\n\r\t\u0000\u001f\b\n"`,
		`"\udFFF\uD800x\uD83D\ud83d\ude00"`:                   `"\udfff\ud800x\ud83d😀"`,
		`"\\ud800"`:                                           `"\\ud800"`,
		`[1,1.0,1e0,-0,12345678901234567890,1E400,0.10]`:      `[1,1.0,1e0,-0,12345678901234567890,1E400,0.10]`,
		`[true,false,null]`:                                   `[true,false,null]`,
		"\t1\r\n":                                             `1`,
	} {
		got, err := Canonical([]byte(raw))
		if err != nil || string(got) != want {
			t.Errorf("%s is %s (%v), want %s", raw, got, err, want)
		}
	}
}

func TestWhatIsNoJSONHasNoCanonicalForm(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"", " ", "{", "[", `"`, `{"a"}`, `{"a":}`, `{"a":1,}`, `{,}`, `{a:1}`, `[1,]`, `[,1]`, `[1 2]`, `{"a":1 "b":2}`, `[1}`, `{"a":1]`,
		`1 2`, `{} {}`, `NaN`, `Infinity`, `undefined`, `True`, `nul`, `01`, `+1`, `.5`, `1.`, `1e`, `1e+`, `-`, `0x1`, `1_0`, `--1`,
		`"\q"`, `"\u12"`, `"\u12G4"`, "\"\n\"", "\"\x00\"", "\"\xff\"", "\"\xed\xa0\x80\"", "\xEF\xBB\xBF1", `'a'`, `/**/1`, `"a`, `"\`, `"\"`,
	} {
		got, err := Canonical([]byte(raw))
		if bad := new(SyntaxError); !errors.As(err, &bad) || bad.At > len(raw) || got != nil {
			t.Errorf("%q is %q, %v", raw, got, err)
		}
	}
}

func TestACanonicalFormIsOnlySoDeep(t *testing.T) {
	t.Parallel()
	deep := func(n int) []byte { return []byte(strings.Repeat(`[{"a":`, n/2) + "1" + strings.Repeat("}]", n/2)) }
	if got, err := Canonical(deep(CanonicalDepth)); err != nil || !bytes.Equal(got, deep(CanonicalDepth)) {
		t.Errorf("%d deep: %v", CanonicalDepth, err)
	}
	for _, n := range []int{CanonicalDepth + 2, 3000, 2_000_000} {
		if _, err := Canonical(deep(n)); err == nil {
			t.Errorf("%d deep has a canonical form", n)
		}
	}
}

// rewrite writes a JSON value in another way that means the same.
func rewrite(t *rapid.T, value []byte) string {
	blank := func() string { return rapid.SampledFrom([]string{"", " ", "\n\t"}).Draw(t, "blank") }
	switch value = bytes.TrimSpace(value); value[0] {
	case '"':
		var s string
		if err := json.Unmarshal(value, &s); err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "all escaped") {
			out := &strings.Builder{}
			for _, u := range s {
				if u > 0xffff {
					out.WriteRune(u)
					continue
				}
				out.WriteString(`\u`)
				for shift := 12; shift >= 0; shift -= 4 {
					out.WriteByte("0123456789ABCDEF"[u>>shift&15])
				}
			}
			return `"` + out.String() + `"`
		}
		out, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	case '{':
		all := parsed(value)
		list := make([]string, 0, len(all))
		for _, name := range rapid.Permutation(slices.Sorted(maps.Keys(all))).Draw(t, "order") {
			v := all[name]
			key, err := json.Marshal(name)
			if err != nil {
				t.Fatal(err)
			}
			list = append(list, blank()+rewrite(t, key)+blank()+":"+blank()+rewrite(t, v)+blank())
		}
		return "{" + strings.Join(list, ",") + "}"
	case '[':
		var all []json.RawMessage
		if err := json.Unmarshal(value, &all); err != nil {
			t.Fatal(err)
		}
		list := make([]string, 0, len(all))
		for _, v := range all {
			list = append(list, blank()+rewrite(t, v)+blank())
		}
		return "[" + strings.Join(list, ",") + "]"
	}
	return string(value)
}

func TestValuesThatMeanTheSameHaveOneCanonicalForm(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := jsonValue(t, 4, nil)
		other := rewrite(t, []byte(value))
		one, err := Canonical([]byte(value))
		if err != nil {
			t.Fatalf("%s: %v", value, err)
		}
		two, err := Canonical([]byte(other))
		if err != nil {
			t.Fatalf("%s: %v", other, err)
		}
		if !bytes.Equal(one, two) {
			t.Fatalf("%s and %s are\n%s and\n%s", value, other, one, two)
		}
		again, err := Canonical(one)
		if err != nil || !bytes.Equal(one, again) {
			t.Fatalf("the canonical form of %s is %s (%v)", one, again, err)
		}
	})
}

func TestValuesThatMeanSomethingElseHaveAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		one, two := jsonValue(t, 2, nil), jsonValue(t, 2, nil)
		a, errA := Canonical([]byte(one))
		b, errB := Canonical([]byte(two))
		if errA != nil || errB != nil {
			t.Fatal(errA, errB)
		}
		if same := reflect.DeepEqual(meaningOf(t, one), meaningOf(t, two)); same != bytes.Equal(a, b) {
			t.Fatalf("%s and %s mean the same: %v; their forms are %s and %s", one, two, same, a, b)
		}
	})
}

// meaningOf is what a parser says, with numbers as they were written.
func meaningOf(t failer, value string) (v any) {
	t.Helper()
	dec := json.NewDecoder(strings.NewReader(value))
	dec.UseNumber()
	if err := dec.Decode(&v); err != nil {
		t.Fatalf("%q: %v", value, err)
	}
	return v
}

// depthOf is how many objects and arrays deep a valid value is.
func depthOf(value []byte) (deepest int) {
	depth, quoted := 0, false
	for i := 0; i < len(value); i++ {
		switch c := value[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			deepest = max(deepest, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return deepest
}

func FuzzCanonical(f *testing.F) {
	for _, seed := range []string{
		`{"b":[1,{"c":null}],"a":"\ud83d\ude00\ud800"}`, `{"a":1,"a":2}`, ` [1.0e-7 , -0] `, `"\u0000\/"`, `[[[[]]]]`, `{"a":01}`, "\"\xff\"", `{"a"`, `tru`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		got, err := Canonical(raw)
		if want := json.Valid(raw) && utf8.Valid(raw) && depthOf(raw) <= CanonicalDepth; want != (err == nil) {
			t.Fatalf("%q: %v, where a parser says %v", raw, err, want)
		}
		if err != nil {
			return
		}
		if again, err := Canonical(got); err != nil || !bytes.Equal(got, again) {
			t.Fatalf("the canonical form of %q is %q (%v)", got, again, err)
		}
		if a, b := meaningOf(t, string(raw)), meaningOf(t, string(got)); !reflect.DeepEqual(a, b) {
			t.Fatalf("%q became %q", raw, got)
		}
	})
}
