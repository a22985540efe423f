package demo

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// schemaDepth is how deep a schema is followed; recursive ones have no end.
const schemaDepth = 8

// schemaSteps is how many schemas are looked at for one tool. A few that
// refer to each other many times would else take for ever.
const schemaSteps = 1000

// settle follows $ref, and takes the first way out where a schema offers
// several that it can take.
func (b *builder) settle(schema map[string]any, depth int) (map[string]any, error) {
	for range schemaDepth {
		if b.steps--; b.steps < 0 {
			return nil, errors.New("its schema is too large")
		}
		pointer, ok := schema["$ref"].(string)
		if !ok {
			return b.choose(schema, depth)
		}
		found, err := b.resolve(pointer)
		if err != nil {
			return nil, err
		}
		schema = merge(schema, found)
	}
	return nil, errors.New("its schema refers to itself")
}

// choose merges allOf, and of anyOf or oneOf the first part that is not null.
func (b *builder) choose(schema map[string]any, depth int) (map[string]any, error) {
	if depth > schemaDepth {
		return nil, errors.New("its schema is too deep")
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		parts, ok := schema[word].([]any)
		if !ok {
			continue
		}
		rest := without(schema, word)
		for _, raw := range parts {
			part, ok := asSchema(raw)
			if !ok || word != "allOf" && typeOf(part) == "null" {
				continue
			}
			settled, err := b.settle(part, depth+1)
			if err != nil {
				return nil, err
			}
			rest = merge(rest, settled)
			if word != "allOf" {
				break
			}
		}
		schema = rest
	}
	return schema, nil
}

// resolve finds what a reference inside the same schema points to (RFC 6901).
func (b *builder) resolve(pointer string) (map[string]any, error) {
	path, local := strings.CutPrefix(pointer, "#")
	if !local {
		return nil, fmt.Errorf("its schema refers to %s, which is elsewhere", pointer)
	}
	var at any = b.root
	for step := range strings.SplitSeq(strings.TrimPrefix(path, "/"), "/") {
		if step == "" {
			continue
		}
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch node := at.(type) {
		case map[string]any:
			at = node[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(node) {
				return nil, fmt.Errorf("its schema refers to %s, which is not there", pointer)
			}
			at = node[i]
		}
	}
	found, ok := asSchema(at)
	if !ok {
		return nil, fmt.Errorf("its schema refers to %s, which is not there", pointer)
	}
	return found, nil
}

// typeOf is the type that a schema asks for, or that its other words imply.
func typeOf(schema map[string]any) string {
	switch kind := schema["type"].(type) {
	case string:
		return kind
	case []any:
		for _, one := range stringsOf(kind) {
			if one != "null" {
				return one
			}
		}
		return "null"
	}
	switch {
	case schema["properties"] != nil || schema["required"] != nil:
		return "object"
	case schema["items"] != nil || schema["prefixItems"] != nil:
		return "array"
	case schema["format"] != nil || schema["pattern"] != nil || schema["minLength"] != nil:
		return "string"
	case schema["minimum"] != nil || schema["maximum"] != nil:
		return "number"
	}
	return ""
}

// asSchema reads a schema. True and {} both allow everything.
func asSchema(raw any) (map[string]any, bool) {
	switch schema := raw.(type) {
	case map[string]any:
		return schema, true
	case bool:
		return map[string]any{}, schema
	}
	return nil, false
}

// merge lays one schema over another; what only one says stays. Their
// properties and required names are joined.
func merge(base, over map[string]any) map[string]any {
	merged := without(base, "$ref")
	for word, value := range over {
		switch word {
		case "required":
			if before, ok := merged[word].([]any); ok {
				if more, ok := value.([]any); ok {
					value = slices.Concat(before, more)
				}
			}
		case "properties":
			before, _ := merged[word].(map[string]any)
			if more, ok := value.(map[string]any); ok && before != nil {
				// A plain copy: members may be called "required" as well.
				joined := maps.Clone(before)
				maps.Copy(joined, more)
				value = joined
			}
		}
		merged[word] = value
	}
	return merged
}

func without(schema map[string]any, word string) map[string]any {
	rest := maps.Clone(schema)
	delete(rest, word)
	return rest
}

// stringsOf takes the strings out of a list, each once.
func stringsOf(raw any) []string {
	list, _ := raw.([]any)
	var all []string
	for _, one := range list {
		if s, ok := one.(string); ok && !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}

// wholeNumber reads a count that a schema gives.
func wholeNumber(raw any, otherwise int) int {
	n, ok := raw.(float64)
	if !ok || n < 0 || n > math.MaxInt32 {
		return otherwise
	}
	return int(n)
}
