package npmtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// difference is a place where two records are not the same.
type difference struct {
	place string // such as answers[4].result.content[0].text
	a, b  any
}

// absent stands for a member that is not there.
type absent struct{}

// differences compares two decoded JSON values place by place. Lists of
// different length differ as a whole: there is no telling which element of
// one belongs to which of the other.
func differences(place string, a, b any) []difference {
	switch left := a.(type) {
	case map[string]any:
		right, ok := b.(map[string]any)
		if !ok {
			return []difference{{place, a, b}}
		}
		var all []difference
		names := maps.Clone(left)
		maps.Copy(names, right)
		for _, name := range slices.Sorted(maps.Keys(names)) {
			all = append(all, differences(join(place, name), valueOf(left, name), valueOf(right, name))...)
		}
		return all
	case []any:
		right, ok := b.([]any)
		if !ok || len(left) != len(right) {
			return []difference{{place, a, b}}
		}
		var all []difference
		for i := range left {
			all = append(all, differences(fmt.Sprintf("%s[%d]", place, i), left[i], right[i])...)
		}
		return all
	}
	// Numbers are json.Number, so that 1 and 1.0 differ as they did.
	if a != b {
		return []difference{{place, a, b}}
	}
	return nil
}

func valueOf(object map[string]any, name string) any {
	if value, ok := object[name]; ok {
		return value
	}
	return absent{}
}

func join(place, name string) string {
	if place == "" {
		return name
	}
	return place + "." + name
}

// places is a set of volatile places.
type places map[string]bool

// add notes every place where two direct runs differ.
func (p places) add(a, b any) {
	for _, d := range differences("", a, b) {
		p[d.place] = true
	}
}

// covers is true for a volatile place and for everything inside it.
func (p places) covers(place string) bool {
	if p[place] {
		return true
	}
	for volatile := range p {
		if rest, inside := strings.CutPrefix(place, volatile); inside && (rest[0] == '.' || rest[0] == '[') {
			return true
		}
	}
	return false
}

// unexplained is what differs in places that are not volatile.
func (p places) unexplained(direct, recorded any) []difference {
	return slices.DeleteFunc(differences("", direct, recorded), func(d difference) bool { return p.covers(d.place) })
}

// String shows a difference in a few lines.
func (d difference) String() string {
	return fmt.Sprintf("%s\n    directly:         %s\n    through deed run: %s", d.place, short(d.a), short(d.b))
}

func short(value any) string {
	if value == any(absent{}) {
		return "(absent)"
	}
	text, err := json.Marshal(value)
	if err != nil {
		return err.Error()
	}
	const most = 300
	if len(text) > most {
		return fmt.Sprintf("%s… (%d bytes)", strings.ToValidUTF8(string(text[:most]), ""), len(text))
	}
	return string(text)
}

// decode reads a record without turning numbers into floats.
func decode(t interface{ Fatalf(string, ...any) }, text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		t.Fatalf("decode %s: %v", text, err)
	}
	return value
}

func TestDifferencesAreFoundInTheirPlace(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		a, b string
		want []string
	}{
		"the same":                {`{"a":[1,{"b":"x"}]}`, `{"a":[1,{"b":"x"}]}`, nil},
		"members in other order":  {`{"a":1,"b":2}`, `{"b":2,"a":1}`, nil},
		"a text deep inside":      {`{"a":[1,{"b":"x"}]}`, `{"a":[1,{"b":"y"}]}`, []string{"a[1].b"}},
		"a member more":           {`{"a":{}}`, `{"a":{"b":null}}`, []string{"a.b"}},
		"a member less":           {`{"a":{"b":null}}`, `{"a":{}}`, []string{"a.b"}},
		"an element more":         {`{"a":[1]}`, `{"a":[1,2]}`, []string{"a"}},
		"elements in other order": {`[1,2]`, `[2,1]`, []string{"[0]", "[1]"}},
		"another spelling":        {`{"a":1}`, `{"a":1.0}`, []string{"a"}},
		"a number above 2^53":     {`{"a":9007199254740993}`, `{"a":9007199254740992}`, []string{"a"}},
		"a text for a number":     {`{"a":1}`, `{"a":"1"}`, []string{"a"}},
		"a list for an object":    {`{"a":{}}`, `{"a":[]}`, []string{"a"}},
	} {
		var got []string
		for _, d := range differences("", decode(t, c.a), decode(t, c.b)) {
			got = append(got, d.place)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: differs in %q, want %q", name, got, c.want)
		}
	}
}

func TestOnlyWhatIsVolatileIsForgiven(t *testing.T) {
	t.Parallel()
	volatile := places{}
	volatile.add(decode(t, `{"pid":1,"at":{"s":1},"name":"x","nam":1}`), decode(t, `{"pid":2,"at":{"s":2},"name":"x","nam":2}`))
	for recorded, want := range map[string]int{
		`{"pid":3,"at":{"s":3},"name":"x","nam":3}`:              0,
		`{"pid":3,"at":{"s":[1,{"deep":3}]},"name":"x","nam":9}`: 0,
		`{"pid":3,"at":{"s":3},"name":"y","nam":3}`:              1,
		`{"pid":3,"at":{"s":3,"t":1},"name":"x","nam":3}`:        1,
		`{"pid":3,"at":{"s":3},"nam":3}`:                         1,
	} {
		got := volatile.unexplained(decode(t, `{"pid":1,"at":{"s":1},"name":"x","nam":1}`), decode(t, recorded))
		if len(got) != want {
			t.Errorf("%s: %d differences are unexplained (%v), want %d", recorded, len(got), got, want)
		}
	}
}

// TestEveryChangeIsADifference changes one leaf of any value.
func TestEveryChangeIsADifference(t *testing.T) {
	t.Parallel()
	leaf := rapid.OneOf(
		rapid.Map(rapid.StringN(0, 8, -1), func(s string) any { return s }),
		rapid.Map(rapid.Int64(), func(n int64) any { return json.Number(fmt.Sprint(n)) }),
		rapid.Map(rapid.Bool(), func(b bool) any { return b }),
	)
	rapid.Check(t, func(t *rapid.T) {
		value, other := leaf.Draw(t, "value"), leaf.Draw(t, "other")
		var a, b any = value, other
		for range rapid.IntRange(0, 5).Draw(t, "depth") {
			if rapid.Bool().Draw(t, "list") {
				a, b = []any{"before", a}, []any{"before", b}
			} else {
				a, b = map[string]any{"k": a, "z": true}, map[string]any{"k": b, "z": true}
			}
		}
		if got, want := len(differences("", a, b)), 1; (value != other) != (got == want) || got > 1 {
			t.Fatalf("%d differences between %v and %v", got, a, b)
		}
	})
}
