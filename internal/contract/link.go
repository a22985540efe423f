package contract

import (
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/likeness"
)

const linkHint = "write refs.NAME == action_id, refs.NAME == subject_id, refs.NAME == params.NAME, or subject"

// links reads a key of link rules, and is the given ones where the key is not
// there.
func (r *reader) links(f fields, otherwise ...Link) []Link {
	n := f.get("link")
	if n == nil {
		return otherwise
	}
	var links []Link
	for i, item := range r.list(n, f.at("link"), true) {
		path := fmt.Sprintf("%s[%d]", f.at("link"), i)
		rule, ok := r.plain(item, path)
		if !ok {
			continue
		}
		link, ok := r.link(item, path, rule)
		if !ok {
			continue
		}
		switch {
		case slices.ContainsFunc(links, func(l Link) bool { return !l.Keyed() }):
			r.problem(item, path, "put subject last", "subject is the weakest rule, so none after it is ever used")
		case slices.ContainsFunc(links, func(l Link) bool { return l.Keyed() && l.Ref == link.Ref }):
			r.problem(item, path, "keep one of them", "refs.%s has a stronger rule already, so this one is never used", link.Ref)
		}
		links = append(links, link)
	}
	if n.kind == sequence && len(n.items) == 0 {
		r.problem(n, f.at("link"), linkHint, "without a rule no fact belongs to any action")
	}
	return links
}

func (r *reader) link(n *node, path, rule string) (Link, bool) {
	if strings.TrimSpace(rule) == "subject" {
		return Link{By: BySubject}, true
	}
	left, right, ok := strings.Cut(rule, "==")
	ref, named := refName(strings.TrimSpace(left))
	if !ok || !named {
		r.problem(n, path, linkHint, "%q is no link rule", clip(rule))
		return Link{}, false
	}
	link := Link{Ref: ref}
	switch by := strings.TrimSpace(right); {
	case by == "action_id" || by == "action.action_id":
		link.By = ByActionID
	case by == "subject_id" || by == "action.subject_id":
		link.By = BySubjectID
	case strings.HasPrefix(by, "params."):
		link.By, link.Param = ByParam, strings.TrimPrefix(by, "params.")
		return link, r.linkParam(n, path, link.Param)
	default:
		r.problem(n, path, linkHint, "a fact's key cannot be compared with %s", cmpOr(clip(by), "nothing"))
		return Link{}, false
	}
	return link, true
}

// linkParam checks that a parameter can be held against a key, which is a text.
func (r *reader) linkParam(n *node, path, name string) bool {
	p := r.contract.param(name)
	if p == nil {
		names := r.contract.paramNames()
		hint := "declare it under `params`"
		if near := likeness.Closest(name, names); near != "" {
			hint = "did you mean params." + near + "?"
		}
		r.problem(n, path, hint, "the contract declares no parameter %q", clip(name))
		return false
	}
	switch p.Type {
	case StringParam, IntegerParam, EnumParam:
		return true
	}
	r.problem(n, path, "link by a parameter of type string, integer or enum", "params.%s is of type %s, and a fact's key is a text", name, p.Type)
	return false
}

// refName is the name of a key in refs.NAME.
func refName(s string) (string, bool) {
	name, ok := strings.CutPrefix(s, "refs.")
	return name, ok && formed(name, "_-.")
}

func (c *Contract) paramNames() []string {
	names := make([]string, len(c.Params))
	for i, p := range c.Params {
		names[i] = p.Name
	}
	return names
}
