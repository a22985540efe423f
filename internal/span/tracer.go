package span

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Options say what is traced and where it goes.
type Options struct {
	// Endpoint is the whole URL that spans are posted to; empty is off.
	Endpoint string
	// Headers go with every request to the collector. They are secrets.
	Headers map[string]string
	// Share is how many of the traces that begin here are kept, from 0 to 1. What is
	// below a span of somebody else is kept if that is.
	Share float64
	// IgnoreParent has the share decide on all traces.
	IgnoreParent bool
	// Service names the program among others; empty is "deed".
	Service string
	// Attributes describe this process, in the operator's words.
	Attributes map[string]string
	// Version is the program's.
	Version string

	Log *slog.Logger
	// Count is told what became of spans: [Sent], [Refused] or [Dropped].
	Count func(result string, n int)

	transport http.RoundTripper // of tests
}

// What becomes of a span, as metrics tell it.
const (
	Sent    = "sent"
	Refused = "refused" // the collector took the batch and not this span
	Dropped = "dropped" // the queue was full, or the collector did not take the batch
)

// scopeName is whose spans these are.
const scopeName = "github.com/deed-dev/deed"

// Tracer makes spans. A nil Tracer makes none; all methods work on it. It is safe
// for concurrent use.
type Tracer struct {
	tracer trace.Tracer
	queue  *queue
}

// New makes a tracer, and begins to send. It returns nil if there is no endpoint.
// Whoever made it calls [Tracer.Close].
func New(o Options) *Tracer {
	if o.Endpoint == "" {
		return nil
	}
	exporter := newExporter(o)
	q := newQueue(exporter, o.Count)
	provider := sdktrace.NewTracerProvider(
		sdktrace.WithSpanProcessor(q), sdktrace.WithSampler(sampler(o)),
		// The exporter describes the process. The library would look into the
		// environment for it, where all settings were read already.
		sdktrace.WithResource(resource.Empty()),
		// The text of a panic may hold anything.
		sdktrace.WithoutPanicRecording(),
	)
	return &Tracer{tracer: provider.Tracer(scopeName), queue: q}
}

func sampler(o Options) sdktrace.Sampler {
	share := sdktrace.TraceIDRatioBased(o.Share)
	if o.IgnoreParent {
		return share
	}
	return sdktrace.ParentBased(share)
}

// describe is what is said of the process with every batch. What the operator says
// goes before what the program says of itself.
func describe(o Options) []attribute.KeyValue {
	own := [][2]string{
		{"service.name", cmp.Or(o.Service, "deed")},
		{"service.version", o.Version},
		// Several servers on one database are told apart by it.
		{"service.instance.id", rand.Text()},
		{"telemetry.sdk.name", "opentelemetry"},
		{"telemetry.sdk.language", "go"},
	}
	var all []attribute.KeyValue
	for _, one := range own {
		if _, said := o.Attributes[one[0]]; one[1] != "" && (!said || one[0] == "service.name" && o.Service != "") {
			all = append(all, attribute.String(one[0], one[1]))
		}
	}
	for _, name := range sorted(o.Attributes) {
		if name != "service.name" || o.Service == "" {
			all = append(all, attribute.String(name, o.Attributes[name]))
		}
	}
	return all
}

// Close sends what is left, for at most as long. A collector that does not answer
// already is not waited for.
func (t *Tracer) Close(limit time.Duration) {
	if t == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	_ = t.queue.Shutdown(ctx) // it has told what it could not send
}
