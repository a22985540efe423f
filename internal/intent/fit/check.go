package fit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/deed-dev/deed/internal/likeness"
)

// Tool is a tool that a server offers.
type Tool struct {
	Name        string
	Description string
	Input       map[string]any // the schema of its arguments, decoded; nil: none
	ReadOnly    bool           // it changes nothing, as far as anybody can tell
}

// MappingFinding is something about a mapping that its author should know.
type MappingFinding struct {
	Line    int    `json:"line"`    // in the mapping, from 1
	Column  int    `json:"column"`  // in the line, from 1
	Key     string `json:"key"`     // such as `subject` or `params.amount`; empty if it is about the whole
	Message string `json:"message"` // what is so
	Hint    string `json:"hint"`    // what to do; may be empty
	Misfit  bool   `json:"misfit"`  // whether it has to be put right; else it is only said
}

// States of a mapped tool.
const (
	Offered     = "offered"      // the server has it
	Missing     = "missing"      // it has not
	OtherServer = "other_server" // its key names another server
	NotAsked    = "not_asked"    // no server was started
)

// MappedTool is a tool of the mapping.
type MappedTool struct {
	Key        string           `json:"key"`         // as in the file
	Tool       string           `json:"tool"`        // the server's name of it; empty if it has none
	State      string           `json:"state"`       // `offered`, `missing`, `other_server` or `not_asked`
	ContractID string           `json:"contract_id"` // that shall govern its actions
	Findings   []MappingFinding `json:"findings"`    // in the order of the file
}

// UnmappedTool is a tool of the server that the mapping leaves out.
type UnmappedTool struct {
	Tool     string `json:"tool"`      // its name
	ReadOnly bool   `json:"read_only"` // whether it changes nothing, by its annotations or its name
}

// MapCheckDocument is how a mapping and a server fit together.
type MapCheckDocument struct {
	File     string           `json:"file"`     // as it was given
	Fits     bool             `json:"fits"`     // no finding is a misfit, and no mapped tool is missing
	Server   string           `json:"server"`   // the label by which keys were matched; empty if no server was started
	Mapped   []MappedTool     `json:"mapped"`   // tools of the mapping, in its order
	Unmapped []UnmappedTool   `json:"unmapped"` // tools of the server that are not mapped: those that change something first, then by name
	Findings []MappingFinding `json:"findings"` // about the file as a whole
}

// Check looks at a mapping alone.
func Check(file string, m *intent.Mapping) *MapCheckDocument {
	c := &MapCheckDocument{File: file, Mapped: []MappedTool{}, Unmapped: []UnmappedTool{}, Findings: []MappingFinding{}}
	for _, tool := range m.Tools() {
		c.Mapped = append(c.Mapped, MappedTool{Key: tool.Key, State: NotAsked, ContractID: tool.ContractID, Findings: notes(m, tool.Key)})
	}
	c.Findings = append(c.Findings, notes(m, "")...)
	c.settle()
	return c
}

// CheckServer looks at a mapping and at the tools of the server with a label.
func CheckServer(file string, m *intent.Mapping, label string, offered []Tool) *MapCheckDocument {
	c := Check(file, m)
	c.Server = label
	byName := map[string]Tool{}
	for _, tool := range slices.Backward(offered) {
		byName[tool.Name] = tool // of several with one name the first
	}
	labelled := slices.ContainsFunc(m.Tools(), func(t *intent.Tool) bool { return strings.HasPrefix(t.Key, label+".") })
	used := map[string]bool{}
	for i, tool := range m.Tools() {
		mapped := &c.Mapped[i]
		for _, name := range []string{tool.Key, tool.BareName(label)} {
			found, ok := byName[name]
			// Another key may have the better claim to the name.
			if claims, mapped := m.Tool(name); !ok || !mapped || claims.Key != tool.Key {
				continue
			}
			c.Mapped[i].Tool, c.Mapped[i].State, used[name] = name, Offered, true
			mapped.Findings = append(mapped.Findings, places(tool, found)...)
			break
		}
		if mapped.State == Offered {
			continue
		}
		mapped.State = Missing
		if labelled && tool.BareName("") != "" && !strings.HasPrefix(tool.Key, label+".") {
			mapped.State = OtherServer
			continue
		}
		line, column := tool.At()
		mapped.Findings = append(mapped.Findings, MappingFinding{
			Line: line, Column: column, Message: "the server has no tool of this name", Hint: didYouMean(tool.Key, names(offered)), Misfit: true,
		})
	}
	for _, tool := range offered {
		if !used[tool.Name] {
			used[tool.Name] = true
			c.Unmapped = append(c.Unmapped, UnmappedTool{Tool: tool.Name, ReadOnly: tool.ReadOnly})
		}
	}
	slices.SortStableFunc(c.Unmapped, func(a, b UnmappedTool) int {
		return cmp.Or(compareBool(a.ReadOnly, b.ReadOnly), strings.Compare(a.Tool, b.Tool))
	})
	c.settle()
	return c
}

// settle puts findings in order and decides whether all fits.
func (c *MapCheckDocument) settle() {
	c.Fits = !slices.ContainsFunc(c.Findings, func(f MappingFinding) bool { return f.Misfit })
	for _, mapped := range c.Mapped {
		slices.SortStableFunc(mapped.Findings, func(a, b MappingFinding) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
		c.Fits = c.Fits && !slices.ContainsFunc(mapped.Findings, func(f MappingFinding) bool { return f.Misfit })
	}
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// notes are what the reader of the file found odd. A key that is nearly one
// that means something was surely meant to be it.
func notes(m *intent.Mapping, tool string) []MappingFinding {
	found := []MappingFinding{}
	for _, note := range m.Notes {
		if note.Tool == tool {
			found = append(found, MappingFinding{
				Line: note.Line, Column: note.Column, Key: note.Key, Message: note.Message, Hint: note.Hint,
				Misfit: strings.HasPrefix(note.Hint, "did you mean "),
			})
		}
	}
	return found
}

// places are the findings about the places that a mapping names of a tool.
func places(mapped *intent.Tool, offered Tool) []MappingFinding {
	var found []MappingFinding
	for _, p := range mapped.Places() {
		message, hint, misfit := look(p, offered)
		if message != "" {
			found = append(found, MappingFinding{Line: p.Line, Column: p.Column, Key: p.Key, Message: message, Hint: hint, Misfit: misfit})
		}
	}
	return found
}

// callMembers are the members of the params of tools/call, in all revisions
// of the protocol.
var callMembers = [...]string{"arguments", "name", "_meta", "task", "inputResponses", "requestState"}

// look follows one path through the schema of a tool.
func look(p intent.Place, offered Tool) (message, hint string, misfit bool) {
	first := p.Path.Segments[0].Name
	switch {
	case first == "name" && len(p.Path.Segments) > 1:
		return fmt.Sprintf("%s leads nowhere: the name is a text", p.Path.Text), "", true
	case first != "arguments" && slices.Contains(callMembers[:], first):
		return "", "", false
	case first != "arguments":
		return fmt.Sprintf("%s is not in the params of tools/call", p.Path.Text), startHint(p, offered), true
	}
	at, optional := top(offered.Input), ""
	for i, segment := range p.Path.Segments[1:] {
		next, there := at.step(segment)
		way := p.Path.Segments[:i+1]
		if !there {
			return fmt.Sprintf("%s is not in the tool's schema", p.Path.Text), memberHint(way, segment.Name, at.names()), true
		}
		if segment.Index < 0 && optional == "" && !next.open && !at.requires(segment.Name) {
			optional = spell(p.Path.Segments[:i+2])
		}
		at = next
	}
	needed := p.Key == "subject" || p.Key == "action_id"
	switch {
	case (needed || p.Key == "compensates") && at.neverScalar():
		return fmt.Sprintf("%s is an object or a list, and a text or a number is needed", p.Path.Text), memberHint(p.Path.Segments, "", at.names()), true
	case needed && optional != "":
		return fmt.Sprintf("%s may be left out of a call, which is then not declared", optional), "", false
	}
	return "", "", false
}

// startHint is for a path that begins with no member of the params.
func startHint(p intent.Place, offered Tool) string {
	at, there := top(offered.Input), len(offered.Input) > 0
	for _, segment := range p.Path.Segments {
		if !there || at.open {
			break
		}
		at, there = at.step(segment)
	}
	if there && !at.open {
		return "did you mean arguments." + p.Path.Text + "?"
	}
	if near := likeness.Closest(p.Path.Segments[0].Name, callMembers[:]); near != "" {
		return "did you mean " + near + "?"
	}
	return "a path begins with " + strings.Join(callMembers[:3], ", ") + " or another member of the params"
}

// memberHint is for a member that is not there.
func memberHint(way []intent.Segment, name string, names []string) string {
	const most = 12
	if near := likeness.Closest(name, names); near != "" {
		return "did you mean " + spell(way) + "." + intent.QuotePath(near) + "?"
	}
	if len(names) == 0 {
		return ""
	}
	more := ""
	if len(names) > most {
		names, more = names[:most], ", …"
	}
	return spell(way) + " has " + strings.Join(names, ", ") + more
}

func spell(way []intent.Segment) string {
	names := make([]string, 0, len(way))
	for _, segment := range way {
		names = append(names, segment.Name)
	}
	return intent.QuotePath(names...)
}

func names(tools []Tool) []string {
	all := make([]string, 0, len(tools))
	for _, tool := range tools {
		all = append(all, tool.Name)
	}
	return all
}

func didYouMean(name string, names []string) string {
	if near := likeness.Closest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return ""
}
