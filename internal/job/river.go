package job

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver"
	"github.com/riverqueue/river/rivermigrate"
	"github.com/riverqueue/river/rivertype"
)

const (
	// rescueAfter is how long after its limit a run counts as dead.
	rescueAfter = time.Minute
	// atOnce is how many tasks run at a time in one instance.
	atOnce = 4
)

// round is what River keeps of a task.
type round struct {
	Task string `json:"task" river:"unique"`
}

// Kind implements [river.JobArgs].
func (round) Kind() string { return "deed_round" }

// InsertOpts lets one round of a task be on its way or under way at a time.
func (round) InsertOpts() river.InsertOpts {
	return river.InsertOpts{UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRunning,
		rivertype.JobStateRetryable, rivertype.JobStateScheduled,
	}}}
}

// Queue runs tasks until it is stopped.
type Queue struct {
	stop, cancel func(context.Context) error
	close        func() error // the database
}

// Stop starts nothing more and waits for what runs until the context ends, when it
// cancels it. It is called once.
func (q *Queue) Stop(ctx context.Context) error {
	err := q.stop(ctx)
	if err != nil {
		// What does not end by itself is cancelled, and gets a moment to notice.
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		err = errors.Join(fmt.Errorf("stop the jobs: %w", err), q.cancel(last))
	}
	return errors.Join(err, q.close())
}

// start runs tasks on a driver whose tables are there.
func start[TTx any](ctx context.Context, driver riverdriver.Driver[TTx], schema string, tasks []Task, log *slog.Logger) (*Queue, error) {
	byName := map[string]Task{}
	longest := time.Duration(0)
	var rounds []*river.PeriodicJob
	for _, t := range tasks {
		byName[t.Name] = t
		longest = max(longest, t.Limit)
		rounds = append(rounds, river.NewPeriodicJob(
			river.PeriodicInterval(t.Every),
			func() (river.JobArgs, *river.InsertOpts) { return round{Task: t.Name}, nil },
			&river.PeriodicJobOpts{RunOnStart: true},
		))
	}
	workers := river.NewWorkers()
	if err := river.AddWorkerSafely(workers, &worker{tasks: byName}); err != nil {
		return nil, err
	}
	client, err := river.NewClient(driver, &river.Config{
		Schema: schema, Workers: workers, PeriodicJobs: rounds,
		Queues: map[string]river.QueueConfig{river.QueueDefault: {MaxWorkers: atOnce}},
		// A task that fails comes round by itself.
		MaxAttempts: 1,
		JobTimeout:  longest, RescueStuckJobsAfter: longest + rescueAfter,
		CompletedJobRetentionPeriod: time.Hour, DiscardedJobRetentionPeriod: 24 * time.Hour,
		Logger: slog.New(quiet{log.Handler()}), ErrorHandler: &failures{log: log},
	})
	if err != nil {
		return nil, err
	}
	// What runs is not cancelled with what starts: see Stop.
	if err := client.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	return &Queue{stop: client.Stop, cancel: client.StopAndCancel}, nil
}

// migrate brings the tables up to this release.
func migrate[TTx any](ctx context.Context, driver riverdriver.Driver[TTx], schema string, log *slog.Logger) error {
	migrator, err := rivermigrate.New(driver, &rivermigrate.Config{Schema: schema, Logger: slog.New(quiet{log.Handler()})})
	if err == nil {
		_, err = migrator.Migrate(ctx, rivermigrate.DirectionUp, nil)
	}
	if err != nil {
		return fmt.Errorf("make the job tables: %w", err)
	}
	return nil
}

// worker does rounds of all tasks.
type worker struct {
	river.WorkerDefaults[round]
	tasks map[string]Task
}

// Work implements [river.Worker].
func (w *worker) Work(ctx context.Context, j *river.Job[round]) error {
	t, known := w.tasks[j.Args.Task]
	if !known { // an instance of another release enqueued it, and has it come round
		return river.JobCancel(fmt.Errorf("the task %s is not known here", j.Args.Task))
	}
	return t.once(ctx)
}

// failures tells the log what failed, since there is nobody else to be told.
type failures struct{ log *slog.Logger }

const failed = "a task failed and is done again in its time"

// HandleError implements [river.ErrorHandler].
func (f *failures) HandleError(_ context.Context, j *rivertype.JobRow, err error) *river.ErrorHandlerResult {
	f.log.Error(failed, "task", string(j.EncodedArgs), "error", err)
	return nil
}

// HandlePanic implements [river.ErrorHandler]. Tasks catch their own.
func (f *failures) HandlePanic(_ context.Context, j *rivertype.JobRow, panicked any, trace string) *river.ErrorHandlerResult {
	f.log.Error(failed, "task", string(j.EncodedArgs), "panic", panicked, "trace", trace)
	return nil
}

// quiet lets River's warnings through and nothing less, since it tells of every start
// and stop of its parts. That a task failed is told by [failures].
type quiet struct{ slog.Handler }

// Enabled implements [slog.Handler].
func (h quiet) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && h.Handler.Enabled(ctx, level)
}

// WithAttrs implements [slog.Handler].
func (h quiet) WithAttrs(attrs []slog.Attr) slog.Handler { return quiet{h.Handler.WithAttrs(attrs)} }

// WithGroup implements [slog.Handler].
func (h quiet) WithGroup(name string) slog.Handler { return quiet{h.Handler.WithGroup(name)} }
