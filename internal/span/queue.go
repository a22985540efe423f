package span

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	// queueMost is how many spans wait. At a hundred bytes of attributes each that is
	// a few MB.
	queueMost = 4096
	// batchMost is how many are sent at once, far below the 20 MiB that a collector
	// takes.
	batchMost = 512
	// longestWait is how long a span waits for others to go with it.
	longestWait = time.Second
	// hopeless is how long the end waits for a collector that failed before it.
	hopeless = time.Second
)

// exporting is what a queue needs of an exporter, beside [sdktrace.SpanExporter].
type exporting interface {
	sdktrace.SpanExporter
	// hurry has the exporter try each batch once.
	hurry()
	// failing says that the last try failed.
	failing() bool
}

// queue holds spans that have ended until they are sent. Who ends a span never
// waits: what finds no place is dropped and counted.
type queue struct {
	exporter exporting
	count    func(result string, n int)

	waiting chan sdktrace.ReadOnlySpan
	closed  atomic.Bool
	once    sync.Once
	ending  chan struct{} // closed when the rest is to be sent
	done    chan struct{} // closed when it was
	stop    context.CancelFunc
}

var _ sdktrace.SpanProcessor = (*queue)(nil)

func newQueue(e exporting, count func(result string, n int)) *queue {
	if count == nil {
		count = func(string, int) {}
	}
	ctx, stop := context.WithCancel(context.Background())
	q := &queue{
		exporter: e, count: count, stop: stop, waiting: make(chan sdktrace.ReadOnlySpan, queueMost),
		ending: make(chan struct{}), done: make(chan struct{}),
	}
	go q.run(ctx)
	return q
}

// OnStart implements [sdktrace.SpanProcessor].
func (*queue) OnStart(context.Context, sdktrace.ReadWriteSpan) {}

// OnEnd implements [sdktrace.SpanProcessor].
func (q *queue) OnEnd(s sdktrace.ReadOnlySpan) {
	if !s.SpanContext().IsSampled() {
		return
	}
	if q.closed.Load() {
		q.count(Dropped, 1)
		return
	}
	select {
	case q.waiting <- s:
	default:
		q.count(Dropped, 1)
	}
}

// ForceFlush implements [sdktrace.SpanProcessor]. Nobody calls it: spans wait for a
// second at most.
func (*queue) ForceFlush(context.Context) error { return nil }

// Shutdown implements [sdktrace.SpanProcessor]: it sends what waits, until the
// context ends. What is left then is dropped.
func (q *queue) Shutdown(ctx context.Context) error {
	q.once.Do(func() {
		q.closed.Store(true)
		q.exporter.hurry()
		close(q.ending)
	})
	if q.exporter.failing() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, hopeless)
		defer cancel()
	}
	select {
	case <-q.done:
	case <-ctx.Done():
	}
	q.stop() // a try that is under way ends with it
	<-q.done
	return q.exporter.Shutdown(ctx)
}

// run sends batches until the end.
func (q *queue) run(ctx context.Context) {
	defer close(q.done)
	late := time.NewTimer(longestWait)
	late.Stop()
	var batch []sdktrace.ReadOnlySpan
	for {
		select {
		case s := <-q.waiting:
			if batch = append(batch, s); len(batch) == 1 {
				late.Reset(longestWait)
			}
			if len(batch) < batchMost {
				continue
			}
			late.Stop()
		case <-late.C:
		case <-q.ending:
			q.rest(ctx, batch)
			return
		}
		q.send(ctx, batch)
		batch = nil
	}
}

// rest sends a batch and all that waits. After a failure the others are dropped too.
func (q *queue) rest(ctx context.Context, batch []sdktrace.ReadOnlySpan) {
	well := true
	for {
		for more := true; more && len(batch) < batchMost; {
			select {
			case s := <-q.waiting:
				batch = append(batch, s)
			default:
				more = false
			}
		}
		switch {
		case len(batch) == 0:
			return
		case well:
			well = q.send(ctx, batch)
		default:
			q.count(Dropped, len(batch))
		}
		batch = nil
	}
}

// send sends a batch, for as long as the exporter tries.
func (q *queue) send(ctx context.Context, batch []sdktrace.ReadOnlySpan) bool {
	if len(batch) == 0 {
		return true
	}
	if err := q.exporter.ExportSpans(ctx, batch); err != nil {
		q.count(Dropped, len(batch)) // the exporter has told why
		return false
	}
	return true
}
