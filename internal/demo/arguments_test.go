package demo

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"pgregory.net/rapid"
)

// schemaOf decodes a schema the way a client gets it.
func schemaOf(t interface{ Fatalf(string, ...any) }, text string) map[string]any {
	var schema map[string]any
	if err := json.Unmarshal([]byte(text), &schema); err != nil {
		t.Fatalf("schema %s: %v", text, err)
	}
	return schema
}

func TestArgumentsAreTheLeastThatAToolAccepts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, want string }{
		"nothing is asked for": {`{"type":"object"}`, `{}`},
		"optional arguments are left out": {
			`{"type":"object","properties":{"a":{"type":"string"}}}`, `{}`,
		},
		"one of each type": {
			`{"type":"object","required":["s","i","n","b","z","l","o"],"properties":{
				"s":{"type":"string"},"i":{"type":"integer"},"n":{"type":"number"},"b":{"type":"boolean"},
				"z":{"type":"null"},"l":{"type":"array","items":{"type":"string"}},"o":{"type":"object"}}}`,
			`{"s":"example","i":1,"n":1,"b":false,"z":null,"l":[],"o":{}}`,
		},
		"what the schema proposes comes first": {
			`{"required":["d","x","e","c"],"properties":{"d":{"type":"string","default":"metric"},
				"x":{"type":"string","examples":["Paris","Rome"]},"e":{"enum":["low","high"]},"c":{"const":7}}}`,
			`{"d":"metric","x":"Paris","e":"low","c":7}`,
		},
		"a default of null is no proposal": {
			`{"required":["a"],"properties":{"a":{"type":"string","default":null}}}`, `{"a":"example"}`,
		},
		"formats": {
			`{"required":["u","m","d","t","i"],"properties":{"u":{"type":"string","format":"uri"},
				"m":{"type":"string","format":"email"},"d":{"type":"string","format":"date"},
				"t":{"type":"string","format":"date-time"},"i":{"type":"string","format":"uuid"}}}`,
			`{"u":"https://example.invalid/","m":"nobody@example.invalid","d":"2026-01-31",
				"t":"2026-01-31T12:00:00Z","i":"00000000-0000-4000-8000-000000000000"}`,
		},
		"telling names": {
			`{"required":["page_url","contactEmail","host"],"properties":{"page_url":{"type":"string"},
				"contactEmail":{"type":"string"},"host":{"type":"string"}}}`,
			`{"page_url":"https://example.invalid/","contactEmail":"nobody@example.invalid","host":"example.invalid"}`,
		},
		"bounds of numbers": {
			`{"required":["a","b","c","d","e","f"],"properties":{"a":{"type":"integer","minimum":10},
				"b":{"type":"integer","maximum":-2},"c":{"type":"number","minimum":0,"maximum":0.5},
				"d":{"type":"integer","exclusiveMinimum":1},"e":{"type":"integer","multipleOf":5},
				"f":{"type":"integer","minimum":7,"multipleOf":5}}}`,
			`{"a":10,"b":-2,"c":0.5,"d":2,"e":5,"f":10}`,
		},
		"bounds of text": {
			`{"required":["a","b","c"],"properties":{"a":{"type":"string","minLength":10},
				"b":{"type":"string","maxLength":3},"c":{"type":"string","maxLength":0}}}`,
			`{"a":"examplexxx","b":"exa","c":""}`,
		},
		"a pattern that a sample meets": {
			`{"required":["a"],"properties":{"a":{"type":"string","pattern":"^[0-9]+$"}}}`, `{"a":"1"}`,
		},
		"elements that must be there": {
			`{"required":["a","b"],"properties":{"a":{"type":"array","minItems":2,"items":{"type":"integer"}},
				"b":{"type":"array","minItems":1,"prefixItems":[{"const":"x"},{"const":"y"}]}}}`,
			`{"a":[1,1],"b":["x"]}`,
		},
		"objects in objects": {
			`{"required":["a"],"properties":{"a":{"type":"object","required":["b"],
				"properties":{"b":{"type":"object","required":["c"],"properties":{"c":{"type":"boolean"},"d":{"type":"string"}}}}}}}`,
			`{"a":{"b":{"c":false}}}`,
		},
		"a type that may be null": {
			`{"required":["a","b"],"properties":{"a":{"type":["null","integer"]},"b":{"anyOf":[{"type":"null"},{"type":"boolean"}]}}}`,
			`{"a":1,"b":false}`,
		},
		"references and merged parts": {
			`{"$defs":{"id":{"type":"integer","minimum":3},"x/y":{"const":"slash"}},"required":["a","b","c"],
				"properties":{"a":{"$ref":"#/$defs/id"},"b":{"$ref":"#/$defs/x~1y"},
				"c":{"allOf":[{"type":"object","required":["p"],"properties":{"p":{"const":1}}},
				{"required":["q"],"properties":{"q":{"const":2}}}]}}}`,
			`{"a":3,"b":"slash","c":{"p":1,"q":2}}`,
		},
		"a member that is called required": {
			`{"required":["required","properties"],"properties":{"required":{"type":"boolean"},"properties":{"type":"integer"}}}`,
			`{"required":false,"properties":1}`,
		},
		"the first of several shapes": {
			`{"type":"object","properties":{"id":{"type":"integer"},"name":{"type":"string"}},
				"oneOf":[{"required":["id"]},{"required":["name"]}]}`,
			`{"id":1}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, reason := arguments(&mcp.Tool{InputSchema: schemaOf(t, c.schema)})
			if reason != "" {
				t.Fatalf("skipped: %s", reason)
			}
			line, err := json.Marshal(got)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(schemaOf(t, c.want), schemaOf(t, string(line))); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestToolsThatAreSkippedWithAReason(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schema, want string }{
		"a secret":                       {`{"required":["apiKey"],"properties":{"apiKey":{"type":"string"}}}`, `a secret ("apiKey"`},
		"a password deep inside":         {`{"required":["a"],"properties":{"a":{"required":["password"],"properties":{"password":{"type":"string"}}}}}`, `a secret ("password"`},
		"a command":                      {`{"required":["command"],"properties":{"command":{"type":"string"}}}`, `something to run ("command")`},
		"SQL":                            {`{"required":["sql_text"],"properties":{"sql_text":{"type":"string"}}}`, "something to run"},
		"an argument nobody describes":   {`{"required":["a"]}`, `does not describe "a"`},
		"an argument of any kind":        {`{"required":["a"],"properties":{"a":{}}}`, `does not say what "a" is`},
		"a pattern nothing here meets":   {`{"required":["a"],"properties":{"a":{"type":"string","pattern":"^acct_[A-Z]{20}$"}}}`, "asks for text like"},
		"a pattern that is not Go's":     {`{"required":["a"],"properties":{"a":{"type":"string","pattern":"^(?=x)"}}}`, "cannot be read"},
		"a range without a number":       {`{"required":["a"],"properties":{"a":{"type":"integer","minimum":5,"maximum":4}}}`, "no number fits"},
		"no whole number in the range":   {`{"required":["a"],"properties":{"a":{"type":"integer","minimum":0.2,"maximum":0.8}}}`, "no number fits"},
		"many different elements":        {`{"required":["a"],"properties":{"a":{"type":"array","minItems":3,"uniqueItems":true,"items":{"type":"string"}}}}`, "3 elements"},
		"a thousand elements":            {`{"required":["a"],"properties":{"a":{"type":"array","minItems":1000,"items":{"type":"string"}}}}`, "1000 elements"},
		"an e-mail of five characters":   {`{"required":["a"],"properties":{"a":{"type":"string","format":"email","maxLength":5}}}`, "too short"},
		"a schema elsewhere":             {`{"required":["a"],"properties":{"a":{"$ref":"https://schemas.invalid/a.json"}}}`, "elsewhere"},
		"a reference to nothing":         {`{"required":["a"],"properties":{"a":{"$ref":"#/$defs/a"}}}`, "not there"},
		"a reference to itself":          {`{"$defs":{"a":{"$ref":"#/$defs/a"}},"required":["a"],"properties":{"a":{"$ref":"#/$defs/a"}}}`, "refers to itself"},
		"an object that holds itself":    {`{"type":"object","required":["next"],"properties":{"next":{"$ref":"#"}}}`, "too deep"},
		"members without names":          {`{"type":"object","minProperties":1}`, "without naming them"},
		"a schema that grows for ever":   {`{"$defs":{"a":{"allOf":[{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"},{"$ref":"#/$defs/a"}]}},"required":["a"],"properties":{"a":{"$ref":"#/$defs/a"}}}`, "too deep"},
		"an argument that may not exist": {`{"required":["a"],"properties":{"a":false}}`, `does not describe "a"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			values, reason := arguments(&mcp.Tool{InputSchema: schemaOf(t, c.schema)})
			if !strings.Contains(reason, c.want) || values != nil {
				t.Errorf("arguments %v, reason %q; want none because %q", values, reason, c.want)
			}
		})
	}
	if _, reason := arguments(&mcp.Tool{}); reason == "" {
		t.Error("a tool without a schema gets arguments")
	}
}

// TestAWideSchemaEndsSoon is about a server that wants the demo to hang.
func TestAWideSchemaEndsSoon(t *testing.T) {
	t.Parallel()
	parts := strings.Repeat(`{"$ref":"#/$defs/a"},`, 99) + `{"$ref":"#/$defs/a"}`
	wide := `{"$defs":{"a":{"type":"object","anyOf":[{"type":"null"}],"allOf":[{"$ref":"#/$defs/b"}]},"b":{"allOf":[{"$ref":"#/$defs/c"}]},` +
		`"c":{"allOf":[` + strings.ReplaceAll(parts, "$defs/a", "$defs/d") + `]},"d":{"allOf":[` + strings.ReplaceAll(parts, "$defs/a", "$defs/e") + `]},"e":{"type":"string"}},` +
		`"required":["a"],"properties":{"a":{"$ref":"#/$defs/a"}}}`
	if _, reason := arguments(&mcp.Tool{InputSchema: schemaOf(t, wide)}); reason != "its schema is too large" {
		t.Errorf("reason %q, want that the schema is too large", reason)
	}
}

// TestAnySchemaIsAnsweredWithoutPanic feeds schemas whose words hold values
// of every kind, as a careless server would.
func TestAnySchemaIsAnsweredWithoutPanic(t *testing.T) {
	t.Parallel()
	words := []string{
		"type", "required", "properties", "items", "enum", "default", "anyOf", "oneOf", "allOf", "$ref", "format", "pattern",
		"minimum", "maximum", "multipleOf", "minLength", "maxLength", "minItems", "prefixItems", "examples", "minProperties", "exclusiveMinimum",
	}
	leaves := []any{
		nil, true, false, -1.5, 0.0, 1.0, 1e300, "", "object", "string", "integer", "array", "#", "#/properties/a", "a", "(", []any{}, []any{"a"}, []any{1.0, nil}, map[string]any{},
	}
	var schema func(t *rapid.T, depth int) any
	schema = func(t *rapid.T, depth int) any {
		if depth == 0 || rapid.IntRange(0, 3).Draw(t, "leaf") == 0 {
			return rapid.SampledFrom(leaves).Draw(t, "value")
		}
		made := map[string]any{}
		for range rapid.IntRange(0, 4).Draw(t, "words") {
			word := rapid.SampledFrom(words).Draw(t, "word")
			child := schema(t, depth-1)
			switch rapid.IntRange(0, 2).Draw(t, "in") {
			case 0:
				made[word] = child
			case 1:
				made[word] = []any{child}
			case 2:
				made[word] = map[string]any{"a": child}
			}
		}
		return made
	}
	rapid.Check(t, func(t *rapid.T) {
		root, ok := schema(t, 4).(map[string]any)
		if !ok {
			return
		}
		root["required"] = []any{"a"}
		values, reason := arguments(&mcp.Tool{InputSchema: root})
		if (values == nil) != (reason != "") {
			t.Fatalf("values %v and reason %q", values, reason)
		}
		if _, err := json.Marshal(values); err != nil {
			t.Fatalf("values cannot be sent: %v", err)
		}
	})
}
