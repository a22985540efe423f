package api

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/deed-dev/deed/internal/value"
)

// surface is a server under test. Every answer that it gives is held against the
// description of the API before a test sees it.
type surface struct {
	tb     testing.TB
	server *Server
	rules  *rules

	mu     sync.Mutex
	events []Event
	seen   map[string]map[int]bool // statuses by route
}

// start makes a surface over services.
func start(tb testing.TB, services Services, change func(*Options)) *surface {
	tb.Helper()
	s := &surface{tb: tb, seen: map[string]map[int]bool{}}
	o := Options{
		Site: "https://deed.example.com", Pages: "https://deed.example.com", Version: "test", Now: func() value.Instant { return testNow },
		Observe: func(_ context.Context, e Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.events = append(s.events, e)
		},
	}
	if change != nil {
		change(&o)
	}
	s.server, s.rules = New(services, o), described()
	return s
}

// described reads the description once for all tests, which takes a while.
var described = sync.OnceValue(func() *rules {
	text, err := openAPI(table(), "test")
	if err != nil {
		panic(err)
	}
	return readRules(text)
})

// testNow is the time at which everything in these tests happens.
const testNow = value.Instant(1_793_620_800_000_000) // 2026-11-02T12:00:00Z

// ask is a request.
type ask struct {
	method, path string // with its query
	credential   string // as a bearer; "-" for none
	header       http.Header
	body         string
}

// got is an answer.
type got struct {
	status int
	header http.Header
	body   []byte
	error  struct {
		Code          string
		Message       string
		Field         string
		RequiredScope string `json:"required_scope"`
		LimitBytes    int64  `json:"limit_bytes"`
		RetryAfter    int    `json:"retry_after"`
		Errors        []struct {
			Index   *int
			Field   string
			Message string
			Line    int
		}
	}
}

// do sends a request and checks what is true of every answer.
func (s *surface) do(a ask) got {
	s.tb.Helper()
	r := httptest.NewRequest(a.method, a.path, strings.NewReader(a.body))
	if a.body == "" {
		r = httptest.NewRequest(a.method, a.path, http.NoBody)
	} else {
		r.Header.Set("Content-Type", "application/json")
	}
	if a.credential != "-" && a.credential != "" {
		r.Header.Set("Authorization", "Bearer "+a.credential)
	}
	for name, values := range a.header {
		r.Header[name] = values
	}
	return s.send(r)
}

func (s *surface) send(r *http.Request) got {
	s.tb.Helper()
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	g := got{status: w.Code, header: w.Header(), body: w.Body.Bytes()}
	what := r.Method + " " + r.URL.String()
	if g.header.Get(requestIDHeader) == "" || g.header.Get("Cache-Control") != "no-store" {
		s.tb.Errorf("%s: the answer has no id, or may be stored: %v", what, g.header)
	}
	s.mu.Lock()
	event := s.events[len(s.events)-1]
	s.mu.Unlock()
	if event.Status != g.status || event.RequestID != g.header.Get(requestIDHeader) {
		s.tb.Errorf("%s: was answered with %d, and told as %+v", what, g.status, event)
	}
	if g.status >= 400 {
		var body struct{ Error json.RawMessage }
		if err := json.Unmarshal(g.body, &body); err != nil {
			s.tb.Fatalf("%s: the error is no JSON: %s", what, g.body)
		}
		if err := json.Unmarshal(body.Error, &g.error); err != nil || g.error.Code == "" || g.error.Message == "" {
			s.tb.Fatalf("%s: the error has no code or no message: %s", what, g.body)
		}
	}
	if g.error.RetryAfter > 0 && g.header.Get("Retry-After") != fmt.Sprint(g.error.RetryAfter) {
		s.tb.Errorf("%s: Retry-After is %q, and the body says %d", what, g.header.Get("Retry-After"), g.error.RetryAfter)
	}
	if event.Route != "" && r.Method != http.MethodHead {
		if s.seen[event.Route] == nil {
			s.seen[event.Route] = map[int]bool{}
		}
		s.seen[event.Route][g.status] = true
		s.rules.check(s.tb, event.Route, g)
	}
	return g
}

// rules are what the description of the API says of answers.
type rules struct {
	operations map[string]struct { // by route
		answers map[int]*jsonschema.Resolved // nil for no body
		body    *jsonschema.Resolved
	}
}

// readRules reads a description as a client would, and makes it stricter: a member
// that it does not name is an error, so that none is forgotten there.
func readRules(text []byte) *rules {
	var doc struct {
		Paths map[string]map[string]struct {
			RequestBody *struct {
				Content map[string]struct{ Schema *jsonschema.Schema }
			}
			Responses map[string]struct {
				Content map[string]struct{ Schema *jsonschema.Schema }
			}
		}
		Components struct{ Schemas map[string]*jsonschema.Schema }
	}
	text = bytes.ReplaceAll(text, []byte(refBase), []byte("#/$defs/"))
	if err := json.Unmarshal(text, &doc); err != nil {
		panic(err)
	}
	for _, schema := range doc.Components.Schemas {
		if schema.Type == "object" && schema.AdditionalProperties == nil {
			schema.AdditionalProperties = &jsonschema.Schema{Not: &jsonschema.Schema{}}
		}
	}
	resolve := func(schema *jsonschema.Schema) *jsonschema.Resolved {
		defs := map[string]*jsonschema.Schema{}
		for name, d := range doc.Components.Schemas {
			defs[name] = d.CloneSchemas()
		}
		root := &jsonschema.Schema{Ref: schema.Ref, Defs: defs}
		resolved, err := root.Resolve(nil)
		if err != nil {
			panic(err)
		}
		return resolved
	}
	r := &rules{operations: map[string]struct {
		answers map[int]*jsonschema.Resolved
		body    *jsonschema.Resolved
	}{}}
	cache := map[string]*jsonschema.Resolved{}
	cached := func(schema *jsonschema.Schema) *jsonschema.Resolved {
		if cache[schema.Ref] == nil {
			cache[schema.Ref] = resolve(schema)
		}
		return cache[schema.Ref]
	}
	for path, methods := range doc.Paths {
		for method, op := range methods {
			one := r.operations[strings.ToUpper(method)+" "+path]
			one.answers = map[int]*jsonschema.Resolved{}
			for status, response := range op.Responses {
				var n int
				if _, err := fmt.Sscan(status, &n); err != nil {
					panic(err)
				}
				one.answers[n] = nil
				if c, has := response.Content[jsonMedia]; has {
					one.answers[n] = cached(c.Schema)
				}
			}
			if op.RequestBody != nil {
				one.body = cached(op.RequestBody.Content[jsonMedia].Schema)
			}
			r.operations[strings.ToUpper(method)+" "+path] = one
		}
	}
	return r
}

// check holds an answer against the description.
func (r *rules) check(tb testing.TB, route string, g got) {
	tb.Helper()
	schema, documented := r.operations[route].answers[g.status]
	switch {
	case g.status == http.StatusMethodNotAllowed, strings.HasSuffix(route, openAPIPath), strings.HasSuffix(route, docsPath):
		return
	case !documented:
		tb.Errorf("%s: the status %d is not described; answered was %s", route, g.status, g.body)
		return
	case schema == nil:
		if len(g.body) > 0 {
			tb.Errorf("%s: %d has a body, and none is described: %s", route, g.status, g.body)
		}
		return
	}
	if media := g.header.Get("Content-Type"); media != "application/json; charset=utf-8" {
		tb.Errorf("%s: the media type is %q", route, media)
	}
	if err := validate(schema, g.body); err != nil {
		tb.Errorf("%s: the answer of %d is not as described: %v\n%s", route, g.status, err, g.body)
	}
}

func validate(schema *jsonschema.Resolved, text []byte) error {
	var any any
	if err := json.Unmarshal(text, &any); err != nil {
		return err
	}
	return schema.Validate(any)
}
