package intent

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// Mapping says which calls declare which actions. It never changes once it is
// made, and several goroutines may use it.
type Mapping struct {
	AgentID, WorkflowID string
	// Notes are what is odd about the file and allowed.
	Notes []Problem

	tools []*Tool          // in the order of the file
	exact map[string]*Tool // by key
	bare  map[string]*Tool // by the key without its server
}

// Load reads a mapping file, JSON or YAML. An error is a [*MappingError], or
// that of reading the file.
func Load(path string) (*Mapping, error) { return LoadFor(path, "") }

// LoadFor is [Load] for the server that has a label, which decides where two
// keys would match one name: stripe.refund for the label stripe.
func LoadFor(path, label string) (*Mapping, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseFor(path, text, label)
}

// Parse reads a mapping. Name is what errors call it; where it does not end in
// .json, .yaml or .yml, a text that begins with a brace is JSON.
func Parse(name string, text []byte) (*Mapping, error) { return ParseFor(name, text, "") }

// ParseFor is [Parse] for the server that has a label.
func ParseFor(name string, text []byte, label string) (*Mapping, error) {
	root, problems := plant(name, string(text))
	if len(problems) > 0 {
		return nil, &MappingError{File: name, Problems: problems}
	}
	r := &reader{mapping: &Mapping{}}
	r.read(root)
	if len(r.problems) == 0 {
		r.problems = r.mapping.index(label)
	}
	if len(r.problems) > 0 {
		return nil, &MappingError{File: name, Problems: sorted(r.problems)}
	}
	r.mapping.Notes = sorted(r.notes)
	return r.mapping, nil
}

// With is the mapping with those ids that are not empty in place of its own,
// and with a label that decides between the keys of several servers.
func (m *Mapping) With(agentID, workflowID, label string) *Mapping {
	other := *m
	if agentID != "" {
		other.AgentID = agentID
	}
	if workflowID != "" {
		other.WorkflowID = workflowID
	}
	if labelled := other; label != "" && len(labelled.index(label)) == 0 {
		return &labelled
	}
	return &other
}

// Tools are the tools of the file, in its order.
func (m *Mapping) Tools() []*Tool { return slices.Clone(m.tools) }

// Tool is what the mapping says about a tool: its key is the name, or the name
// behind a server's name and a dot. The same spelling wins.
func (m *Mapping) Tool(name string) (*Tool, bool) {
	if t, ok := m.exact[name]; ok {
		return t, true
	}
	t, ok := m.bare[name]
	return t, ok
}

// index fills in the names under which tools are found. Of the keys that have
// one bare name the label's is taken; where there is none, that is a problem.
func (m *Mapping) index(label string) (clashes []Problem) {
	m.exact, m.bare = map[string]*Tool{}, map[string]*Tool{}
	for _, t := range m.tools {
		m.exact[t.Key] = t
		if bare := t.BareName(label); bare != "" && ownedBy(t, label) {
			m.bare[bare] = t
		}
	}
	for _, t := range m.tools {
		bare := t.BareName(label)
		if bare == "" || ownedBy(t, label) {
			continue
		}
		other, taken := m.bare[bare]
		switch {
		case !taken:
			m.bare[bare] = t
		case !ownedBy(other, label) && m.exact[bare] == nil:
			clashes = append(clashes, Problem{
				Line: t.line, Column: t.column, Tool: t.Key,
				Message: fmt.Sprintf("it matches %q, and so does %q in line %d", bare, other.Key, other.line),
				Hint:    "keep one of them, or say which server this is with --label " + strings.TrimSuffix(t.Key, "."+bare),
			})
		}
	}
	return clashes
}

// ownedBy says that a key begins with the label and a dot.
func ownedBy(t *Tool, label string) bool { return label != "" && strings.HasPrefix(t.Key, label+".") }

// Tool is what a mapping says about one tool. What is empty was left out.
type Tool struct {
	Key             string // as in the file
	ContractID      string
	ContractVersion string // an integer
	ActionType      string
	SubjectKind     string
	Params          []string // the names, in the order of the file

	line, column int
	subject      int // places in plan
	compensates  int // none: left out
	params       []int
	actionID     template
	templateText string
	places       []Place
	plan         *plan
}

// none is no place.
const none = -1

// BareName is the tool's name without its server, for a server with a label
// that may have dots; empty if the key names none.
func (t *Tool) BareName(label string) string {
	if ownedBy(t, label) {
		return t.Key[len(label)+1:]
	}
	_, bare, _ := strings.Cut(t.Key, ".")
	return bare
}

// Place is a place in a call that a mapping names.
type Place struct {
	Key          string // subject, params.amount, action_id or compensates
	Path         Path
	Line, Column int
}

// Places are all places of the tool, in the order of the file.
func (t *Tool) Places() []Place { return slices.Clone(t.places) }

// ActionID is the template of the id; empty if the default is taken.
func (t *Tool) ActionID() string { return t.templateText }

// At is where the tool stands in the file.
func (t *Tool) At() (line, column int) { return t.line, t.column }
