package api

import (
	"fmt"
	"maps"
	"net/http"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/jsonschema-go/jsonschema"
)

// The parts of an OpenAPI 3.1 document that this surface needs,
// https://spec.openapis.org/oas/v3.1.1.html.
type (
	document struct {
		OpenAPI    string              `json:"openapi"`
		Info       info                `json:"info"`
		Paths      map[string]pathItem `json:"paths"`
		Components components          `json:"components"`
	}
	info struct {
		Title       string `json:"title"`
		Version     string `json:"version"`
		Description string `json:"description"`
	}
	pathItem   map[string]*operation // by method, in small letters
	components struct {
		Schemas         map[string]*jsonschema.Schema `json:"schemas"`
		SecuritySchemes map[string]securityScheme     `json:"securitySchemes"`
	}
	securityScheme struct {
		Type   string `json:"type"`
		Scheme string `json:"scheme,omitempty"`
		In     string `json:"in,omitempty"`
		Name   string `json:"name,omitempty"`
	}
	operation struct {
		OperationID string                `json:"operationId"`
		Summary     string                `json:"summary"`
		Description string                `json:"description,omitempty"`
		Parameters  []parameter           `json:"parameters,omitempty"`
		RequestBody *requestBody          `json:"requestBody,omitempty"`
		Responses   map[string]response   `json:"responses"`
		Security    []map[string][]string `json:"security"`
		Needs       string                `json:"x-deed-needs"`
	}
	parameter struct {
		Name        string             `json:"name"`
		In          string             `json:"in"`
		Required    bool               `json:"required,omitempty"`
		Description string             `json:"description,omitempty"`
		Schema      *jsonschema.Schema `json:"schema"`
	}
	requestBody struct {
		Required bool               `json:"required"`
		Content  map[string]content `json:"content"`
	}
	response struct {
		Description string             `json:"description"`
		Content     map[string]content `json:"content,omitempty"`
	}
	content struct {
		Schema *jsonschema.Schema `json:"schema"`
	}
)

const jsonMedia = "application/json"

// openAPI describes the table.
func openAPI(table []endpoint, version string) ([]byte, error) {
	made := newSchemas()
	doc := document{
		OpenAPI: "3.1.1",
		Info: info{
			Title: "Deed", Version: version,
			Description: "What AI agents declare, what systems of record say, and what that comes to. docs/api.md says the same in words.",
		},
		Paths: map[string]pathItem{},
		Components: components{
			Schemas: map[string]*jsonschema.Schema{},
			SecuritySchemes: map[string]securityScheme{
				"key":    {Type: "apiKey", In: "header", Name: "x-api-key"},
				"bearer": {Type: "http", Scheme: "bearer"},
			},
		},
	}
	taken, given := map[string]bool{}, map[string]bool{}
	for i := range table {
		e := &table[i]
		op, err := operationOf(made, e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.route(), err)
		}
		if doc.Paths[e.path] == nil {
			doc.Paths[e.path] = pathItem{}
		}
		doc.Paths[e.path][strings.ToLower(e.method)] = op
		if e.takesBody() && !e.body.open {
			below(made, e.body.kind, taken)
		}
		for _, a := range e.answers {
			below(made, a.kind, given)
		}
	}
	for name, schema := range made.named {
		// A type of both is as strict as requests are.
		if !taken[name] {
			schema = open(schema)
		}
		doc.Components.Schemas[name] = schema
	}
	return json.Marshal(doc, json.Deterministic(true), jsontext.WithIndent("  "))
}

// below notes the names of the structs that are in a type.
func below(made *schemas, t reflect.Type, names map[string]bool) {
	if t == nil {
		return
	}
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
		t = t.Elem()
	}
	ref := made.known[t]
	if t.Kind() != reflect.Struct || ref == nil || ref.Ref == "" {
		return
	}
	name := strings.TrimPrefix(ref.Ref, refBase)
	if names[name] {
		return
	}
	names[name] = true
	for field := range t.Fields() {
		below(made, field.Type, names)
	}
}

var pathPart = regexp.MustCompile(`\{([a-z_]+)\}`)

func operationOf(made *schemas, e *endpoint) (*operation, error) {
	op := &operation{OperationID: operationID(e), Summary: e.summary, Responses: map[string]response{}, Needs: e.need.String()}
	op.Security = []map[string][]string{}
	if e.need.credential {
		op.Security = []map[string][]string{{"key": {}}, {"bearer": {}}}
		if e.need.scope == 0 && (e.need.permission != 0 || e.need.member) && !e.need.proposal {
			op.Security = op.Security[1:] // for members only, who have no key
		}
	}
	for _, found := range pathPart.FindAllStringSubmatch(e.path, -1) {
		op.Parameters = append(op.Parameters, parameter{Name: found[1], In: "path", Required: true, Schema: &jsonschema.Schema{Type: "string"}})
	}
	for i := range e.query {
		op.Parameters = append(op.Parameters, e.query[i].described())
	}
	if e.takesBody() {
		schema, err := made.of(e.body.kind)
		if err != nil {
			return nil, err
		}
		op.RequestBody = &requestBody{Required: true, Content: map[string]content{jsonMedia: {schema}}}
	}
	for _, a := range e.answers {
		r := response{Description: http.StatusText(a.status)}
		if a.kind != nil {
			schema, err := made.of(a.kind)
			if err != nil {
				return nil, err
			}
			r.Content = map[string]content{jsonMedia: {schema}}
		}
		op.Responses[strconv.Itoa(a.status)] = r
	}
	failure, err := made.of(reflect.TypeFor[faultBody]())
	if err != nil {
		return nil, err
	}
	for _, status := range e.failures() {
		op.Responses[strconv.Itoa(status)] = response{
			Description: http.StatusText(status), Content: map[string]content{jsonMedia: {failure.CloneSchemas()}},
		}
	}
	return op, nil
}

// operationID names an operation for programs that generate clients:
// postContractsIdVersionsNActivate.
func operationID(e *endpoint) string {
	id := strings.ToLower(e.method)
	for _, part := range strings.FieldsFunc(strings.TrimPrefix(e.path, "/v1"), func(r rune) bool { return strings.ContainsRune("/{}:_-.", r) }) {
		id += strings.ToUpper(part[:1]) + part[1:]
	}
	return id
}

func (p *param) described() parameter {
	schema := &jsonschema.Schema{Type: "string"}
	for _, option := range p.options {
		schema.Enum = append(schema.Enum, option)
	}
	if p.most > 0 {
		least, most := float64(p.least), float64(p.most)
		schema = &jsonschema.Schema{Type: "integer", Minimum: &least, Maximum: &most}
	}
	return parameter{Name: p.name, In: "query", Required: p.required, Description: p.about, Schema: schema}
}

// failures are the statuses of errors that an endpoint may answer.
func (e *endpoint) failures() []int {
	set := map[int]bool{http.StatusInternalServerError: true}
	for _, status := range e.errors {
		set[status] = true
	}
	set[http.StatusBadRequest] = true // an unknown parameter, a body where none belongs
	if e.need.credential {
		for _, status := range []int{http.StatusUnauthorized, http.StatusTooManyRequests, http.StatusServiceUnavailable} {
			set[status] = true
		}
	}
	if e.need.scope != 0 || e.need.permission != 0 || e.need.member {
		set[http.StatusForbidden] = true
	}
	if e.takesBody() {
		set[http.StatusRequestEntityTooLarge], set[http.StatusUnsupportedMediaType] = true, true
	}
	return slices.Sorted(maps.Keys(set))
}
