package main

import (
	"context"
	"log/slog"
	"net/url"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/api"
	"github.com/deed-dev/deed/internal/job"
	"github.com/deed-dev/deed/internal/server"
	"github.com/deed-dev/deed/internal/setting"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/span"
)

// newTraces makes the tracer of a server; nil if nothing is traced.
func newTraces(c setting.Tracing, log *slog.Logger, m *server.Meter) *span.Tracer {
	if c.Endpoint == "" {
		return nil
	}
	to, err := url.Parse(c.Endpoint)
	if err == nil && to.Scheme == "http" && len(c.Headers) > 0 && !setting.Loopback(to.Host) {
		log.Warn("what otlp-headers holds crosses the network in the clear: the collector's URL begins with http://")
	}
	log.Info("traces are sent", "to", c.Endpoint)
	return span.New(span.Options{
		Endpoint: c.Endpoint, Headers: c.Headers, Share: c.Share, IgnoreParent: c.IgnoreParent,
		Service: c.Service, Attributes: c.Attributes, Version: buildVersion().Version, Log: log, Count: m.Spans,
	})
}

// answered tells the span of a request how it ended.
func answered(ctx context.Context, t *span.Tracer, e *api.Event) {
	t.Answered(ctx, span.Answer{
		Method: e.Method, Route: e.Route, Status: e.Status, RequestID: e.RequestID, Workspace: string(e.Workspace), Code: string(e.Code),
	})
}

// evaluation makes spans of the evaluator's units; nil if nothing is traced.
func evaluation(t *span.Tracer) func(context.Context, access.WorkspaceID) (context.Context, func(settlement.Done, error)) {
	if t == nil {
		return nil
	}
	return func(ctx context.Context, w access.WorkspaceID) (context.Context, func(settlement.Done, error)) {
		ctx, ended := t.Evaluation(ctx, string(w))
		return ctx, func(done settlement.Done, err error) {
			ended(span.Evaluation{Wakes: done.Wakes, Evaluated: done.Evaluated, Kept: done.Kept, Failed: done.Failed, Broken: err != nil})
		}
	}
}

// traced are tasks whose runs have spans.
func traced(t *span.Tracer, tasks []job.Task) []job.Task {
	if t == nil {
		return tasks
	}
	for i := range tasks {
		name, run := tasks[i].Name, tasks[i].Run
		tasks[i].Run = func(ctx context.Context) (err error) {
			ctx, ended := t.Job(ctx, name)
			fault := true // also if it panics
			defer func() { ended(fault) }()
			err = run(ctx)
			fault = err != nil
			return err
		}
	}
	return tasks
}
