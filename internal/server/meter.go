package server

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Meter counts what the server does, for Prometheus. No label has the name of a
// workspace, a member, a contract or anything else of a tenant: metrics are read
// by whoever runs the server, and their number must not grow with the data.
type Meter struct {
	registry *prometheus.Registry
	active   atomic.Int64

	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	failures *prometheus.CounterVec
	spans    *prometheus.CounterVec

	actions     *prometheus.CounterVec
	facts       *prometheus.CounterVec
	verdicts    *prometheus.CounterVec
	evaluations prometheus.Counter
	poisoned    prometheus.Counter
	wakes       prometheus.Counter
	lag         prometheus.Gauge

	units       *prometheus.CounterVec
	unitSeconds *prometheus.HistogramVec
}

// Build says what the program was made from.
type Build struct{ Version, Commit string }

// NewMeter makes a meter with everything at nothing.
func NewMeter(b Build) *Meter {
	m := &Meter{registry: prometheus.NewRegistry()}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	m.requests = counter("deed_http_requests_total", "Requests that were answered.", "route", "method", "status")
	m.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "deed_http_request_seconds", Help: "How long requests took to answer.",
		Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30},
	}, []string{"route"})
	m.failures = counter("deed_worker_failures_total", "How often background work failed and was started again.", "work")
	m.spans = counter("deed_trace_spans_total", "Spans that were sampled, by what became of them: sent, refused by the collector, or dropped because it did not take them in time.", "result")
	m.actions = counter("deed_declarations_total", "Declarations of actions, by what became of them.", "recorded")
	m.facts = counter("deed_facts_total", "Facts that came in, by whether they were new.", "kept")
	m.verdicts = counter("deed_verdicts_total", "Verdicts that were kept because something in them changed.", "badge", "status")
	m.units = counter("deed_database_units_total", "Units of work on the database, by how they ended.", "kind", "result")
	m.unitSeconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "deed_database_unit_seconds", Help: "How long units of work on the database took, with all that is done within.",
		Buckets: []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5},
	}, []string{"kind"})
	m.evaluations = prometheus.NewCounter(prometheus.CounterOpts{Name: "deed_evaluations_total", Help: "Actions that were evaluated, whether or not their verdict changed."})
	m.poisoned = prometheus.NewCounter(prometheus.CounterOpts{Name: "deed_evaluation_failures_total", Help: "Actions that could not be evaluated. Each is tried again."})
	m.wakes = prometheus.NewCounter(prometheus.CounterOpts{Name: "deed_wakes_total", Help: "Wakes that were claimed: reasons to look at actions again."})
	m.lag = prometheus.NewGauge(prometheus.GaugeOpts{Name: "deed_evaluator_lag_seconds", Help: "How long the longest due wake has been due: by how much verdicts are late."})
	active := prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "deed_http_requests_active", Help: "Requests that have begun and are not answered."},
		func() float64 { return float64(m.active.Load()) })
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "deed_build_info", Help: "Always 1; what the program was made from stands in the labels.",
		ConstLabels: prometheus.Labels{"version": b.Version, "commit": b.Commit},
	})
	info.Set(1)
	m.registry.MustRegister(m.requests, m.seconds, m.failures, m.spans, m.actions, m.facts, m.verdicts, m.units, m.unitSeconds,
		m.evaluations, m.poisoned, m.wakes, m.lag, active, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// Handler answers with all of it.
func (m *Meter) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4, Timeout: 10 * time.Second})
}

func (m *Meter) begin()          { m.active.Add(1) }
func (m *Meter) end()            { m.active.Add(-1) }
func (m *Meter) underWay() int64 { return m.active.Load() }

// Answered counts a request. The route is a pattern, never a path: paths have ids
// in them, and strangers make them up.
func (m *Meter) Answered(route, method string, status int, took time.Duration) {
	m.requests.WithLabelValues(route, known(method), strconv.Itoa(status)).Inc()
	m.seconds.WithLabelValues(route).Observe(took.Seconds())
}

// known keeps methods that strangers make up from becoming labels.
func known(method string) string {
	switch method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return method
	}
	return "other"
}

// Spans counts what became of spans.
func (m *Meter) Spans(result string, n int) { m.spans.WithLabelValues(result).Add(float64(n)) }

func (m *Meter) workerFailed(name string) { m.failures.WithLabelValues(name).Inc() }
