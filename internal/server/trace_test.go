package server

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/span"
	"github.com/deed-dev/deed/internal/store"
)

// received is what a collector got: spans by their names, with their attributes.
type received struct {
	mu    sync.Mutex
	spans map[string]receivedSpan
}

type receivedSpan struct {
	TraceID      string `json:"traceId"`
	SpanID       string `json:"spanId"`
	ParentSpanID string `json:"parentSpanId"`
	Name         string `json:"name"`
	Status       struct {
		Code int `json:"code"`
	} `json:"status"`
	Attributes []struct {
		Key   string            `json:"key"`
		Value map[string]string `json:"value"`
	} `json:"attributes"`
}

func (s receivedSpan) attribute(name string) string {
	for _, a := range s.Attributes {
		if a.Key == name {
			return a.Value["stringValue"] + a.Value["intValue"]
		}
	}
	return ""
}

func (c *received) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var got struct {
		ResourceSpans []struct {
			ScopeSpans []struct {
				Spans []receivedSpan `json:"spans"`
			} `json:"scopeSpans"`
		} `json:"resourceSpans"`
	}
	unzipped, err := gzip.NewReader(r.Body)
	if err == nil {
		err = json.UnmarshalRead(unzipped, &got)
	}
	if err != nil || r.URL.Path != "/v1/traces" {
		http.Error(w, "what is this?", http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range got.ResourceSpans[0].ScopeSpans[0].Spans {
		c.spans[s.Name] = s
	}
	_, _ = io.WriteString(w, "{}")
}

// collect begins a collector and a tracer that sends to it.
func collect(t *testing.T, m *Meter) (*received, *span.Tracer) {
	t.Helper()
	c := &received{spans: map[string]receivedSpan{}}
	at := httptest.NewServer(c)
	t.Cleanup(at.Close)
	return c, span.New(span.Options{Endpoint: at.URL + "/v1/traces", Share: 1, Log: quiet(), Count: m.Spans})
}

func TestRequestsHaveSpansAndProbesHaveNoneAndTheEndSendsThem(t *testing.T) {
	t.Parallel()
	m := NewMeter(Build{})
	c, tracer := collect(t, m)
	s := begin(t, &App{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusTeapot)
		tracer.Answered(r.Context(), span.Answer{Method: r.Method, Route: "GET /v1/actions", Status: http.StatusTeapot})
	})}, func(o *Options) { o.Traces, o.Meter = tracer, m })
	for _, path := range []string{"/healthz", "/readyz", "/metrics", "/v1/actions"} {
		fetch(t, s.url+path)
	}
	s.stop()
	if err := <-s.ended; err != nil {
		t.Fatal(err)
	}
	if len(c.spans) != 1 || c.spans["GET /v1/actions"].attribute("http.response.status_code") != "418" {
		t.Errorf("the collector got %v", c.spans)
	}
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if !strings.Contains(w.Body.String(), `deed_trace_spans_total{result="sent"} 1`+"\n") {
		t.Error("the span is not counted")
	}
}

func TestTheEndIsNotHeldUpByACollectorForLongerThanRequestsWouldBe(t *testing.T) {
	t.Parallel()
	for _, one := range []struct{ limit, ago, want time.Duration }{
		{20 * time.Second, 0, 5 * time.Second},
		{20 * time.Second, 17 * time.Second, 3 * time.Second},
		{20 * time.Second, 35 * time.Second, time.Second}, // workers took long
		{time.Millisecond, 0, time.Second},
	} {
		if got := flushTime(one.limit, one.ago); got != one.want {
			t.Errorf("%s after the end began, of %s, it waits for %s, want %s", one.ago, one.limit, got, one.want)
		}
	}
}

// conflicting is a store whose units run a number of times, and end in a given way.
type conflicting struct {
	store.Store
	runs int
	err  error
}

func (c conflicting) Name() string { return "sqlite" }

func (c conflicting) Do(_ context.Context, _ access.WorkspaceID, fn func(store.Tx) error) error {
	for range c.runs {
		_ = fn(nil)
	}
	return c.err
}

func TestAUnitsSpanSaysHowOftenItRanAgainAndHowItEnded(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name          string
		store         conflicting
		result, again string
		fault         bool
	}{
		{"once", conflicting{runs: 1}, "ok", "0", false},
		{"three times", conflicting{runs: 3}, "ok", "2", false},
		{"not at all", conflicting{err: &store.UnavailableError{Err: errors.New("hush")}}, "unavailable", "0", true},
		{"refused", conflicting{runs: 1, err: errors.New("hush")}, "refused", "0", false},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			c, tracer := collect(t, NewMeter(Build{}))
			ran := 0
			err := Traced(one.store, tracer).Do(t.Context(), "wsp_1", func(store.Tx) error { ran++; return nil })
			if !errors.Is(err, one.store.err) || ran != one.store.runs {
				t.Errorf("it ran %d times and ended with %v", ran, err)
			}
			tracer.Close(time.Minute)
			unit := c.spans["unit do"]
			if unit.attribute("deed.unit.result") != one.result || unit.attribute("deed.unit.retries") != one.again || unit.Status.Code == 2 != one.fault {
				t.Errorf("the span is %+v", unit)
			}
		})
	}
}

func TestAUnitThatPanicsEndsItsSpanAndPanics(t *testing.T) {
	t.Parallel()
	c, tracer := collect(t, NewMeter(Build{}))
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic is gone")
			}
		}()
		_ = Traced(conflicting{runs: 1}, tracer).Do(t.Context(), "wsp_1", func(store.Tx) error { panic("hush") })
	}()
	tracer.Close(time.Minute)
	if unit := c.spans["unit do"]; unit.attribute("deed.unit.result") != "panic" || unit.Status.Code != 2 {
		t.Errorf("the span is %+v", unit)
	}
}

func TestAStoreThatIsNotTracedIsTheSameStore(t *testing.T) {
	t.Parallel()
	s := conflicting{runs: 1}
	if Traced(s, nil) != store.Store(s) {
		t.Error("it is another one")
	}
}

// What a request costs more if nothing is traced.
func BenchmarkARequestWithoutTraces(b *testing.B) {
	s := &serving{o: Options{Meter: NewMeter(Build{}), Log: quiet()}, health: newHealth()}
	s.open(&App{Handler: http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})})
	r, w := httptest.NewRequest(http.MethodGet, "/v1/actions", nil), httptest.NewRecorder()
	b.ReportAllocs()
	for b.Loop() {
		s.ServeHTTP(w, r)
	}
}
