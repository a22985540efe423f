package server

import (
	"context"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/span"
	"github.com/deed-dev/deed/internal/store"
)

// How long the end waits for traces: for what is left of the time that requests had,
// within these.
const (
	leastFlush = time.Second
	mostFlush  = 5 * time.Second
)

// flushTime is how long sending the last spans may take, where requests had a limit
// and the end began a while ago.
func flushTime(limit, ago time.Duration) time.Duration {
	return min(max(limit-ago, leastFlush), mostFlush)
}

// Traced is a store whose units have spans. Without a tracer it is the store itself.
func Traced(s store.Store, t *span.Tracer) store.Store {
	if t == nil {
		return s
	}
	return &traced{Store: s, tracer: t}
}

type traced struct {
	store.Store
	tracer *span.Tracer
}

func (s *traced) Do(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	return s.unit(ctx, "do", w, s.Store.Do, fn)
}

func (s *traced) View(ctx context.Context, w access.WorkspaceID, fn func(store.Tx) error) error {
	return s.unit(ctx, "view", w, s.Store.View, fn)
}

func (s *traced) unit(ctx context.Context, kind string, w access.WorkspaceID,
	run func(context.Context, access.WorkspaceID, func(store.Tx) error) error, fn func(store.Tx) error,
) error {
	ctx, ended := s.tracer.Unit(ctx, span.Unit{System: s.Name(), Kind: kind, Workspace: string(w)})
	runs, result := 0, "panic"
	defer func() { ended(result, result == "unavailable" || result == "panic", max(runs-1, 0)) }()
	err := run(ctx, w, func(tx store.Tx) error {
		runs++
		return fn(tx)
	})
	result = unitResult(err)
	return err
}
