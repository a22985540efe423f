package span

import (
	"context"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// parentOnly is what is looked at of a request's headers. tracestate and baggage are
// texts that strangers make up, and would be sent on.
// https://www.w3.org/TR/trace-context/#traceparent-header
type parentOnly http.Header

// Get implements [propagation.TextMapCarrier].
func (h parentOnly) Get(name string) string {
	all := http.Header(h).Values("Traceparent")
	if name != "traceparent" || len(all) != 1 {
		return ""
	}
	return all[0]
}

// Set implements [propagation.TextMapCarrier].
func (parentOnly) Set(string, string) {}

// Keys implements [propagation.TextMapCarrier].
func (parentOnly) Keys() []string { return []string{"traceparent"} }

// Request begins the span of a request, below the one that it names as its parent.
// It returns the request to go on with, and what ends the span.
func (t *Tracer) Request(r *http.Request) (*http.Request, func()) {
	if t == nil {
		return r, func() {}
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	name, method := methodOf(r.Method)
	ctx := propagation.TraceContext{}.Extract(r.Context(), parentOnly(r.Header))
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer),
		trace.WithAttributes(requestMethod.String(method), urlScheme.String(scheme)))
	return r.WithContext(ctx), func() { span.End() }
}

// methodOf is how a method names its span, and the attribute. One that a stranger
// made up is told as such.
// https://opentelemetry.io/docs/specs/semconv/http/http-spans/
func methodOf(method string) (name, told string) {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete,
		http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return method, method
	}
	return "HTTP", "_OTHER"
}

// Answer is how a request ended.
type Answer struct {
	Method    string
	Route     string // a pattern, such as "GET /v1/actions/{ref}"; empty for none
	Status    int
	RequestID string // as the client got it
	Workspace string
	Code      string // of an error, a word of the API
}

// made is a part of a path that whoever asks makes up.
var made = regexp.MustCompile(`\{[^}]*\}`)

// Answered tells the span in a context how its request ended.
func (t *Tracer) Answered(ctx context.Context, a Answer) {
	if t == nil {
		return
	}
	span := trace.SpanFromContext(ctx)
	if !span.IsRecording() {
		return
	}
	all := make([]attribute.KeyValue, 0, 8)
	all = append(all, statusCode.Int(a.Status))
	if a.RequestID != "" {
		all = append(all, requestID.String(a.RequestID))
	}
	if _, path, found := strings.Cut(a.Route, " "); found {
		name, _ := methodOf(a.Method)
		span.SetName(name + " " + path)
		all = append(all, httpRoute.String(path), urlPath.String(made.ReplaceAllString(path, "REDACTED")))
	}
	if a.Workspace != "" {
		all = append(all, workspaceID.String(a.Workspace))
	}
	if a.Code != "" {
		all = append(all, errorCode.String(a.Code))
	}
	if a.Status >= http.StatusInternalServerError {
		// What the client did wrong is no error of the server.
		all = append(all, errorType.String(strconv.Itoa(a.Status)))
		span.SetStatus(codes.Error, "")
	}
	span.SetAttributes(all...)
}

// Unit is a unit of work on the database.
type Unit struct {
	System    string // "sqlite" or "postgres"
	Kind      string // "do" or "view"
	Workspace string
}

// Unit begins the span of a unit of work. A unit that only looks, and that nobody's
// span asked for, has none: background work looks many times a second for whether
// there is something to do. What ends the span is told in a word how the unit
// ended, whether that is the database's fault, and how often it ran again.
func (t *Tracer) Unit(ctx context.Context, u Unit) (context.Context, func(result string, fault bool, retries int)) {
	if t == nil || u.Kind == "view" && !trace.SpanContextFromContext(ctx).IsValid() || !allowed(ctx) {
		return ctx, func(string, bool, int) {}
	}
	system, kind := u.System, trace.SpanKindInternal
	if system == "postgres" {
		system, kind = "postgresql", trace.SpanKindClient // and not within the process
	}
	ctx, span := t.tracer.Start(ctx, "unit "+u.Kind, trace.WithSpanKind(kind),
		trace.WithAttributes(databaseSystem.String(system), unitKind.String(u.Kind), workspaceID.String(u.Workspace)))
	return ctx, func(result string, fault bool, retries int) {
		span.SetAttributes(unitResult.String(result), unitRetries.Int(retries))
		if fault {
			span.SetAttributes(errorType.String(result))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// Evaluation is what a unit of the evaluator did.
type Evaluation struct {
	Wakes, Evaluated, Kept, Failed int
	Broken                         bool // it came to nothing and is tried again
}

// Evaluation begins the span of a unit of the evaluator.
func (t *Tracer) Evaluation(ctx context.Context, workspace string) (context.Context, func(Evaluation)) {
	if t == nil {
		return ctx, func(Evaluation) {}
	}
	ctx, span := t.tracer.Start(ctx, "evaluate", trace.WithAttributes(workspaceID.String(workspace)))
	return ctx, func(e Evaluation) {
		if e.Broken {
			span.SetAttributes(errorType.String("broken"))
			span.SetStatus(codes.Error, "")
		} else {
			span.SetAttributes(wakes.Int(e.Wakes), evaluated.Int(e.Evaluated), kept.Int(e.Kept), failed.Int(e.Failed))
		}
		span.End()
	}
}

// jobUnits is how many units of one job have spans. A job that goes through all
// workspaces would crowd out everything else.
const jobUnits = 100

type allowance struct{}

// allowed says whether one more unit may have a span.
func allowed(ctx context.Context) bool {
	left, limited := ctx.Value(allowance{}).(*atomic.Int64)
	return !limited || left.Add(-1) >= 0
}

// Job begins the span of a slow job by its name, which is a word of the program.
func (t *Tracer) Job(ctx context.Context, name string) (context.Context, func(fault bool)) {
	if t == nil {
		return ctx, func(bool) {}
	}
	left := new(atomic.Int64)
	left.Store(jobUnits)
	ctx, span := t.tracer.Start(context.WithValue(ctx, allowance{}, left), "job "+name, trace.WithAttributes(jobName.String(name)))
	return ctx, func(fault bool) {
		if fault {
			span.SetAttributes(errorType.String("failed"))
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}
