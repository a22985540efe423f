package server

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// Worker is work in the background. Run works until the context ends, and returns
// when it has finished what it was at. What it returns before that is a failure,
// whatever it is: the worker is started again.
type Worker struct {
	Name string
	Run  func(context.Context) error
}

// How soon a worker that failed is started again.
const (
	firstPause   = time.Second
	longestPause = time.Minute
	// steady is how long a worker ran if its failure has nothing to do with the one
	// before.
	steady = 5 * time.Minute
)

// crew are the workers of a server.
type crew struct {
	mu     sync.Mutex
	active map[string]int
	done   chan struct{} // closed when none is left
}

func start(ctx context.Context, workers []Worker, log *slog.Logger, m *Meter) *crew {
	c := &crew{active: map[string]int{}, done: make(chan struct{})}
	var all sync.WaitGroup
	for _, w := range workers {
		c.active[w.Name]++
	}
	for _, w := range workers {
		all.Go(func() {
			defer c.left(w.Name)
			w.keep(ctx, log, m)
		})
	}
	go func() {
		all.Wait()
		close(c.done)
	}()
	return c
}

func (c *crew) left(name string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active[name]--
}

// wait waits for all of them and returns those that are still at it.
func (c *crew) wait(limit time.Duration) []string {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-c.done:
		return nil
	case <-timer.C:
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var names []string
	for name, n := range c.active {
		if n > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// keep runs a worker, and again when it fails.
func (w Worker) keep(ctx context.Context, log *slog.Logger, m *Meter) {
	pause := firstPause
	for ctx.Err() == nil {
		began := time.Now()
		err := w.guarded(ctx)
		if ctx.Err() != nil {
			return
		}
		if time.Since(began) > steady {
			pause = firstPause
		}
		m.workerFailed(w.Name)
		log.Error("background work failed, and is started again", "work", w.Name, "error", err, "in", pause)
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		pause = min(2*pause, longestPause)
	}
}

// guarded keeps a panic in one worker from ending all requests with it.
func (w Worker) guarded(ctx context.Context) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v\n%s", r, debug.Stack())
		}
	}()
	if err := w.Run(ctx); err != nil {
		return err
	}
	return fmt.Errorf("it ended by itself")
}
