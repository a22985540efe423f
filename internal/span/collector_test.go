package span

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The messages as a collector reads them, written down anew from opentelemetry-proto
// so that a slip in the encoder is not repeated here. Whatever else is sent is an
// error.
type (
	gotRequest struct {
		ResourceSpans []struct {
			Resource   struct{ Attributes []gotAttribute }
			ScopeSpans []struct {
				Scope struct{ Name, Version string }
				Spans []gotSpan
			}
		}
	}
	gotSpan struct {
		TraceID, SpanID, ParentSpanID string
		Flags                         uint32
		Name                          string
		Kind                          int
		StartTimeUnixNano             string
		EndTimeUnixNano               string
		Attributes                    []gotAttribute
		Status                        struct{ Code int }
	}
	gotAttribute struct {
		Key   string
		Value map[string]jsontext.Value
	}
)

// camel are the names of a message as they must be written.
var camel = regexp.MustCompile(`^(resourceSpans|resource|attributes|scopeSpans|scope|name|version|spans|traceId|spanId|parentSpanId|flags|kind|startTimeUnixNano|endTimeUnixNano|status|code|key|value|stringValue|intValue)$`)

// collector takes batches without a network. It is strict.
type collector struct {
	t *testing.T

	mu     sync.Mutex
	spans  []gotSpan
	text   string // all bodies
	heads  []http.Header
	times  []time.Time
	urls   []string
	about  map[string]string // the process
	answer func(n int, r *http.Request) (*http.Response, error)
}

// RoundTrip implements [http.RoundTripper].
func (c *collector) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.times = append(c.times, time.Now())
	c.urls = append(c.urls, r.Method+" "+r.URL.String())
	c.heads = append(c.heads, r.Header.Clone())
	n, answer := len(c.times), c.answer
	c.mu.Unlock()
	took := reply(http.StatusOK, "{}")
	if answer != nil {
		if took, err = answer(n, r); err != nil {
			return nil, err
		}
	}
	if took.StatusCode == http.StatusOK {
		c.take(r.Header, body)
	}
	return took, nil
}

func (c *collector) take(h http.Header, body []byte) {
	if h.Get("Content-Type") != "application/json" || h.Get("Content-Encoding") != "gzip" {
		c.t.Errorf("the headers are %v", h)
	}
	unzipped, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		c.t.Errorf("the body is not zipped: %v", err)
		return
	}
	text, err := io.ReadAll(unzipped)
	if err != nil {
		c.t.Error(err)
	}
	for decoder := jsontext.NewDecoder(bytes.NewReader(text)); ; {
		token, err := decoder.ReadToken()
		if err != nil {
			break
		}
		kind, n := decoder.StackIndex(decoder.StackDepth())
		if kind == '{' && n%2 == 1 && !camel.MatchString(token.String()) {
			c.t.Errorf("there is no field %s", token)
		}
	}
	var got gotRequest
	if err := json.Unmarshal(text, &got, json.RejectUnknownMembers(true), json.MatchCaseInsensitiveNames(true)); err != nil {
		c.t.Errorf("the body is no ExportTraceServiceRequest: %v\n%s", err, text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.text += string(text)
	for _, resource := range got.ResourceSpans {
		c.about = attributes(c.t, resource.Resource.Attributes)
		for _, scope := range resource.ScopeSpans {
			c.spans = append(c.spans, scope.Spans...)
		}
	}
}

// attributes reads values: of text, or whole numbers as decimal text.
func attributes(t *testing.T, all []gotAttribute) map[string]string {
	found := map[string]string{}
	for _, a := range all {
		for kind, value := range a.Value {
			var text string
			if err := json.Unmarshal(value, &text); err != nil || len(a.Value) != 1 {
				t.Errorf("%s is %s %s", a.Key, kind, value)
			}
			if _, err := strconv.ParseInt(text, 10, 64); kind == "intValue" && err != nil || kind != "intValue" && kind != "stringValue" {
				t.Errorf("%s is %s %s", a.Key, kind, value)
			}
			found[a.Key] = text
		}
	}
	return found
}

// named is the span of a name.
func (c *collector) named(name string) (gotSpan, map[string]string) {
	c.t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.spans {
		if s.Name == name {
			return s, attributes(c.t, s.Attributes)
		}
	}
	c.t.Fatalf("there is no span %q in %v", name, c.spans)
	return gotSpan{}, nil
}

func (c *collector) tries() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.times)
}

func reply(status int, body string, headers ...string) *http.Response {
	r := &http.Response{StatusCode: status, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(body))}
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// always answers in one way.
func always(status int, body string, headers ...string) func(int, *http.Request) (*http.Response, error) {
	return func(int, *http.Request) (*http.Response, error) { return reply(status, body, headers...), nil }
}

// hangs answers when the request is given up.
func hangs(_ int, r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// counted is what became of spans.
type counted struct {
	mu  sync.Mutex
	all map[string]int
}

func (c *counted) add(result string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all[result] += n
}

func (c *counted) of(result string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.all[result]
}

// lines is a log.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) count() int { return strings.Count(l.String(), "\n") }

// scene is a tracer with its collector.
type scene struct {
	*Tracer
	collector *collector
	counted   *counted
	log       *lines
}

func begin(t *testing.T, change func(*Options, *collector)) *scene {
	t.Helper()
	s := &scene{collector: &collector{t: t}, counted: &counted{all: map[string]int{}}, log: &lines{}}
	o := Options{
		Endpoint: "http://collector.test/v1/traces", Share: 1, Version: "1.2.0",
		Log: slog.New(slog.NewTextHandler(s.log, nil)), Count: s.counted.add, transport: s.collector,
	}
	if change != nil {
		change(&o, s.collector)
	}
	s.Tracer = New(o)
	return s
}

// jobs ends some spans that nobody is above.
func (s *scene) jobs(ctx context.Context, n int) {
	for range n {
		_, ended := s.Job(ctx, "expire")
		ended(false)
	}
}

func (s *scene) check(t *testing.T, want map[string]int) {
	t.Helper()
	for _, result := range []string{Sent, Refused, Dropped} {
		if got := s.counted.of(result); got != want[result] {
			t.Errorf("%d spans are %s, want %d", got, result, want[result])
		}
	}
}

func (s gotSpan) String() string { return fmt.Sprintf("%s %s", s.Name, s.SpanID) }
