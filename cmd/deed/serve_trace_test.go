package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/deed-dev/deed/internal/job"
	"github.com/deed-dev/deed/internal/setting"
	"github.com/deed-dev/deed/internal/span"
)

// sentSpan is a span as a collector got it.
type sentSpan struct {
	TraceID, SpanID, ParentSpanID, Name string
}

// tracesOf takes traces and keeps what it got.
type tracesOf struct {
	mu    sync.Mutex
	text  strings.Builder
	spans []sentSpan
}

func (c *tracesOf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	unzipped, err := gzip.NewReader(r.Body)
	if err != nil {
		http.Error(w, "not zipped", http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(unzipped)
	if err != nil {
		http.Error(w, "not zipped", http.StatusBadRequest)
		return
	}
	var got struct {
		ResourceSpans []struct {
			ScopeSpans []struct{ Spans []sentSpan }
		}
	}
	if err := json.Unmarshal(body, &got); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text.Write(body)
	c.spans = append(c.spans, got.ResourceSpans[0].ScopeSpans[0].Spans...)
	_, _ = io.WriteString(w, "{}")
}

// below are the names of the spans below one.
func (c *tracesOf) below(id string) []string {
	var names []string
	for _, s := range c.spans {
		if s.ParentSpanID == id {
			names = append(names, s.Name)
		}
	}
	return names
}

// The whole server is traced here, with a secret wherever a client can put one.
func TestTracesOfAServerFollowARequestAndHoldNothingOfWhatItSays(t *testing.T) {
	t.Parallel()
	const secret = "hush"
	c := &tracesOf{}
	collector := httptest.NewServer(c)
	t.Cleanup(collector.Close)
	config := clockConfig(t, "sqlite")
	config.Tracing = setting.Tracing{Endpoint: collector.URL + "/v1/traces", Headers: map[string]string{"X-Api-Key": secret}, Share: 1}
	s := &clockScene{clock: &turnedClock{}}
	s.innerServer = startInner(t, config, s.clock)
	s.furnish(t)
	s.refund(t, "hush-refund")

	const traceID, parentID = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
	ask := func(method, path, body string) {
		r, err := http.NewRequestWithContext(context.Background(), method, s.url+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+s.agent)
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Traceparent", "00-"+traceID+"-"+parentID+"-01")
		r.Header.Set("Tracestate", "vendor=hush")
		r.Header.Set("Baggage", "user=hush")
		r.Header.Set("User-Agent", "hush")
		got, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		got.Body.Close()
	}
	ask("POST", "/v1/actions", `{"action_id":"hush-2","contract_id":"refund_workflow","inputs":{"password":"hush"}}`)
	ask("GET", "/v1/actions/hush-2?hush=hush", "")
	ask("GET", "/v1/actions/hush-none", "")
	ask("GET", "/v1/actions?action_type=hush", "")
	ask("GET", "/hush/hush", "")
	ask("HUSH", "/v1/actions/hush", "")
	ask("POST", "/v1/facts", `{"facts":[{"source":"hush"}]}`)
	waitForVerdict(t, s, "hush-2")
	s.end(t)

	c.mu.Lock()
	defer c.mu.Unlock()
	if text := strings.ToLower(c.text.String()); strings.Contains(text, secret) || strings.Contains(text, s.agent) {
		t.Errorf("a secret was sent: %s", text)
	}
	if got := c.below(parentID); len(got) != 7 || !slices.Contains(got, "POST /v1/actions") || !slices.Contains(got, "GET /v1/actions/{ref}") || !slices.Contains(got, "HTTP") {
		t.Errorf("below the client's span there are %v", got)
	}
	for parent, want := range map[string]string{"POST /v1/actions": "unit do", "evaluate": "unit do"} {
		found := false
		for _, s := range c.spans {
			found = found || s.Name == parent && slices.Contains(c.below(s.SpanID), want)
		}
		if !found {
			t.Errorf("no %q is below a %q", want, parent)
		}
	}
}

// waitForVerdict waits until an action has a verdict that the evaluator made.
func waitForVerdict(t *testing.T, s *clockScene, id string) {
	t.Helper()
	s.clock.turn(76 * time.Hour)
	s.clock.watermark(t, s)
	s.settledBadge(t, id)
}

func TestARoundOfATaskHasASpanAndItsUnitsAreBelowIt(t *testing.T) {
	t.Parallel()
	c := &tracesOf{}
	collector := httptest.NewServer(c)
	t.Cleanup(collector.Close)
	tracer := span.New(span.Options{Endpoint: collector.URL, Share: 1})
	broken := errors.New("hush")
	tasks := traced(tracer, []job.Task{{Name: "expire", Run: func(ctx context.Context) error {
		_, ended := tracer.Unit(ctx, span.Unit{System: "sqlite", Kind: "view", Workspace: "wsp_1"})
		ended("ok", false, 0)
		return broken
	}}})
	if err := tasks[0].Run(t.Context()); !errors.Is(err, broken) {
		t.Errorf("it ends with %v", err)
	}
	tracer.Close(time.Minute)
	if len(c.spans) != 2 || c.spans[1].Name != "job expire" || !slices.Equal(c.below(c.spans[1].SpanID), []string{"unit view"}) {
		t.Errorf("the spans are %v", c.spans)
	}
	if strings.Contains(c.text.String(), "hush") || !strings.Contains(c.text.String(), `"error.type"`) {
		t.Errorf("what was sent is %s", c.text.String())
	}
}
