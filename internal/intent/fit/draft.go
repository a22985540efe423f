package fit

import (
	"fmt"
	"strings"

	"github.com/deed-dev/deed/internal/intent"
)

// Bounds of a draft: what is printed has to be a mapping that loads.
const (
	maxDraftBytes = 200 << 10
	maxDraftTools = 900
	maxNameBytes  = 200
	maxParams     = 40
	maxDepth      = 4 // objects within the arguments
)

// choose marks where only a person can know.
const choose = "CHOOSE"

const draftHead = `# A draft: which calls declare which actions. Nobody but you knows what should be
# declared, so read every line, and decide where one says CHOOSE. Tools that need
# no proof go out; then: deed map check FILE -- COMMAND
#
# yaml-language-server: $schema=mapping.schema.json

agent_id: agent  # CHOOSE: who acts
`

// Draft proposes a mapping, as YAML, for the tools that change something, or
// for all of them. Whatever the tools are called and describe, the text is a
// mapping that loads.
func Draft(tools []Tool, all bool) string {
	var b strings.Builder
	b.WriteString(draftHead)
	var reading, skipped []string
	var body strings.Builder
	proposed := 0
	names, bare := map[string]bool{}, map[string]bool{}
	for _, tool := range tools {
		_, own, dotted := strings.Cut(tool.Name, ".")
		switch {
		case names[tool.Name]:
			continue
		case tool.ReadOnly && !all:
			reading = append(reading, tool.Name)
		case len(tool.Name) > maxNameBytes || tool.Name == "":
			skipped = append(skipped, fmt.Sprintf("%s: its name cannot be a key", shown(tool.Name)))
		case dotted && own != "" && bare[own]:
			skipped = append(skipped, fmt.Sprintf("%s: another tool has the same name behind its dot", shown(tool.Name)))
		case proposed == maxDraftTools || body.Len() > maxDraftBytes:
			skipped = append(skipped, fmt.Sprintf("%s: the mapping would become too long", shown(tool.Name)))
		default:
			if dotted {
				bare[own] = true
			}
			body.WriteString(proposal(tool))
			proposed++
		}
		names[tool.Name] = true
	}
	if proposed == 0 {
		b.WriteString("tools: {}  # none changes anything, as far as names and annotations tell\n")
	} else {
		b.WriteString("tools:\n" + body.String())
	}
	list(&b, "Tools that only read, by their annotations or their names (--all proposes them too):", shownAll(reading))
	list(&b, "Left out:", skipped)
	return b.String()
}

// list is a comment of lines. A hundred of them are enough for anybody.
func list(b *strings.Builder, title string, lines []string) {
	const most = 100
	if len(lines) == 0 {
		return
	}
	b.WriteString("\n# " + title + "\n")
	for i, line := range lines {
		if i == most {
			fmt.Fprintf(b, "#   … and %d more\n", len(lines)-i)
			return
		}
		b.WriteString("#   " + line + "\n")
	}
}

func shownAll(names []string) []string {
	all := make([]string, 0, len(names))
	for _, name := range names {
		all = append(all, shown(name))
	}
	return all
}

// proposal is what stands under tools for one of them.
func proposal(tool Tool) string {
	var b strings.Builder
	leaves := arguments(tool.Input)
	fmt.Fprintf(&b, "\n  %s:", scalar(tool.Name))
	if about := firstSentence(tool.Description); about != "" {
		b.WriteString("  # " + about)
	}
	action := scalar(identifier(tool.Name))
	fmt.Fprintf(&b, "\n    contract_id: %s  # %s: the contract that shall govern it\n", action, choose)
	fmt.Fprintf(&b, "    action_type: %s\n", action)
	writeSubject(&b, tool, leaves)
	writeParams(&b, leaves)
	writeActionID(&b, identifier(tool.Name), leaves)
	b.WriteString("    # compensates: arguments.…  # where a call says which action it undoes\n")
	return b.String()
}

func writeSubject(b *strings.Builder, tool Tool, leaves []leaf) {
	subject, found := bestSubject(leaves)
	switch {
	case !found:
		fmt.Fprintf(b, "    subject: name  # %s: the schema names nothing that is acted on; this is the tool's own name\n", choose)
		b.WriteString("    subject_kind: tool\n")
		return
	case subject.listed:
		fmt.Fprintf(b, "    subject: %s  # %s: only the first of the list is declared\n", scalar(subject.path), choose)
	case !subject.required:
		fmt.Fprintf(b, "    subject: %s  # %s: a call may leave it out, and is then not declared\n", scalar(subject.path), choose)
	default:
		fmt.Fprintf(b, "    subject: %s  # %s: what is acted on\n", scalar(subject.path), choose)
	}
	fmt.Fprintf(b, "    subject_kind: %s\n", scalar(identifier(kindOf(subject.name(), tool.Name))))
}

// writeParams proposes the values that a contract could look at. What may be
// long or a secret is named and left out: it would be sent with each call.
func writeParams(b *strings.Builder, leaves []leaf) {
	var kept, left []string
	subject, _ := bestSubject(leaves) // which is sent anyway
	taken := map[string]bool{"mcp_tool": true, "mcp_request_id": true}
	for _, l := range leaves {
		if l.path == subject.path {
			continue
		}
		name := l.name()
		if taken[name] {
			name = strings.Join(l.names, "_")
		}
		switch {
		case l.listed || taken[name] || len(name) > maxNameBytes:
			continue
		case len(kept) == maxParams:
			left = append(left, shown(l.path)+": there are many already")
		case isSecret(l.name()):
			left = append(left, shown(l.path)+": it may be a secret")
		case isContent(l.name()):
			left = append(left, shown(l.path)+": it may be long")
		default:
			kept = append(kept, fmt.Sprintf("      %s: %s\n", scalar(name), scalar(l.path)))
		}
		taken[name] = true
	}
	if len(kept) > 0 {
		b.WriteString("    params:  # what a contract looks at; the rest goes out\n" + strings.Join(kept, ""))
	}
	for _, line := range left[:min(len(left), maxParams)] {
		b.WriteString("    # not in params: " + line + "\n")
	}
}

// writeActionID proposes a template where the call has a key of its own; else
// it says what one would be for.
func writeActionID(b *strings.Builder, action string, leaves []leaf) {
	for _, l := range leaves {
		if isRetryKey(l.name()) && !l.listed {
			fmt.Fprintf(b, "    action_id: %s  # a retried call is the same action\n", double(action+":{"+l.path+"}"))
			return
		}
	}
	if subject, found := bestSubject(leaves); found && !subject.listed {
		fmt.Fprintf(b, "    # action_id: %s  # instead of an id for each call: one action for each subject\n", double(action+":{"+subject.path+"}"))
	}
}

// leaf is an argument that is no object and no list.
type leaf struct {
	names    []string // from the arguments on
	path     string
	text     bool // it may be a text
	required bool // every call has it
	listed   bool // it is an element of a list, or within one
}

func (l leaf) name() string {
	for i := len(l.names) - 1; i >= 0; i-- {
		if l.names[i] != "0" || !l.listed {
			return l.names[i]
		}
	}
	return l.names[0]
}

// arguments are the leaves of a schema, in the order of their names at each
// level; of lists the first element's.
func arguments(input map[string]any) []leaf {
	var all []leaf
	walk(top(input), leaf{required: true}, &all)
	return all
}

func walk(at place, above leaf, all *[]leaf) {
	const most = 400
	if len(*all) >= most || len(above.names) > maxDepth {
		return
	}
	for _, name := range at.names() {
		if len(name) > maxNameBytes || name == "" {
			continue
		}
		next, there := at.step(intent.Segment{Name: name, Index: -1})
		if !there {
			continue
		}
		one := above
		one.names = append(append([]string{}, above.names...), name)
		one.required = above.required && at.requires(name)
		descend(next, one, all)
	}
}

func descend(at place, one leaf, all *[]leaf) {
	of := at.types()
	has := func(kind string) bool {
		for _, o := range of {
			if o == kind {
				return true
			}
		}
		return false
	}
	switch {
	case has("object") || len(at.names()) > 0:
		walk(at, one, all)
	case has("array") && !one.listed:
		one.listed = true
		one.names = append(append([]string{}, one.names...), "0")
		if next, there := at.step(intent.Segment{Name: "0", Index: 0}); there && len(next.views) > 0 {
			descend(next, one, all)
		}
	case len(of) > 0 && !has("array"):
		one.path = intent.QuotePath(append([]string{"arguments"}, one.names...)...)
		one.text = has("string")
		*all = append(*all, one)
	}
}
