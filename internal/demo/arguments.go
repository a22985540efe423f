package demo

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Values that mean nothing to anyone. The host names end in .invalid, which
// never resolves (RFC 2606), so that no argument can make a server send
// something to a stranger.
const (
	sampleText  = "example"
	sampleURL   = "https://example.invalid/"
	sampleEmail = "nobody@example.invalid"
	sampleHost  = "example.invalid"
)

// arguments makes the least that a tool accepts: its required arguments
// alone, each with what the schema itself proposes or else a value that means
// nothing. Where that cannot be done it says why, and the tool is skipped: an
// invented argument tells nothing about a tool, and one that names a secret
// or something to run should not be invented at all.
func arguments(tool *mcp.Tool) (values map[string]any, reason string) {
	// The client's SDK hands a schema over as decoded JSON, or as nothing.
	schema, ok := tool.InputSchema.(map[string]any)
	if !ok {
		return nil, "it has no input schema to read"
	}
	b := &builder{root: schema, steps: schemaSteps}
	value, err := b.object(schema, 0)
	if err != nil {
		return nil, err.Error()
	}
	return value, ""
}

// builder makes values for one schema.
type builder struct {
	root  map[string]any // what $ref points into
	steps int            // how many more schemas may be looked at
}

// object makes the required members of an object.
func (b *builder) object(schema map[string]any, depth int) (map[string]any, error) {
	schema, err := b.settle(schema, depth)
	if err != nil {
		return nil, err
	}
	properties, _ := schema["properties"].(map[string]any)
	values := map[string]any{}
	for _, name := range stringsOf(schema["required"]) {
		if word, risky := isRisky(name); risky {
			return nil, fmt.Errorf("it asks for %s", word)
		}
		property, ok := asSchema(properties[name])
		if !ok {
			return nil, fmt.Errorf("its schema does not describe %q", name)
		}
		if values[name], err = b.value(name, property, depth+1); err != nil {
			return nil, err
		}
	}
	if fewest := wholeNumber(schema["minProperties"], 0); len(values) < fewest {
		return nil, fmt.Errorf("it asks for %d members without naming them", fewest)
	}
	return values, nil
}

// value makes one value. What the schema proposes itself comes first: its
// author knows what the tool understands.
func (b *builder) value(name string, schema map[string]any, depth int) (any, error) {
	if depth > schemaDepth {
		return nil, fmt.Errorf("%q is described too deeply", name)
	}
	schema, err := b.settle(schema, depth)
	if err != nil {
		return nil, err
	}
	if proposed, ok := proposal(schema); ok {
		return proposed, nil
	}
	switch kind := typeOf(schema); kind {
	case "string":
		return text(name, schema)
	case "integer", "number":
		return number(name, schema, kind == "integer")
	case "boolean":
		return false, nil
	case "null":
		return nil, nil
	case "array":
		return b.array(name, schema, depth)
	case "object":
		return b.object(schema, depth)
	default:
		return nil, fmt.Errorf("its schema does not say what %q is", name)
	}
}

// array makes as few elements as are allowed.
func (b *builder) array(name string, schema map[string]any, depth int) (any, error) {
	count := wholeNumber(schema["minItems"], 0)
	values := []any{}
	if count > 16 || count > 1 && schema["uniqueItems"] == true {
		return nil, fmt.Errorf("%q asks for %d elements", name, count)
	}
	if tuple, ok := schema["prefixItems"].([]any); ok && count > 0 {
		for i := range min(count, len(tuple)) {
			element, _ := asSchema(tuple[i])
			value, err := b.value(name, element, depth+1)
			if err != nil {
				return nil, err
			}
			values = append(values, value)
		}
	}
	items, _ := asSchema(schema["items"])
	for len(values) < count {
		value, err := b.value(name, items, depth+1)
		if err != nil {
			return nil, err
		}
		values = append(values, value)
	}
	return values, nil
}

// proposal is what the schema itself offers as a value.
func proposal(schema map[string]any) (any, bool) {
	if fixed, ok := schema["const"]; ok {
		return fixed, true
	}
	// A default of null says that there is none.
	if preset, ok := schema["default"]; ok && preset != nil {
		return preset, true
	}
	for _, word := range []string{"examples", "enum"} {
		if list, ok := schema[word].([]any); ok && len(list) > 0 {
			return list[0], true
		}
	}
	return nil, false
}

// text makes a string: by its format, else by its name, and so long that it
// is allowed. A pattern that the result does not meet cannot be guessed.
func text(name string, schema map[string]any) (string, error) {
	format, _ := schema["format"].(string)
	value := textFor(format, name)
	shortest := wholeNumber(schema["minLength"], 0)
	longest := wholeNumber(schema["maxLength"], math.MaxInt32)
	if shortest > 4096 {
		return "", fmt.Errorf("%q asks for %d characters", name, shortest)
	}
	if missing := shortest - utf8.RuneCountInString(value); missing > 0 {
		value += strings.Repeat("x", missing)
	}
	if utf8.RuneCountInString(value) > longest {
		if format != "" {
			return "", fmt.Errorf("%q is too short for a %s", name, format)
		}
		value = value[:longest] // the sample values are ASCII
	}
	pattern, ok := schema["pattern"].(string)
	if !ok {
		return value, nil
	}
	// JSON Schema's patterns are ECMAScript's. Those that Go does not know
	// are no reason to fail, only to leave the tool out.
	expression, err := regexp.Compile(pattern)
	if err != nil {
		return "", fmt.Errorf("%q asks for a pattern that cannot be read", name)
	}
	for _, candidate := range []string{value, "1", "a", "example-1", "2026-01-31", "0000"} {
		n := utf8.RuneCountInString(candidate)
		if n >= shortest && n <= longest && expression.MatchString(candidate) {
			return candidate, nil
		}
	}
	return "", fmt.Errorf("%q asks for text like %s", name, pattern)
}

// textFor knows the formats of JSON Schema and a few telling names.
func textFor(format, name string) string {
	switch format {
	case "date":
		return "2026-01-31"
	case "date-time":
		return "2026-01-31T12:00:00Z"
	case "time":
		return "12:00:00Z"
	case "duration":
		return "PT1S"
	case "uuid":
		return "00000000-0000-4000-8000-000000000000"
	case "email", "idn-email":
		return sampleEmail
	case "uri", "url", "iri", "uri-reference", "iri-reference":
		return sampleURL
	case "hostname", "idn-hostname":
		return sampleHost
	case "ipv4":
		return "192.0.2.1" // for documentation, RFC 5737
	case "ipv6":
		return "2001:db8::1" // for documentation, RFC 3849
	case "json-pointer":
		return "/example"
	}
	words, _ := splitName(name)
	switch {
	case slices.ContainsFunc(words, func(w string) bool { return w == "url" || w == "uri" || w == "link" || w == "href" }):
		return sampleURL
	case slices.ContainsFunc(words, func(w string) bool { return w == "email" || w == "mail" }):
		return sampleEmail
	case slices.ContainsFunc(words, func(w string) bool { return w == "host" || w == "hostname" || w == "domain" }):
		return sampleHost
	}
	return sampleText
}

// number makes the number nearest to 1 that is allowed.
func number(name string, schema map[string]any, whole bool) (any, error) {
	least, most := math.Inf(-1), math.Inf(1)
	if v, ok := schema["minimum"].(float64); ok {
		least = v
	}
	if v, ok := schema["maximum"].(float64); ok {
		most = v
	}
	step := 1.0
	if v, ok := schema["multipleOf"].(float64); ok && v > 0 {
		step = v
	}
	if v, ok := schema["exclusiveMinimum"].(float64); ok && v >= least {
		least = math.Nextafter(v, math.Inf(1))
	}
	if v, ok := schema["exclusiveMaximum"].(float64); ok && v <= most {
		most = math.Nextafter(v, math.Inf(-1))
	}
	value := min(max(1, least), most)
	if whole || schema["multipleOf"] != nil {
		up, down := math.Ceil(value/step)*step, math.Floor(value/step)*step
		if value = up; up > most {
			value = down
		}
	}
	if value < least || value > most || whole && value != math.Trunc(value) || math.Abs(value) >= 1<<53 {
		return nil, fmt.Errorf("no number fits %q", name)
	}
	if whole {
		return int64(value), nil
	}
	return value, nil
}

// isRisky finds an argument for which even a meaningless value is wrong.
func isRisky(name string) (what string, risky bool) {
	words, _ := splitName(name)
	if word, found := secret(words); found {
		return "a secret (" + strconv.Quote(name) + ", " + word + ")", true
	}
	for _, word := range words {
		switch word {
		case "cmd", "code", "command", "commands", "javascript", "js", "script", "shell", "sql", "statement":
			return "something to run (" + strconv.Quote(name) + ")", true
		}
	}
	return "", false
}

// brief writes arguments in one short line, for the reader.
func brief(arguments map[string]any) string {
	if len(arguments) == 0 {
		return ""
	}
	line, err := json.Marshal(arguments)
	if err != nil {
		return "(arguments that are no JSON)"
	}
	return string(line)
}
