package api

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"
)

var update = flag.Bool("update", false, "write what the code says into docs/api.md")

const pageFile = "../../docs/api.md"

const (
	tableBegin = "<!-- endpoints -->\n"
	tableEnd   = "<!-- endpoints end -->"
)

func TestThePageListsTheEndpointsOfTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.FromSlash(pageFile))
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(text), tableBegin)
	listed, after, ends := strings.Cut(rest, tableEnd)
	if !found || !ends {
		t.Fatal("docs/api.md has no place for the table")
	}
	want := endpointTable()
	if *update {
		if err := os.WriteFile(filepath.FromSlash(pageFile), []byte(before+tableBegin+want+tableEnd+after), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	if listed != want {
		t.Errorf("docs/api.md lists\n%s\nand the code has\n%s\n(-update writes it)", listed, want)
	}
}

// endpointTable is the table as the page has it.
func endpointTable() string {
	var b strings.Builder
	b.WriteString("\n| Request | Needs | For |\n|---|---|---|\n")
	for _, e := range table() {
		fmt.Fprintf(&b, "| `%s %s` | %s | %s |\n", e.method, e.path, e.need, e.summary)
	}
	b.WriteString("| `GET /metrics` | nothing | figures for Prometheus |\n\n")
	return b.String()
}

// The promises of docs/api-actions.md were made before any of this was written.
func TestTheFirstPromisesAreInTheTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.FromSlash("../../docs/api-actions.md"))
	if err != nil {
		t.Fatal(err)
	}
	needs := map[string]string{}
	for _, e := range table() {
		needs[e.route()] = e.need.String()
	}
	promised := regexp.MustCompile("(?m)^\\| `((?:GET|POST) /v1/\\S+)` \\| (`[a-z:]+`) \\|").FindAllStringSubmatch(string(text), -1)
	if len(promised) < 5 {
		t.Fatalf("the page promises %d endpoints, which are too few to be all", len(promised))
	}
	for _, p := range promised {
		if needs[p[1]] != p[2] {
			t.Errorf("%s needs %q, and the page says %q", p[1], needs[p[1]], p[2])
		}
	}
}

// Every endpoint has a word of its own on a page.
func TestThePageSpeaksOfEveryEndpoint(t *testing.T) {
	t.Parallel()
	var pages strings.Builder
	for _, name := range []string{"api.md", "api-actions.md"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "docs", name))
		if err != nil {
			t.Fatal(err)
		}
		body := string(text)
		if before, rest, cut := strings.Cut(body, tableBegin); cut {
			_, after, _ := strings.Cut(rest, tableEnd)
			body = before + after
		}
		pages.WriteString(body)
	}
	for _, e := range table() {
		if !regexp.MustCompile(regexp.QuoteMeta(e.route()) + "[`?]").MatchString(pages.String()) {
			t.Errorf("no page says anything of %s", e.route())
		}
	}
}

func TestTheDescriptionIsOpenAPIThatAClientCanRead(t *testing.T) {
	t.Parallel()
	s := start(t, fakes(), nil)
	g := s.do(ask{method: http.MethodGet, path: "/openapi.json"})
	var doc struct {
		OpenAPI string
		Info    struct{ Version string }
		Paths   map[string]map[string]struct {
			OperationID string
			Summary     string
			Parameters  []struct{ Name, In string }
		}
	}
	if err := json.Unmarshal(g.body, &doc); err != nil {
		t.Fatal(err)
	}
	if doc.OpenAPI != "3.1.1" || doc.Info.Version != "test" {
		t.Errorf("it is OpenAPI %s of version %q", doc.OpenAPI, doc.Info.Version)
	}
	ids := map[string]bool{}
	for _, e := range table() {
		op, there := doc.Paths[e.path][strings.ToLower(e.method)]
		if !there || op.Summary == "" || ids[op.OperationID] {
			t.Errorf("%s is not described by an operation of its own: %+v", e.route(), op)
		}
		ids[op.OperationID] = true
		inPath := 0
		for _, p := range op.Parameters {
			if p.In == "path" {
				inPath++
			}
		}
		if want := strings.Count(e.path, "{"); inPath != want {
			t.Errorf("%s has %d parts to fill in, and %d are described", e.route(), want, inPath)
		}
	}
}

// The page for people must not be a way in.
func TestThePageForPeopleLoadsAndRunsNothing(t *testing.T) {
	t.Parallel()
	g := start(t, fakes(), nil).do(ask{method: http.MethodGet, path: "/docs"})
	page := string(g.body)
	for _, e := range table() {
		if !strings.Contains(page, e.method+" "+e.path+"<") {
			t.Errorf("the page lacks %s", e.route())
		}
	}
	for _, never := range []string{"<script", "javascript:", "<img", "<link", "url("} {
		if strings.Contains(page, never) {
			t.Errorf("the page has %s", never)
		}
	}
	if policy := g.header.Get("Content-Security-Policy"); !strings.HasPrefix(policy, "default-src 'none'") {
		t.Errorf("the policy is %q", policy)
	}
}

// Each example of the page is a body that some endpoint takes or answers, with no
// member that the description does not have.
func TestEveryExampleOfThePageIsABodyThatIsDescribed(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.FromSlash(pageFile))
	if err != nil {
		t.Fatal(err)
	}
	examples := regexp.MustCompile("(?s)```json\n(.*?)\n```").FindAllStringSubmatch(string(text), -1)
	if len(examples) < 20 {
		t.Fatalf("the page has %d examples, which are too few to be all", len(examples))
	}
	for _, example := range examples {
		var reasons []string
		found := false
		for route, op := range described().operations {
			schemas := []*jsonschema.Resolved{op.body}
			for _, answer := range op.answers {
				schemas = append(schemas, answer)
			}
			for _, schema := range schemas {
				if schema == nil {
					continue
				}
				err := validate(schema, []byte(example[1]))
				found = found || err == nil
				if err != nil {
					reasons = append(reasons, fmt.Sprintf("%s: %v", route, err))
				}
			}
		}
		if !found {
			slices.Sort(reasons)
			t.Errorf("no endpoint takes or answers\n%s\n%s", example[1], strings.Join(slices.Compact(reasons), "\n"))
		}
	}
}
