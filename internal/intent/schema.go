package intent

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Forms of texts, as an editor can check them: rough where a pattern would be
// longer than the rule.
const (
	pathForm     = `^("([^"\\]|\\.)*"|[^".][^.]*)(\.("([^"\\]|\\.)*"|[^".][^.]*))*$`
	templateForm = `^([^{}]|\{[^{}]+\})+$`
)

// Schema is the JSON Schema (draft 2020-12) of mapping files, made from the
// table of [Keys]. It knows keys, kinds and lengths; whether a path leads
// anywhere is for `deed map check`.
func Schema() []byte {
	root := objectSchema("")
	root.Draft = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "A mapping of Deed"
	root.Description = "Which calls of tools declare which actions."
	text, err := json.Marshal(root, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		panic(err) // there is no input that it could depend on
	}
	return append(text, '\n')
}

// schema is what of JSON Schema mappings need.
type schema struct {
	Draft       string      `json:"$schema,omitzero"`
	Title       string      `json:"title,omitzero"`
	Description string      `json:"description,omitzero"`
	Type        []string    `json:"type,omitzero"`
	Pattern     string      `json:"pattern,omitzero"`
	MinLength   int         `json:"minLength,omitzero"`
	MaxLength   int         `json:"maxLength,omitzero"`
	Properties  *properties `json:"properties,omitzero"`
	Required    []string    `json:"required,omitzero"`
	Names       *schema     `json:"propertyNames,omitzero"`
	Additional  *schema     `json:"additionalProperties,omitzero"`
	MaxMembers  int         `json:"maxProperties,omitzero"`
}

// properties keep the order of the documentation, in which editors offer them.
type properties []property

type property struct {
	name string
	of   *schema
}

// MarshalJSONTo writes the properties as one object.
func (p *properties) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, q := range *p {
		if err := e.WriteToken(jsontext.String(q.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(e, q.of); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndObject)
}

func objectSchema(in string) *schema {
	s := &schema{Type: []string{"object"}, Properties: &properties{}}
	for _, k := range keysIn(in) {
		*s.Properties = append(*s.Properties, property{k.Name, keySchema(k)})
		if k.Required {
			s.Required = append(s.Required, k.Name)
		}
	}
	return s
}

func keySchema(k Key) *schema {
	s := &schema{Type: []string{"string"}, MaxLength: k.MaxBytes}
	switch k.Kind {
	case PathKind:
		s.Pattern, s.MaxLength = pathForm, maxPathBytes
	case TemplateKind:
		s.Pattern = templateForm
	case IntegerKind:
		s.Type = []string{"integer"}
	case PathsKind:
		s.Type, s.MaxMembers = []string{"object"}, maxParams-ownParams
		s.Additional = &schema{Type: []string{"string"}, Pattern: pathForm, MaxLength: maxPathBytes}
	case ToolsKind:
		s.Type, s.Names, s.Additional = []string{"object"}, &schema{MinLength: 1}, objectSchema("tool")
	}
	s.Description = k.Sentence
	if k.Required && k.Kind == TextKind {
		s.MinLength = 1
	}
	if !k.Required {
		s.Type = append(s.Type, "null")
	}
	return s
}
