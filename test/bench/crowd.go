package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// measureCrowd runs many servers at once over one way, then over the next.
// Each client makes its calls at a steady pace, as agents do, rather than as
// fast as it can: that would measure the queue for the processor.
func measureCrowd(ctx context.Context, b *bench) (*section, error) {
	ways, err := b.ways()
	if err != nil {
		return nil, err
	}
	const turns = 2
	samples := make([]sample, len(ways))
	for turn := range turns {
		for _, i := range rotate(len(ways), turn) {
			all, err := b.crowd(ctx, ways[i])
			if err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], all...)
		}
	}
	pace := time.Duration(b.dose.paceMicros) * time.Microsecond
	s := &section{
		title:  fmt.Sprintf("%d servers at once", b.dose.recorders),
		header: []string{"Way", "n", "Median", "p99", "Worst"},
	}
	s.remark("Each client makes a call every %s; all recorders share one journal.", pace)
	for i, way := range ways {
		s.row(way.name, fmt.Sprint(len(samples[i])), micros(samples[i].median()),
			micros(samples[i].p99()), micros(samples[i].worst()))
	}
	return s, b.checkJournal(ctx, ways, s)
}

func (b *bench) crowd(ctx context.Context, w way) (sample, error) {
	samples := make([]sample, b.dose.recorders)
	failures := make([]error, b.dose.recorders)
	var clients sync.WaitGroup
	for i := range b.dose.recorders {
		clients.Go(func() { samples[i], failures[i] = b.pacedClient(ctx, w, i) })
	}
	clients.Wait()
	var all sample
	for _, s := range samples {
		all = append(all, s...)
	}
	return all, errors.Join(failures...)
}

func (b *bench) pacedClient(ctx context.Context, w way, number int) (sample, error) {
	l, err := w.open(ctx, b.server(smallAnswer))
	if err != nil {
		return nil, err
	}
	// The first call waits for the server to start; it does not count.
	if _, err := l.call(smallAnswer); err != nil {
		return nil, err
	}
	pace := time.Duration(b.dose.paceMicros) * time.Microsecond
	if err := pause(ctx, pace*time.Duration(number)/time.Duration(b.dose.recorders)); err != nil {
		return nil, err
	}
	ticker := time.NewTicker(pace)
	defer ticker.Stop()
	var calls sample
	for range b.dose.paced {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		took, err := l.call(smallAnswer)
		if err != nil {
			return nil, err
		}
		calls = append(calls, took)
	}
	return calls, l.close()
}

// pause spreads the clients over one beat, so that they do not call in step.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
