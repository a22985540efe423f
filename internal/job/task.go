package job

import (
	"context"
	"fmt"
	"runtime/debug"
	"strings"
	"time"
)

// Task is work that comes round.
type Task struct {
	// Name is small letters and underscores. It is what a queue keeps, so that it
	// means the same in every release.
	Name string
	// Every is the time from one start to the next. The first is at once.
	Every time.Duration
	// Limit is how long one run may take.
	Limit time.Duration
	// Run does the work. It ends when the context does, and does no harm when it is
	// done twice.
	Run func(context.Context) error
}

func check(tasks []Task) error {
	names := map[string]bool{}
	for _, t := range tasks {
		switch {
		case t.Name == "" || strings.Trim(t.Name, "abcdefghijklmnopqrstuvwxyz_") != "":
			return fmt.Errorf("%q is no name for a task", t.Name)
		case names[t.Name]:
			return fmt.Errorf("there are two tasks %s", t.Name)
		case t.Every <= 0 || t.Limit <= 0 || t.Run == nil:
			return fmt.Errorf("the task %s says not how often, how long or what", t.Name)
		}
		names[t.Name] = true
	}
	return nil
}

// once runs a task and turns a panic into an error: one task must not end the server.
func (t Task) once(ctx context.Context) (err error) {
	ctx, cancel := context.WithTimeout(ctx, t.Limit)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s: panic: %v\n%s", t.Name, r, debug.Stack())
		}
	}()
	if err := t.Run(ctx); err != nil {
		return fmt.Errorf("%s: %w", t.Name, err)
	}
	return nil
}
