package recorder

import (
	"time"

	"github.com/deed-dev/deed/internal/intent"
	"github.com/deed-dev/deed/internal/value"
)

// Mapping says which calls declare which actions. It never changes.
type Mapping struct{ of *intent.Mapping }

// MappingError is everything that is wrong with a mapping file, each with the
// line, the column, the tool and the key.
type MappingError = intent.MappingError

// NotDeclarable says why a call of a mapped tool cannot be declared.
type NotDeclarable = intent.NotDeclarable

// LoadMapping reads a mapping file, JSON or YAML. An error is a
// [*MappingError], or that of reading the file.
func LoadMapping(path string) (*Mapping, error) { return wrapped(intent.Load(path)) }

// ParseMapping reads a mapping from a text. Errors call it name, whose ending
// says whether it is .json or .yaml.
func ParseMapping(name string, text []byte) (*Mapping, error) {
	return wrapped(intent.Parse(name, text))
}

func wrapped(m *intent.Mapping, err error) (*Mapping, error) {
	if err != nil {
		return nil, err
	}
	return &Mapping{m}, nil
}

// Tool is what the mapping says about a tool: by the same name, or by the name
// behind a server's name and a dot.
func (m *Mapping) Tool(name string) (*ToolMapping, bool) {
	tool, ok := m.of.Tool(name)
	return &ToolMapping{of: m.of, tool: tool}, ok
}

// ToolMapping is what a mapping says about one tool, and who acts.
type ToolMapping struct {
	of   *intent.Mapping
	tool *intent.Tool
}

// BuildAction is the body of POST /v1/actions that a call declares, requested
// now. Params is the JSON of the params object of tools/call, and requestID the
// JSON of the request's id, as both were written. Without a template the
// action's id is mcp:{tool}:{request id}. An error is a [*NotDeclarable].
func BuildAction(tool string, params []byte, mapping *ToolMapping, requestID []byte) ([]byte, error) {
	declared, err := mapping.of.Declare(mapping.tool, intent.Call{
		Tool: tool, Params: params, RequestID: requestID, At: value.FromTime(time.Now()),
	})
	return declared.Body, err
}
