package api

import (
	"net/http/httptest"
	"strings"
	"testing"
)

// What the surface itself costs: everything but the service and the connection.
func BenchmarkDeclaration(b *testing.B) {
	s := New(fakes(), Options{})
	body := samples["POST /v1/actions"].body
	b.ReportAllocs()
	for b.Loop() {
		r := httptest.NewRequest(post, "/v1/actions", strings.NewReader(body))
		r.Header.Set("X-Api-Key", "full-key")
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, r)
		if w.Code != 201 {
			b.Fatalf("%d %s", w.Code, w.Body)
		}
	}
}
