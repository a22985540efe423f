package protocol

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// shapeOf returns the shape of a value that is a subject.
func shapeOf(value string) []Field {
	const before = `{"id":1,"method":"m","params":`
	m := &Message{Head: []byte(before + value + "}\n")}
	m.Subject = Span{Start: int64(len(before)), End: int64(len(before) + len(value))}
	return Shape(m)
}

func lines(fields []Field) []string {
	var all []string
	for _, f := range fields {
		line := fmt.Sprintf("%s %s %d", f.Name, f.Type, f.Bytes)
		if f.Type == "object" || f.Type == "array" {
			line += fmt.Sprintf(" of %d", f.Count)
		}
		all = append(all, line)
	}
	return all
}

func TestAShapeHasNamesTypesAndSizes(t *testing.T) {
	t.Parallel()
	for value, want := range map[string][]string{
		`{}`: nil,
		`{"amount":180.0,"to":"a@b.example","now":true,"why":null}`: {
			"amount number 5", "to string 13", "now boolean 4", "why null 4",
		},
		`{"a": { "b" : {"c":[1, 2,3]} , "d":[] }}`: {
			"a object 33 of 2", "a.b object 14 of 1", "a.b.c array 8 of 3", "a.b.c[] number 1", "a.d array 2 of 0",
		},
		`{"content":[{"type":"text","text":"hm"},{"type":"image","data":"…"}]}`: {
			"content array 59 of 2", "content[] object 27 of 2", "content[].type string 6", "content[].text string 4",
		},
		`{"a":{"b":{"c":{"d":{"e":[{}, {"x":1} ],"f":"}]"}}}}}`: {
			"a object 47 of 1", "a.b object 41 of 1", "a.b.c object 35 of 1", "a.b.c.d object 29 of 2",
		},
		`{"a":[[[[[1,2]]]]]}`: {
			"a array 13 of 1", "a[] array 11 of 1", "a[][] array 9 of 1", "a[][][] array 7 of 1",
		},
		`[{"a":1},2]`: {" array 11 of 2", "[] object 7 of 1", "[].a number 1"},
		`"text"`:      {" string 6"},
		`null`:        {" null 4"},
		`{"twice":1,"twice":"x"}`: {
			"twice number 1", "twice string 3",
		},
		`{"a":NaN,"b":1e400,"c":undefined,"d":[1,],}`: {
			"a number 3", "b number 5", "c unknown 9", "d array 4 of 1", "d[] number 1",
		},
		`{"\u0061\n\"\ud800":1,"` + "\xff" + `":2}`: {"a\n\"\\ud800 number 1", "\uFFFD number 1"},
		`{"a":1,"b"`:          {"a number 1"},
		`{"a":[1,`:            {"a array 3 of 1", "a[] number 1"},
		`{"a":{"b":1} "c":2}`: {"a object 7 of 1", "a.b number 1", "c number 1"},
		`{"a":1 b:2}`:         {"a number 1"},
	} {
		if diff := cmp.Diff(want, lines(shapeOf(value))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", value, diff)
		}
	}
}

func TestAShapeIsOfWhatTheHeadHolds(t *testing.T) {
	t.Parallel()
	for _, size := range []int{100, HeadLimit - 1000, HeadLimit + 1000} {
		line := `{"id":1,"method":"m","params":{"arguments":{"a":"` + strings.Repeat("x", size) + `"}}}` + "\n"
		got := lines(Shape(read(line, 5000)[0]))
		var want []string
		if size < HeadLimit {
			want = []string{fmt.Sprintf("a string %d", size+2)}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%d bytes (-want +got):\n%s", size, diff)
		}
	}
	if Shape(read("ready\n", 10)[0]) != nil {
		t.Error("noise has a shape")
	}
}

func TestAShapeHasAtMost64FieldsAndNamesOf64Bytes(t *testing.T) {
	t.Parallel()
	b := &strings.Builder{}
	for i := range 100 {
		fmt.Fprintf(b, `,"n%d":[1,2,3]`, i)
	}
	got := shapeOf(`{"a":{` + b.String()[1:] + `}}`)
	if len(got) != ShapeFields || got[0].Count != 100 || got[0].Bytes != int64(b.Len())+1 {
		t.Errorf("%d fields, the first says %+v", len(got), got[0])
	}
	for _, key := range []string{strings.Repeat("x", 64), strings.Repeat("x", 65), strings.Repeat("€", 50), strings.Repeat(`\u20AC`, 9000)} {
		name := shapeOf(`{"` + key + `":1}`)[0].Name
		if len(name) > NameLimit || len(name) < NameLimit-3 || !utf8.ValidString(name) {
			t.Errorf("a key of %d bytes is named %q", len(key), name)
		}
	}
}

func TestAShapeNeverHoldsAValue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := jsonValue(t, 4, func(*rapid.T) string { return `"secret"` })
		for _, f := range shapeOf(value) {
			if strings.Contains(f.Name+f.Type, "secret") {
				t.Fatalf("%s: %+v", value, f)
			}
		}
	})
}

// shapeByParsing does what Shape does in another way: with a JSON parser.
func shapeByParsing(t interface{ Fatal(...any) }, value []byte, name string, depth int, fields []Field) []Field {
	kinds := map[byte]string{'"': "string", '{': "object", '[': "array", 't': "boolean", 'f': "boolean", 'n': "null"}
	kind := kinds[value[0]]
	if kind == "" {
		kind = "number"
	}
	self := -1
	if depth > 0 || kind != "object" {
		if len(fields) == ShapeFields {
			return fields
		}
		self = len(fields)
		fields = append(fields, Field{Name: name, Type: kind, Bytes: int64(len(value))})
	}
	if kind != "object" && kind != "array" {
		return fields
	}
	count := int64(0)
	dec := json.NewDecoder(bytes.NewReader(value))
	if _, err := dec.Token(); err != nil {
		t.Fatal(err)
	}
	for dec.More() {
		child := name + "[]"
		if kind == "object" {
			key, err := dec.Token()
			if err != nil {
				t.Fatal(err)
			}
			child = key.(string)
			if len(child) > NameLimit {
				child = strings.ToValidUTF8(child[:NameLimit], "")
			}
			if name != "" {
				child = name + "." + child
			}
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			t.Fatal(err)
		}
		count++
		if depth < ShapeDepth && (kind == "object" || count == 1) {
			fields = shapeByParsing(t, raw, child, depth+1, fields)
		}
	}
	if self >= 0 {
		fields[self].Count = count
	}
	return fields
}

func TestAShapeAgreesWithAParser(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		value := jsonValue(t, 6, nil)
		want := shapeByParsing(t, []byte(value), "", 0, nil)
		if diff := cmp.Diff(want, shapeOf(value)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", value, diff)
		}
	})
}

func FuzzShape(f *testing.F) {
	for _, seed := range []string{
		`{}`, `{"a":{"b":[1,{"c":null}]},"d":"x"}`, `[[[[[[1]]]]]]`, `{"a":[1,2,],}`, `{"\ud800":1,"\u0061":2}`,
		`{"a":NaN}`, `{"a"`, `[`, `"`, `{"a":1 b}`, `{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}`, "{\"\xff\":\"\\", `{"a":]}`, `}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, value []byte) {
		got := Shape(&Message{Head: value, Subject: Span{End: int64(len(value))}})
		if len(got) > ShapeFields {
			t.Fatalf("%d fields", len(got))
		}
		for _, field := range got {
			if !utf8.ValidString(field.Name) || len(field.Name) > ShapeDepth*(NameLimit+2*ShapeDepth+1) {
				t.Fatalf("a name of %d bytes: %q", len(field.Name), field.Name)
			}
			if field.Bytes < 0 || field.Bytes > int64(len(value)) || field.Count > int64(len(value)) {
				t.Fatalf("impossible sizes: %+v", field)
			}
		}
		value = bytes.TrimRight(value, " \t\r\n")
		if !json.Valid(value) || meaning[value[0]] == space || !utf8.Valid(value) || bytes.Contains(value, []byte(`\`)) {
			return // a parser reads half a surrogate pair as U+FFFD
		}
		got = Shape(&Message{Head: value, Subject: Span{End: int64(len(value))}})
		if want := shapeByParsing(t, value, "", 0, nil); !slices.Equal(want, got) {
			t.Fatalf("%q (-want +got):\n%s", value, cmp.Diff(want, got))
		}
	})
}
