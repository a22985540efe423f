package intent

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/deed-dev/deed/internal/likeness"
)

// reader turns a tree into a mapping and gathers what is wrong on the way.
type reader struct {
	mapping  *Mapping
	problems []Problem
	notes    []Problem
}

func (r *reader) read(root *node) {
	if root.kind != mapping {
		r.problems = append(r.problems, Problem{
			Line: root.line, Column: root.column, Message: "here stands " + root.is() + " instead of an object", Hint: `write {"tools": {…}}`,
		})
		return
	}
	r.noDuplicates(root, "", "")
	f := fields{reader: r, node: root}
	f.known("")
	r.mapping.AgentID, r.mapping.WorkflowID = f.text("agent_id"), f.text("workflow_id")
	tools := f.object("tools")
	if tools == nil {
		return
	}
	for _, e := range tools.entries {
		r.tool(e)
	}
	if len(tools.entries) == 0 {
		f.note(tools, "tools", "", "no tool is mapped, so nothing is declared")
	}
}

// tool reads what stands under a tool's name.
func (r *reader) tool(e entry) {
	t := &Tool{
		Key: e.key.text, line: e.key.line, column: e.key.column,
		subject: none, compensates: none,
	}
	f := fields{reader: r, node: e.value, tool: t.Key}
	switch {
	case t.Key == "":
		f.problem(e.key, "", "write the tool's name", "the name of a tool is empty")
		return
	case e.value.kind != mapping:
		f.problem(e.value, "", "write its keys: contract_id, subject, …", "here stands %s instead of an object", e.value.is())
		return
	}
	f.known("tool")
	t.ContractID, t.ActionType, t.SubjectKind = f.text("contract_id"), f.text("action_type"), f.text("subject_kind")
	t.ContractVersion = f.integer("contract_version")
	t.subject = f.path(t, "subject")
	f.params(t)
	f.action(t)
	t.compensates = f.path(t, "compensates")
	// The name of the tool is looked for as well: a call that has two names
	// could be another call to its server.
	paths := make([]Path, 0, len(t.places)+1)
	for _, place := range t.places {
		paths = append(paths, place.Path)
	}
	t.plan = newPlan(append(paths, Path{Segments: []Segment{{Name: "name", Index: none}}})...)
	r.mapping.tools = append(r.mapping.tools, t)
}

// noDuplicates looks for keys that stand twice, everywhere.
func (r *reader) noDuplicates(n *node, tool, key string) {
	seen := map[string]int{}
	for _, e := range n.entries {
		inTool, inKey := tool, join(key, e.key.text)
		if key == "tools" && tool == "" {
			inTool, inKey = e.key.text, ""
		}
		if line, twice := seen[e.key.text]; twice {
			name := inKey
			if name == "" {
				name = "tools"
			}
			r.problems = append(r.problems, Problem{
				Line: e.key.line, Column: e.key.column, Tool: inTool, Key: inKey,
				Message: fmt.Sprintf("%s stands here twice, first in line %d", quoted(e.key.text), line), Hint: "keep one of them",
			})
		}
		seen[e.key.text] = e.key.line
		r.noDuplicates(e.value, inTool, inKey)
	}
	for _, item := range n.items {
		r.noDuplicates(item, tool, key)
	}
}

func join(key, name string) string {
	if key == "" {
		return clip(name)
	}
	return key + "." + clip(name)
}

// fields are the keys of one object.
type fields struct {
	*reader
	node *node
	tool string // empty: of the file
}

func (f fields) at(n *node, key, hint, format string, args ...any) Problem {
	return Problem{Line: n.line, Column: n.column, Tool: f.tool, Key: key, Message: fmt.Sprintf(format, args...), Hint: hint}
}

func (f fields) problem(n *node, key, hint, format string, args ...any) {
	f.problems = append(f.problems, f.at(n, key, hint, format, args...))
}

func (f fields) note(n *node, key, hint, format string, args ...any) {
	f.notes = append(f.notes, f.at(n, key, hint, format, args...))
}

// known notes keys that mean nothing, and tells which ones are missing.
func (f fields) known(in string) {
	keys := keysIn(in)
	names := make([]string, 0, len(keys))
	for _, k := range keys {
		names = append(names, k.Name)
		if k.Required && f.node.get(k.Name) == nil {
			f.problem(f.node, k.Name, "write `"+k.Name+"`. "+k.Sentence, "it is missing")
		}
	}
	for _, e := range f.node.entries {
		if slices.Contains(names, e.key.text) {
			continue
		}
		near := likeness.Closest(e.key.text, names)
		note := f.at(e.key, e.key.text, "", "the key means nothing here")
		if near != "" {
			note.Hint = "did you mean " + near + "?"
		}
		f.notes = append(f.notes, note)
	}
}

// key finds an entry of the table.
func (f fields) key(name string) Key {
	in := ""
	if f.tool != "" {
		in = "tool"
	}
	for _, k := range keysIn(in) {
		if k.Name == name {
			return k
		}
	}
	panic("no key " + name) // the caller spells it
}

// text reads a text that may be left out. An empty one is as if left out,
// unless it is required.
func (f fields) text(name string) string {
	n := f.node.get(name)
	if n == nil {
		return ""
	}
	key := f.key(name)
	switch {
	case n.kind != text:
		f.wrongKind(n, name, "a text")
		return ""
	case n.text == "" && key.Required:
		f.problem(n, name, key.Sentence, "the text is empty")
	case key.MaxBytes > 0 && len(n.text) > key.MaxBytes:
		f.problem(n, name, "", "the text has %d bytes, and the server takes %d", len(n.text), key.MaxBytes)
	}
	return n.text
}

func (f fields) wrongKind(n *node, key, wanted string) {
	hint := "write " + wanted
	if wanted != "an object" && (n.kind == number || n.kind == boolean) {
		hint = "write it in quotes"
	}
	f.problem(n, key, hint, "here stands %s instead of %s", n.is(), wanted)
}

// integer reads a whole number, as it is written.
func (f fields) integer(name string) string {
	n := f.node.get(name)
	if n == nil {
		return ""
	}
	if n.kind == number {
		if i, err := strconv.ParseInt(n.text, 10, 64); err == nil {
			return strconv.FormatInt(i, 10)
		}
	}
	f.problem(n, name, "write a whole number without quotes, such as 3", "here stands %s instead of a whole number", n.shown())
	return ""
}

// shown is a node for a problem where its kind alone would not explain it.
func (n *node) shown() string {
	if n.kind == number {
		return clip(n.text)
	}
	return n.is()
}

// object reads an object of the author's names.
func (f fields) object(name string) *node {
	n := f.node.get(name)
	if n != nil && n.kind != mapping {
		f.wrongKind(n, name, "an object")
		return nil
	}
	return n
}

// path reads a path and returns its place in the plan.
func (f fields) path(t *Tool, name string) int {
	n := f.node.get(name)
	if n == nil {
		return none
	}
	return f.place(t, n, name)
}

func (f fields) place(t *Tool, n *node, key string) int {
	if n.kind != text {
		f.wrongKind(n, key, "a path")
		return none
	}
	path, err := ParsePath(n.text)
	if err != nil {
		f.problem(n, key, "write a path such as arguments.order_id", "%s", err)
		return none
	}
	if strings.ContainsAny(n.text, "{}") && !strings.Contains(n.text, `"`) {
		f.note(n, key, "a path stands without braces", "braces are part of the name that is looked for")
	}
	t.places = append(t.places, Place{Key: key, Path: path, Line: n.line, Column: n.column})
	return len(t.places) - 1
}

func (f fields) params(t *Tool) {
	n := f.object("params")
	if n == nil {
		return
	}
	if most := maxParams - ownParams; len(n.entries) > most {
		f.problem(n, "params", "", "there are %d, and the server takes %d besides its own two", len(n.entries), most)
		return
	}
	for _, e := range n.entries {
		key := "params." + clip(e.key.text)
		switch {
		case e.value.kind == nothing:
			f.problem(e.key, key, "write where the call has it, such as arguments.amount", "the path is missing")
			continue
		case e.key.text == "mcp_tool" || e.key.text == "mcp_request_id":
			f.note(e.key, key, "leave it out", "the recorder fills it in itself, so that what stands here is not read")
			continue
		}
		if place := f.place(t, e.value, key); place != none {
			t.Params = append(t.Params, e.key.text)
			t.params = append(t.params, place)
		}
	}
}

// action reads the template of the id.
func (f fields) action(t *Tool) {
	n := f.node.get("action_id")
	switch {
	case n == nil:
		return
	case n.kind != text:
		f.wrongKind(n, "action_id", "a template")
		return
	case n.text == "":
		f.problem(n, "action_id", "leave the key out to have an id for each call", "the template is empty")
		return
	}
	texts, paths, err := parseTemplate(n.text)
	if err != nil {
		f.problem(n, "action_id", "write a template such as refund:{arguments.order_id}", "%s", err)
		return
	}
	fixed := 0
	for _, text := range texts {
		fixed += len(text)
		if strings.ContainsFunc(text, isControl) {
			f.problem(n, "action_id", "leave it out", "the template has a control character, which no id may have")
			return
		}
	}
	if fixed > maxActionID {
		f.problem(n, "action_id", "", "the text of the template has %d bytes, and an id may have %d", fixed, maxActionID)
	}
	if len(paths) == 0 {
		f.note(n, "action_id", "put a place into it, such as {arguments.order_id}", "all calls have this one id, so that only the first is an action of its own")
	}
	t.templateText, t.actionID.texts = n.text, texts
	for _, path := range paths {
		t.places = append(t.places, Place{Key: "action_id", Path: path, Line: n.line, Column: n.column})
		t.actionID.places = append(t.actionID.places, len(t.places)-1)
	}
}
