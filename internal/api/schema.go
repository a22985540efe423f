package api

import (
	"fmt"
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/evidence"
	"github.com/deed-dev/deed/internal/plan"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/verdict"
	"github.com/deed-dev/deed/internal/view"
)

const refBase = "#/components/schemas/"

// schemas makes the schemas of Go types: one for each named struct, which others
// refer to, as programs that generate clients like it.
type schemas struct {
	known map[reflect.Type]*jsonschema.Schema // what is not a plain struct
	named map[string]*jsonschema.Schema
	types map[string]reflect.Type // whose name it is
}

func newSchemas() *schemas {
	text := func(about string) *jsonschema.Schema { return &jsonschema.Schema{Type: "string", Description: about} }
	moment := &jsonschema.Schema{Type: "string", Format: "date-time", Description: "RFC 3339, in UTC"}
	length := text("a duration: 90s, 24h")
	return &schemas{
		known: map[reflect.Type]*jsonschema.Schema{
			reflect.TypeFor[value.Instant]():       moment,
			reflect.TypeFor[evidence.Resolution](): length,
			reflect.TypeFor[duration]():            length,
			reflect.TypeFor[evidence.Trust]():      enum("self_reported", "asserted", "attested", "independent"),
			reflect.TypeFor[access.Role]():         enum("viewer", "analyst", "admin", "owner"),
			reflect.TypeFor[access.Scope]():        enum(scopeNames()...),
			reflect.TypeFor[access.Preset]():       enum(presetNames()...),
			reflect.TypeFor[plan.Feature]():        enum(featureNames()...),
			reflect.TypeFor[verdict.Result]():      enum("PASS", "FAIL", "UNKNOWN", "NOT_APPLICABLE"),
			reflect.TypeFor[verdict.Status]():      enum("recorded", "provisional", "settled", "revised"),
			reflect.TypeFor[verdict.Mode]():        enum("live", "shadow"),
			reflect.TypeFor[evidence.Mode]():       enum("event", "state"),
			reflect.TypeFor[verdict.Kind]():        enum("step", "never", "state", "limit", "approval", "declaration"),
			reflect.TypeFor[value.Value]():         {Description: "a boolean, text, number, list, amount of money, or time"},
			reflect.TypeFor[jsontext.Value]():      {Type: "object"},
		},
		named: map[string]*jsonschema.Schema{}, types: map[string]reflect.Type{},
	}
}

func featureNames() (names []string) {
	for _, d := range plan.Features() {
		names = append(names, string(d.Feature))
	}
	return names
}

func enum(names ...string) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, name := range names {
		s.Enum = append(s.Enum, name)
	}
	return s
}

func scopeNames() (names []string) {
	for _, s := range access.AllScopes().List() {
		names = append(names, s.String())
	}
	return names
}

func presetNames() (names []string) {
	for _, p := range access.Presets() {
		names = append(names, string(p))
	}
	return names
}

// of is the schema of a type, which refers to a named one if it is a struct.
func (s *schemas) of(t reflect.Type) (*jsonschema.Schema, error) {
	if err := s.collect(t); err != nil {
		return nil, err
	}
	if _, known := s.known[t]; !known {
		return nil, fmt.Errorf("%s is no struct", t)
	}
	return s.known[t].CloneSchemas(), nil
}

// collect makes the schemas of the structs below a type, and of the type itself.
func (s *schemas) collect(t reflect.Type) error {
	if _, known := s.known[t]; known {
		return nil
	}
	shape := t
	switch {
	case t == reflect.TypeFor[view.Verification]():
		shape = reflect.TypeFor[view.VerificationForm]()
	case t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map:
		return s.collect(t.Elem())
	case t.Kind() != reflect.Struct:
		return nil
	}
	name := nameOf(shape)
	if _, taken := s.types[name]; taken {
		name = capital(path.Base(shape.PkgPath())) + name
	}
	if other, taken := s.types[name]; taken {
		return fmt.Errorf("%s and %s have one name", other, t)
	}
	s.types[name] = t
	for field := range shape.Fields() {
		if err := s.collect(field.Type); err != nil {
			return err
		}
	}
	schema, err := jsonschema.ForType(shape, &jsonschema.ForOptions{TypeSchemas: s.known})
	if err != nil {
		return fmt.Errorf("make the schema of %s: %w", t, err)
	}
	tidy(schema)
	s.named[name] = schema
	s.known[t] = &jsonschema.Schema{Ref: refBase + name}
	return nil
}

// nameOf is a type's name as clients see it.
func nameOf(t reflect.Type) string {
	return capital(strings.TrimSuffix(t.Name(), "Form"))
}

func capital(word string) string {
	if word == "" {
		return word
	}
	return strings.ToUpper(word[:1]) + word[1:]
}

// tidy takes null out of where this surface writes none: a list that is empty is
// written as one, and what is not there is left out. A pointer that is always
// written may be null.
func tidy(s *jsonschema.Schema) {
	for name, p := range s.Properties {
		required := slices.Contains(s.Required, name)
		isList := slices.Contains(p.Types, "array") || slices.Contains(p.Types, "object") && p.AdditionalProperties != nil
		switch {
		case isList || !required:
			withoutNull(p)
		case p.Ref != "" || len(p.Types) > 0 && slices.Contains(p.Types, "null"):
		}
		if p.Items != nil {
			withoutNull(p.Items)
		}
		if p.AdditionalProperties != nil {
			withoutNull(p.AdditionalProperties)
		}
		// Beside a reference that can be null there stands nothing but that.
		if p.Ref != "" && len(p.Types) > 0 {
			ref := p.Ref
			if slices.Contains(p.Types, "null") {
				*p = jsonschema.Schema{Description: p.Description, AnyOf: []*jsonschema.Schema{{Ref: ref}, {Type: "null"}}}
			} else {
				*p = jsonschema.Schema{Description: p.Description, Ref: ref}
			}
		}
	}
}

func withoutNull(s *jsonschema.Schema) {
	s.Types = slices.DeleteFunc(s.Types, func(t string) bool { return t == "null" })
	if len(s.Types) == 1 {
		s.Type, s.Types = s.Types[0], nil
	}
	if len(s.Types) == 0 {
		s.Types = nil
	}
}

// open lets members in that nobody knows, in a schema and what is in it: what is
// answered may get more of them at any time.
func open(s *jsonschema.Schema) *jsonschema.Schema {
	s = s.CloneSchemas()
	if s.AdditionalProperties != nil && s.AdditionalProperties.Not != nil {
		s.AdditionalProperties = nil
	}
	return s
}
