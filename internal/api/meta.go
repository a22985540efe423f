package api

import (
	"bytes"
	"context"
	_ "embed"
	"fmt"
	"html/template"
	"net/http"
	"strings"

	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/view"
)

// Readiness says whether the server can answer.
type Readiness interface {
	// Ready returns nil, or why not.
	Ready(ctx context.Context) error
}

type liveness struct {
	Status string `json:"status"`
}

func healthz(*call) (reply, error) { return answered(liveness{"ok"}, nil) }

func readyz(c *call) (reply, error) {
	if err := c.services.Readiness.Ready(c.ctx); err != nil {
		return reply{}, &store.UnavailableError{Err: err}
	}
	return answered(liveness{"ready"}, nil)
}

type reasonCodes struct {
	Codes []view.ReasonCode `json:"codes"`
}

func listReasonCodes(*call) (reply, error) { return answered(reasonCodes{view.ReasonCodes()}, nil) }

//go:embed docs.html
var docsText string

var docsPage = template.Must(template.New("docs").Parse(docsText))

const (
	openAPIPath = "/openapi.json"
	docsPath    = "/docs"
)

// writePage answers what is no answer of the API: its description, and a page for
// people. The page loads nothing and runs nothing.
func (s *Server) writePage(w http.ResponseWriter, r *http.Request, e *endpoint, x *exchange) error {
	text, media, err := []byte(nil), "application/json; charset=utf-8", error(nil)
	if e.path == docsPath {
		var page bytes.Buffer
		err = docsPage.Execute(&page, s.docs())
		text, media = page.Bytes(), "text/html; charset=utf-8"
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
	} else {
		text, err = s.openAPI()
	}
	if err != nil {
		x.page = false
		return fmt.Errorf("describe the API: %w", err)
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Length", fmt.Sprint(len(text)))
	w.WriteHeader(http.StatusOK)
	x.event.Status, x.event.Bytes = http.StatusOK, len(text)
	if r.Method != http.MethodHead {
		_, _ = w.Write(text)
	}
	return nil
}

type docsRow struct{ Method, Path, Needs, Summary string }

func (s *Server) docs() any {
	var rows []docsRow
	for i := range s.table {
		e := &s.table[i]
		rows = append(rows, docsRow{e.method, e.path, strings.Trim(e.need.String(), "`"), e.summary})
	}
	return struct {
		Version string
		Rows    []docsRow
	}{s.options.Version, rows}
}
