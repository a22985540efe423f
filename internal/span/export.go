package span

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	tryLimit = 10 * time.Second // for one request to the collector
	tries    = 6                // of one batch
	// firstPause doubles with every try of a batch: 1, 2, 4, 8 and 16 s.
	firstPause = time.Second
	// longestPause is how long a collector may ask to be left alone.
	longestPause = 5 * time.Minute
	// answerMost is how much is read of an answer.
	answerMost = 64 << 10
)

// exporter posts batches to a collector, one at a time.
type exporter struct {
	endpoint string
	headers  map[string]string
	client   *http.Client
	process  []keyValue // what is said of this process
	version  string
	count    func(result string, n int)
	news     *news

	once     sync.Once
	hurrying chan struct{} // closed when each batch is tried once
}

var _ exporting = (*exporter)(nil)

func newExporter(o Options) *exporter {
	transport := o.transport
	if transport == nil {
		own := http.DefaultTransport.(*http.Transport).Clone()
		own.MaxIdleConnsPerHost, own.MaxConnsPerHost = 1, 1
		transport = own
	}
	e := &exporter{
		endpoint: o.Endpoint, headers: o.Headers, version: o.Version, count: o.Count,
		client: &http.Client{
			Transport: transport, Timeout: tryLimit,
			// The headers are for this collector and not for whomever it names.
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
		news: newNews(o.Log, o.Headers), hurrying: make(chan struct{}),
	}
	if e.count == nil {
		e.count = func(string, int) {}
	}
	for _, a := range describe(o) {
		e.process = append(e.process, keyValueOf(a))
	}
	return e
}

func (e *exporter) hurry()        { e.once.Do(func() { close(e.hurrying) }) }
func (e *exporter) failing() bool { return e.news.bad() }

// Shutdown implements [sdktrace.SpanExporter].
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// ExportSpans implements [sdktrace.SpanExporter]. It tries again where the
// specification says so, and counts what the collector took. Errors were told to the
// log already, and mean that it took nothing.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	text, err := encode(e.process, e.version, spans)
	if err == nil {
		text, err = zipped(text)
	}
	if err != nil {
		e.news.failed("they cannot be written")
		return fmt.Errorf("write spans: %w", err)
	}
	for try := 1; ; try++ {
		took, problem := e.post(ctx, text)
		if problem == nil {
			refused := min(max(took.rejected, 0), len(spans))
			e.news.went(took)
			e.count(Refused, refused)
			e.count(Sent, len(spans)-refused)
			return nil
		}
		if ctx.Err() != nil {
			e.news.failed("the server ended before the collector answered")
			return ctx.Err()
		}
		e.news.failed(problem.reason)
		if !problem.again || try == tries || !e.pause(ctx, pauseOf(try, problem.after)) {
			return problem
		}
	}
}

// pauseOf is how long to wait after a try: as long as the collector asks for, else
// longer each time, and never all servers for the same time.
func pauseOf(try int, asked time.Duration) time.Duration {
	if asked > 0 {
		return min(asked, longestPause)
	}
	d := firstPause << (try - 1)
	return d/2 + rand.N(d/2+1)
}

// pause waits. It says no if it is not worth waiting any more.
func (e *exporter) pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-e.hurrying:
		return false
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// problem is why a batch was not taken.
type problem struct {
	reason string // for the log: without the URL, a header or what the collector wrote
	again  bool
	after  time.Duration // as the collector asked; 0 if it did not
}

func (p *problem) Error() string { return "send spans: " + p.reason }

// taken is what a collector says of a batch that it took.
type taken struct {
	rejected int
	message  string
}

// post sends a batch once.
func (e *exporter) post(ctx context.Context, text []byte) (taken, *problem) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, e.endpoint, bytes.NewReader(text))
	if err != nil {
		return taken{}, &problem{reason: "the endpoint is no URL"}
	}
	for name, value := range e.headers {
		r.Header.Set(name, value)
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Content-Encoding", "gzip")
	r.Header.Set("User-Agent", "deed/"+e.version)
	answer, err := e.client.Do(r)
	if err != nil {
		return taken{}, &problem{reason: whyNot(err), again: true}
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, answerMost))
	switch {
	case answer.StatusCode >= 200 && answer.StatusCode < 300:
		// What cannot be read is no reason to send it twice.
		return takenOf(body), nil
	case retryable(answer.StatusCode):
		return taken{}, &problem{reason: statusText(answer.StatusCode), again: true, after: retryAfter(answer.Header.Get("Retry-After"), time.Now())}
	case err != nil:
		return taken{}, &problem{reason: "the answer breaks off"}
	}
	return taken{}, &problem{reason: statusText(answer.StatusCode)}
}

func statusText(code int) string {
	return "the collector answers " + strings.TrimSpace(strconv.Itoa(code)+" "+http.StatusText(code))
}

// retryable says whether a status asks to send the same again.
// https://opentelemetry.io/docs/specs/otlp/#retryable-response-codes
func retryable(status int) bool {
	switch status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// retryAfter reads seconds or a date; 0 if it is neither, or over.
// https://www.rfc-editor.org/rfc/rfc9110#name-retry-after
func retryAfter(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// whyNot is an error of the network without the URL.
func whyNot(err error) string {
	if at, is := errors.AsType[*url.Error](err); is {
		if at.Timeout() {
			return "the collector does not answer in time"
		}
		err = at.Err
	}
	return err.Error()
}

// takenOf reads ExportTraceServiceResponse. Its number may be text or a number.
func takenOf(body []byte) taken {
	var answer struct {
		PartialSuccess struct {
			RejectedSpans any    `json:"rejectedSpans"`
			ErrorMessage  string `json:"errorMessage"`
		} `json:"partialSuccess"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return taken{}
	}
	t := taken{message: answer.PartialSuccess.ErrorMessage}
	switch n := answer.PartialSuccess.RejectedSpans.(type) {
	case string:
		t.rejected, _ = strconv.Atoi(n) // 0 if it is none
	case float64:
		t.rejected = int(n)
	}
	return t
}

func zipped(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
