package contract

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Schema is the JSON Schema (draft 2020-12) of the language, made from the
// table of [Keys]. Editors complete and check with it while somebody writes. It
// accepts everything that [Parse] accepts, and knows names, forms and places,
// but no meaning: whether a step is spelled right is for [Parse] alone.
func Schema() []byte {
	root := mappingSchema("")
	root.Draft = "https://json-schema.org/draft/2020-12/schema"
	root.Title = "A contract of Deed"
	root.Description = "Which facts must, may and must not follow an action, and what the action was allowed to be."
	text, err := json.Marshal(root, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		panic(err) // there is no input that it could depend on
	}
	return append(text, '\n')
}

// schema is what of JSON Schema the language needs.
type schema struct {
	Draft       string   `json:"$schema,omitzero"`
	Title       string   `json:"title,omitzero"`
	Description string   `json:"description,omitzero"`
	Type        any      `json:"type,omitzero"` // a name or several
	Enum        []string `json:"enum,omitzero"`
	Default     any      `json:"default,omitzero"`
	Examples    []any    `json:"examples,omitzero"`
	Pattern     string   `json:"pattern,omitzero"`
	MinLength   int      `json:"minLength,omitzero"`
	MaxLength   int      `json:"maxLength,omitzero"`
	Minimum     *int     `json:"minimum,omitzero"`
	Maximum     int      `json:"maximum,omitzero"`

	Items    *schema   `json:"items,omitzero"`
	MinItems int       `json:"minItems,omitzero"`
	AnyOf    []*schema `json:"anyOf,omitzero"`
	OneOf    []*schema `json:"oneOf,omitzero"`

	Properties *properties `json:"properties,omitzero"`
	Required   []string    `json:"required,omitzero"`
	Names      *schema     `json:"propertyNames,omitzero"`
	// Additional is false, or the schema of what stands under the author's names.
	Additional    any `json:"additionalProperties,omitzero"`
	MinProperties int `json:"minProperties,omitzero"`
	MaxProperties int `json:"maxProperties,omitzero"`
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

// noMore is `additionalProperties: false`; a plain false would be left out.
type noMore struct{}

// MarshalJSONTo writes false.
func (noMore) MarshalJSONTo(e *jsontext.Encoder) error { return e.WriteToken(jsontext.False) }

// mappingSchema is the schema of a mapping of the table.
func mappingSchema(in string) *schema {
	s := &schema{Type: "object", Properties: &properties{}, Additional: noMore{}}
	for _, k := range keys {
		if k.In != in {
			continue
		}
		*s.Properties = append(*s.Properties, property{k.Name, keySchema(k)})
		if k.Required {
			s.Required = append(s.Required, k.Name)
		}
	}
	switch in {
	case "limits":
		s.OneOf = []*schema{{Required: []string{"check"}}, {Required: []string{"total", "max", "over"}}, {Required: []string{"count", "max", "over"}}}
	case "steps.sum":
		s.AnyOf = []*schema{{Required: []string{"exactly"}}, {Required: []string{"min"}}, {Required: []string{"max"}}}
	case "steps.count":
		s.MinProperties = 1
	}
	return s
}

// keySchema is the schema of a key's value.
func keySchema(k Key) *schema {
	one := kindSchema(k)
	s := one
	if k.Named {
		s = &schema{Type: "object", Names: &schema{Pattern: nameForm, MaxLength: maxName}, Additional: one, MaxProperties: maxKeys}
		if k.Name == "params" {
			s.Names.Pattern = identifierForm
		}
		if k.Required {
			s.MinProperties = 1
		}
	}
	if k.List {
		s = &schema{Type: "array", Items: one}
		if k.Required || k.Single {
			s.MinItems = 1
		}
		if k.Single {
			s = &schema{AnyOf: []*schema{one, s}}
		}
	}
	s.Description = k.Sentence
	if k.Default != "" {
		s.Description += " Left out: " + k.Default + "."
		s.Default = defaultOf(k)
	}
	return s
}

// defaultOf is a key's default as a value, or nil where words describe it.
func defaultOf(k Key) any {
	switch k.Kind {
	case BooleanKind:
		return k.Default == "true"
	case IntegerKind:
		if wholeForm(k.Default) {
			return jsontext.Value(k.Default)
		}
	case WordKind:
		for _, word := range k.Words {
			if word == k.Default {
				return word
			}
		}
	case DurationKind:
		if _, err := ParseDuration(k.Default); err == nil {
			return k.Default
		}
	}
	return nil
}

// Forms of texts, as regular expressions that ECMA-262 and Go read alike.
const (
	nameForm       = `^[A-Za-z][A-Za-z0-9_-]*$`
	contractIDForm = `^[A-Za-z][A-Za-z0-9_.-]*$`
	identifierForm = `^[A-Za-z_][A-Za-z0-9_]*$`
	factTypeForm   = `^[A-Za-z0-9_-]{1,64}(\.[A-Za-z0-9_-]{1,64})*$`
	spanForm       = `(0|[1-9][0-9]{0,8})`
	refForm        = `refs\.[A-Za-z0-9_.-]{1,64}`
	textForm       = `[^\t\n\r ]`
)

var (
	durationForm = `^(` + spanForm + `w)?(` + spanForm + `d)?(` + spanForm + `h)?(` + spanForm + `m)?(` + spanForm + `s)?$`
	linkForm     = `^\s*(subject|` + refForm + `\s*==\s*((action\.)?(action_id|subject_id)|params\.[A-Za-z_][A-Za-z0-9_]*))\s*$`
)

// kindSchema is the schema of one value of the key's kind.
func kindSchema(k Key) *schema {
	one := 1
	whole := &schema{Type: "integer", Minimum: &one, Maximum: maxCount}
	formed := func(pattern string, examples ...any) *schema {
		return &schema{Type: "string", Pattern: pattern, Examples: examples}
	}
	switch k.Kind {
	case TextKind:
		s := formed(textForm)
		s.MaxLength = maxText
		return s
	case IDKind:
		s := formed(nameForm)
		s.MaxLength = maxName
		return s
	case ContractIDKind:
		s := formed(contractIDForm)
		s.MaxLength = maxName
		return s
	case FactTypeKind:
		s := formed(factTypeForm, "refund.succeeded")
		s.MaxLength = 2 * maxName
		return s
	case ConditionKind:
		return &schema{Type: []string{"string", "boolean"}, Examples: examplesOf(k)}
	case ExpressionKind:
		return &schema{Type: []string{"string", "number", "boolean"}, Examples: examplesOf(k)}
	case DurationKind:
		s := formed(durationForm, "30s", "5m", "48h", "30d", "1w", "1d12h")
		s.MinLength = len("0s")
		return s
	case IntegerKind:
		return whole
	case BooleanKind:
		return &schema{Type: "boolean"}
	case WordKind:
		return &schema{Type: "string", Enum: k.Words}
	case CurrencyKind:
		return formed(textForm, "USD", "currency")
	case RefKind:
		return formed(`^`+refForm+`$`, "refs.refund")
	case LinkKind:
		return formed(linkForm, "refs.idempotency_key == action_id", "subject")
	case ValueKind:
		return &schema{Type: []string{"string", "number", "boolean", "array"}}
	case CountKind:
		return &schema{AnyOf: []*schema{whole, mappingSchema(k.Path())}}
	case MoneyKind:
		return formed(textForm, "2000.00 USD")
	case BoundKind:
		return &schema{AnyOf: []*schema{whole, formed(textForm, "2000.00 USD")}}
	case MappingKind:
		return mappingSchema(k.Path())
	}
	panic(fmt.Sprintf("the kind %q of %s has no schema", k.Kind, k.Path()))
}

// examplesOf are expressions for editors to offer.
func examplesOf(k Key) []any {
	switch k.Name {
	case "check":
		return []any{`params.amount <= money("250.00 USD")`}
	case "when":
		return []any{`params.amount > money("100.00 USD")`}
	case "where":
		if k.In == "orphans" {
			return []any{`fact.actor == "refund-bot"`}
		}
		return []any{"fact.amount == params.amount && fact.currency == params.currency"}
	case "of":
		return []any{"fact.amount"}
	}
	return []any{"params.amount"}
}
