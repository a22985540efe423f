package server

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

func TestAWorkerThatFailsOrPanicsIsStartedAgainLaterEachTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var at []time.Duration
		ctx, stop := context.WithCancel(t.Context())
		c := start(ctx, []Worker{{Name: "evaluator", Run: func(ctx context.Context) error {
			at = append(at, time.Since(began))
			switch len(at) {
			case 1:
				return errors.New("broken")
			case 2:
				panic("poison")
			case 3:
				return nil // by itself
			}
			<-ctx.Done()
			return nil
		}}}, quiet(), NewMeter(Build{}))
		time.Sleep(time.Hour)
		stop()
		if left := c.wait(WorkerLimit); len(left) > 0 {
			t.Errorf("%v did not end", left)
		}
		if want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}; !slices.Equal(at, want) {
			t.Errorf("started at %v, want %v", at, want)
		}
	})
}

func TestAWorkerThatDoesNotEndIsNamed(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		hang := make(chan struct{})
		c := start(ctx, []Worker{
			{Name: "stubborn", Run: func(context.Context) error { <-hang; return nil }},
			{Name: "obedient", Run: func(ctx context.Context) error { <-ctx.Done(); return nil }},
		}, quiet(), NewMeter(Build{}))
		synctest.Wait() // until both are at it
		stop()
		if left := c.wait(WorkerLimit); !slices.Equal(left, []string{"stubborn"}) {
			t.Errorf("%v are said to be at it", left)
		}
		close(hang)
		<-c.done
	})
}
