package fit

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/intent"
)

// Bounds of a walk. A schema comes from a server, which may have made it so
// that it never ends.
const (
	maxViews = 256
	maxHops  = 16
)

// place is what a schema says about a place: all schemas that may apply there.
type place struct {
	root  map[string]any
	views []map[string]any
	open  bool // at least one says that anything may be there
}

// top is the place of the arguments as a whole.
func top(schema map[string]any) place {
	p := place{root: schema}
	p.add(schema, 0)
	return p
}

// add takes a schema, and those that it refers to or is made of.
func (p *place) add(schema any, hops int) {
	object, ok := schema.(map[string]any)
	if !ok {
		p.open = p.open || schema != false
		return
	}
	if hops > maxHops || len(p.views) >= maxViews {
		p.open = true
		return
	}
	p.views = append(p.views, object)
	if ref, ok := object["$ref"].(string); ok {
		target, found := p.resolve(ref)
		if !found {
			p.open = true
		} else {
			p.add(target, hops+1)
		}
	}
	for _, word := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := object[word].([]any)
		for _, one := range list {
			p.add(one, hops+1)
		}
	}
	for _, word := range []string{"then", "else"} {
		if one, ok := object[word]; ok {
			p.add(one, hops+1)
		}
	}
}

// resolve follows a reference within the schema.
func (p *place) resolve(ref string) (any, bool) {
	way, ok := strings.CutPrefix(ref, "#")
	if !ok {
		return nil, false
	}
	var at any = p.root
	for _, name := range strings.Split(way, "/")[1:] {
		object, ok := at.(map[string]any)
		if !ok {
			return nil, false
		}
		name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
		if at, ok = object[name]; !ok {
			return nil, false
		}
	}
	return at, true
}

// step is where a segment of a path leads. It is not there if the schema has
// members and this is none of them, or none at all.
func (p place) step(s intent.Segment) (next place, there bool) {
	next = place{root: p.root}
	described, closed := false, false
	for _, view := range p.views {
		properties, has := view["properties"].(map[string]any)
		described = described || has
		if child, ok := properties[s.Name]; ok {
			next.add(child, 0)
			there = true
			continue
		}
		if child, ok := matching(view, s.Name); ok {
			next.add(child, 0)
			there = true
			continue
		}
		if child, ok := element(view, s.Index); ok {
			next.add(child, 0)
			there = true
			continue
		}
		switch more := view["additionalProperties"].(type) {
		case map[string]any:
			next.add(more, 0)
			there = true
		case bool:
			closed = closed || !more
			if more {
				next.open, there = true, true
			}
		}
	}
	if there || p.open {
		next.open = next.open || p.open && !there
		return next, true
	}
	if described || closed || p.onlyScalar() {
		return next, false
	}
	next.open = true
	return next, true
}

// matching is the schema of members whose name has a form.
func matching(view map[string]any, name string) (child any, ok bool) {
	patterns, _ := view["patternProperties"].(map[string]any)
	for pattern, child := range patterns {
		if form, err := regexp.Compile(pattern); err != nil || form.MatchString(name) {
			return child, true
		}
	}
	return nil, false
}

// element is the schema of a list's element.
func element(view map[string]any, index int) (child any, ok bool) {
	if index < 0 {
		return nil, false
	}
	for _, word := range []string{"prefixItems", "items"} {
		if list, ok := view[word].([]any); ok && index < len(list) {
			return list[index], true
		}
	}
	switch items := view["items"].(type) {
	case map[string]any, bool:
		return items, true
	}
	if slices.Contains(typesOf(view), "array") {
		return true, true
	}
	return nil, false
}

// names are the members that the place may have, in order.
func (p place) names() []string {
	all := map[string]bool{}
	for _, view := range p.views {
		properties, _ := view["properties"].(map[string]any)
		for name := range properties {
			all[name] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// requires says that a member must be there.
func (p place) requires(name string) bool {
	for _, view := range p.views {
		list, _ := view["required"].([]any)
		if slices.Contains(list, any(name)) {
			return true
		}
	}
	return false
}

// types are what a value at the place may be; none is anything.
func (p place) types() []string {
	var all []string
	for _, view := range p.views {
		for _, one := range typesOf(view) {
			if !slices.Contains(all, one) {
				all = append(all, one)
			}
		}
		if len(all) == 0 && view["properties"] != nil {
			all = append(all, "object")
		}
	}
	return all
}

func typesOf(view map[string]any) []string {
	switch of := view["type"].(type) {
	case string:
		return []string{of}
	case []any:
		var all []string
		for _, one := range of {
			if name, ok := one.(string); ok {
				all = append(all, name)
			}
		}
		return all
	}
	return nil
}

func (p place) onlyScalar() bool {
	of := p.types()
	return len(of) > 0 && !p.open && !slices.ContainsFunc(of, func(one string) bool { return one == "object" || one == "array" })
}

// neverScalar says that no value at the place could be a subject.
func (p place) neverScalar() bool {
	of := p.types()
	return len(of) > 0 && !p.open && !slices.ContainsFunc(of, func(one string) bool { return one != "object" && one != "array" && one != "null" })
}
