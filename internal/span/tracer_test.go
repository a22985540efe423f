package span

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
)

// The example of the specification.
const (
	parentTrace = "4bf92f3577b34da6a3ce929d0e0e4736"
	parentSpan  = "00f067aa0ba902b7"
	parent      = "00-" + parentTrace + "-" + parentSpan + "-01"
)

func request(method, target string, headers ...string) *http.Request {
	r := httptest.NewRequest(method, target, nil)
	for i := 0; i+1 < len(headers); i += 2 {
		r.Header.Add(headers[i], headers[i+1])
	}
	return r
}

func TestARequestIsBelowTheSpanThatItNamesAndAboveItsUnits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, func(o *Options, _ *collector) { o.Headers = map[string]string{"X-Api-Key": "hush-hush"} })
		r, ended := s.Request(request(http.MethodGet, "https://deed.test/v1/actions/o-1", "Traceparent", parent))
		ctx, unitEnded := s.Unit(r.Context(), Unit{System: "postgres", Kind: "view", Workspace: "wsp_1"})
		if ctx == r.Context() {
			t.Error("the unit's context is the request's")
		}
		time.Sleep(1500 * time.Millisecond)
		unitEnded("unavailable", true, 2)
		s.Answered(r.Context(), Answer{
			Method: http.MethodGet, Route: "GET /v1/actions/{ref}", Status: 503, RequestID: "req_1", Workspace: "wsp_1", Code: "unavailable",
		})
		ended()
		s.Close(time.Minute)

		if len(s.collector.spans) != 2 {
			t.Fatalf("there are the spans %v", s.collector.spans)
		}
		of, said := s.collector.named("GET /v1/actions/{ref}")
		if of.TraceID != parentTrace || of.ParentSpanID != parentSpan || of.Kind != 2 || of.Status.Code != 2 {
			t.Errorf("the request's span is %+v", of)
		}
		if of.Flags != 0x301 { // sampled, and the parent is known to be from elsewhere
			t.Errorf("its flags are %x", of.Flags)
		}
		want := map[string]string{
			"http.request.method": "GET", "http.route": "/v1/actions/{ref}", "http.response.status_code": "503", "url.path": "/v1/actions/REDACTED",
			"url.scheme": "https", "error.type": "503", "deed.request.id": "req_1", "deed.workspace.id": "wsp_1", "deed.error.code": "unavailable",
		}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Errorf("the request's attributes (-want +got):\n%s", diff)
		}
		unit, said := s.collector.named("unit view")
		if unit.TraceID != parentTrace || unit.ParentSpanID != of.SpanID || unit.Kind != 3 || unit.Flags != 0x101 || unit.Status.Code != 2 {
			t.Errorf("the unit's span is %+v", unit)
		}
		want = map[string]string{
			"db.system.name": "postgresql", "deed.unit.kind": "view", "deed.unit.result": "unavailable", "deed.unit.retries": "2",
			"deed.workspace.id": "wsp_1", "error.type": "unavailable",
		}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Errorf("the unit's attributes (-want +got):\n%s", diff)
		}
		// The clock of a bubble begins at 2000-01-01T00:00:00Z.
		if unit.StartTimeUnixNano != "946684800000000000" || unit.EndTimeUnixNano != "946684801500000000" {
			t.Errorf("the unit began at %s and ended at %s", unit.StartTimeUnixNano, unit.EndTimeUnixNano)
		}
		if got := s.collector.urls; !slices.Equal(got, []string{"POST http://collector.test/v1/traces"}) {
			t.Errorf("it was asked %v", got)
		}
		if got := s.collector.heads[0].Get("X-Api-Key"); got != "hush-hush" {
			t.Errorf("the header is %q", got)
		}
		s.check(t, map[string]int{Sent: 2})
	})
}

func TestWithoutAnEndpointNothingIsTracedAndNothingRuns(t *testing.T) {
	t.Parallel()
	s := New(Options{Share: 1})
	if s != nil {
		t.Fatal("there is a tracer")
	}
	r := request(http.MethodGet, "/", "Traceparent", parent)
	if got, ended := s.Request(r); got != r {
		t.Error("the request is another one")
	} else {
		ended()
	}
	ctx := t.Context()
	if got, ended := s.Unit(ctx, Unit{Kind: "do"}); got != ctx {
		t.Error("the unit's context is another one")
	} else {
		ended("ok", false, 0)
	}
	if got, ended := s.Evaluation(ctx, "wsp_1"); got != ctx {
		t.Error("the evaluation's context is another one")
	} else {
		ended(Evaluation{})
	}
	if got, ended := s.Job(ctx, "expire"); got != ctx {
		t.Error("the job's context is another one")
	} else {
		ended(true)
	}
	s.Answered(ctx, Answer{})
	s.Close(time.Hour)
}

func TestThePartThatIsSampledIsSent(t *testing.T) {
	t.Parallel()
	unsampled := strings.TrimSuffix(parent, "1") + "0"
	for _, one := range []struct {
		name, parent string
		share        float64
		ignore       bool
		want         int
	}{
		{name: "all of those that begin here", share: 1, want: 1},
		{name: "none of those that begin here", share: 0, want: 0},
		{name: "what is recorded elsewhere, whatever the share", parent: parent, share: 0, want: 1},
		{name: "not what is not recorded elsewhere", parent: unsampled, share: 1, want: 0},
		{name: "by the share alone: all", parent: unsampled, share: 1, ignore: true, want: 1},
		{name: "by the share alone: none", parent: parent, share: 0, ignore: true, want: 0},
		{name: "a parent that is none", parent: "00-nonsense-01", share: 1, want: 1},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := begin(t, func(o *Options, _ *collector) { o.Share, o.IgnoreParent = one.share, one.ignore })
				r := request(http.MethodGet, "/")
				if one.parent != "" {
					r.Header.Set("Traceparent", one.parent)
				}
				_, ended := s.Request(r)
				ended()
				s.Close(time.Minute)
				if got := len(s.collector.spans); got != one.want {
					t.Errorf("%d spans were sent, want %d", got, one.want)
				}
			})
		})
	}
}

func TestTheShareIsHeldOverManyTraces(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, func(o *Options, _ *collector) { o.Share = 0.25 })
		s.jobs(t.Context(), 4000)
		s.Close(time.Minute)
		// 1,000 are expected, with a deviation of √(4000·¼·¾) = 27.4: this is beyond six.
		if got := len(s.collector.spans); got < 830 || got > 1170 {
			t.Errorf("%d of 4,000 were sent", got)
		}
	})
}

func TestAUnitThatOnlyLooksAndThatNobodyAskedForHasNoSpan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, nil)
		_, ended := s.Unit(t.Context(), Unit{System: "sqlite", Kind: "view", Workspace: "wsp_1"})
		ended("ok", false, 0)
		_, ended = s.Unit(t.Context(), Unit{System: "sqlite", Kind: "do", Workspace: "wsp_1"})
		ended("refused", false, 0)
		s.Close(time.Minute)
		if len(s.collector.spans) != 1 {
			t.Fatalf("there are the spans %v", s.collector.spans)
		}
		if unit, said := s.collector.named("unit do"); unit.Kind != 1 || unit.Status.Code != 0 || said["deed.unit.result"] != "refused" || said["db.system.name"] != "sqlite" {
			t.Errorf("it is %+v with %v", unit, said)
		}
	})
}

func TestAnEvaluationSaysWhatItDidAndAJobWhetherItFailed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, nil)
		_, evaluated := s.Evaluation(t.Context(), "wsp_1")
		evaluated(Evaluation{Wakes: 5, Evaluated: 4, Kept: 3, Failed: 2})
		ctx, ended := s.Job(t.Context(), "audit_head")
		for range jobUnits + 50 {
			_, unitEnded := s.Unit(ctx, Unit{System: "sqlite", Kind: "do", Workspace: "wsp_1"})
			unitEnded("ok", false, 0)
		}
		ended(true)
		s.Close(time.Minute)
		_, said := s.collector.named("evaluate")
		want := map[string]string{
			"deed.workspace.id": "wsp_1", "deed.evaluation.wakes": "5", "deed.evaluation.evaluated": "4", "deed.evaluation.kept": "3", "deed.evaluation.failed": "2",
		}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		job, said := s.collector.named("job audit_head")
		if job.Status.Code != 2 || said["error.type"] != "failed" || said["deed.job.name"] != "audit_head" {
			t.Errorf("the job is %+v with %v", job, said)
		}
		if got := len(s.collector.spans); got != jobUnits+2 {
			t.Errorf("there are %d spans, though a job's units have at most %d", got, jobUnits)
		}
	})
}

func TestWhatIsNotInTheListOfAttributesIsNotSent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, nil)
		r, ended := s.Request(request("HUSH", "/v1/hush?token=hush", "Authorization", "Bearer hush", "User-Agent", "hush",
			"Traceparent", parent, "Tracestate", "vendor=hush", "Baggage", "user=hush", "X-Forwarded-For", "hush", "Cookie", "hush=hush"))
		span := trace.SpanFromContext(r.Context())
		span.SetAttributes(attribute.String("user_agent.original", "hush"), attribute.String("hush", "x"))
		span.RecordError(errors.New("hush"))
		span.AddEvent("hush", trace.WithAttributes(attribute.String("hush", "hush")))
		span.AddLink(trace.Link{Attributes: []attribute.KeyValue{attribute.String("hush", "hush")}})
		s.Answered(r.Context(), Answer{Method: "HUSH", Status: 405})
		func() {
			defer func() { _ = recover() }()
			defer ended()
			panic("hush")
		}()
		s.Close(time.Minute)
		of, said := s.collector.named("HTTP")
		if strings.Contains(strings.ToLower(s.collector.text), "hush") {
			t.Errorf("a secret is sent: %s", s.collector.text)
		}
		if said["http.request.method"] != "_OTHER" || said["http.response.status_code"] != "405" || of.Status.Code != 0 {
			t.Errorf("the span is %+v with %v", of, said)
		}
	})
}

func TestTwoParentsAreNone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := begin(t, nil)
		_, ended := s.Request(request(http.MethodGet, "/", "Traceparent", parent, "Traceparent", parent))
		ended()
		s.Close(time.Minute)
		if of, _ := s.collector.named("GET"); of.TraceID == parentTrace || of.ParentSpanID != "" || len(of.TraceID) != 32 || of.Flags != 0x101 {
			t.Errorf("the span is %+v", of)
		}
	})
}

func TestTheProcessIsDescribedAndTheOperatorsWordsGoFirst(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		name, service string
		attributes    map[string]string
		want          map[string]string
	}{
		{name: "nothing said", want: map[string]string{"service.name": "deed", "service.version": "1.2.0"}},
		{name: "a name", service: "verifier", want: map[string]string{"service.name": "verifier"}},
		{
			name: "attributes", attributes: map[string]string{"team": "payments", "service.name": "verifier", "service.instance.id": "a"},
			want: map[string]string{"team": "payments", "service.name": "verifier", "service.instance.id": "a"},
		},
		{name: "a name twice", service: "verifier", attributes: map[string]string{"service.name": "other"}, want: map[string]string{"service.name": "verifier"}},
		{name: "no text at all", attributes: map[string]string{"team": "\xff"}, want: map[string]string{"team": "\uFFFD"}},
	} {
		t.Run(one.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := begin(t, func(o *Options, _ *collector) { o.Service, o.Attributes = one.service, one.attributes })
				s.jobs(t.Context(), 1)
				s.Close(time.Minute)
				for name, want := range one.want {
					if got := s.collector.about[name]; got != want {
						t.Errorf("%s is %q, want %q", name, got, want)
					}
				}
				if s.collector.about["service.instance.id"] == "" || strings.Count(s.collector.text, `"service.name"`) != 1 {
					t.Errorf("the process is %v", s.collector.about)
				}
			})
		})
	}
}
