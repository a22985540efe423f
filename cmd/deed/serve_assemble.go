package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/api"
	"github.com/deed-dev/deed/internal/governance"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/job"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/server"
	"github.com/deed-dev/deed/internal/setting"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/span"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/sqlstore"
	"github.com/deed-dev/deed/internal/trail"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/view"
)

// assembly puts the server together: what keeps, what decides, what answers.
type assembly struct {
	config *setting.Config
	log    *slog.Logger
	meter  *server.Meter
	traces *span.Tracer // nil if nothing is traced
	stdout io.Writer
	stderr io.Writer // of the command that prints the secret
	link   string    // of the first start, until it was shown
	// clock is set by tests, which turn it; nil takes the database's.
	clock func() value.Instant
}

// now is the time outside units.
func (a *assembly) now() value.Instant {
	if a.clock != nil {
		return a.clock()
	}
	return systemClock()
}

// open is everything that a server is made of, from the database up.
func (a *assembly) open(ctx context.Context, url string) (_ *server.App, err error) {
	plans, err := readPlans(a.config.Plans)
	if err != nil {
		return nil, err
	}
	kept, err := openStore(ctx, a.config, a.options()...)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(folderError(err), kept.Close())
		}
	}()
	if a.config.Database != "" {
		if err := job.PreparePostgres(ctx, a.config.Database, a.log); err != nil {
			return nil, databaseError(err)
		}
	}
	secret, err := servingVault(ctx, a.config, kept.Directory(), a.stderr)
	if err != nil {
		return nil, err
	}
	if err := secret.Admit(ctx, kept.Directory()); err != nil {
		return nil, err
	}
	s := server.Traced(a.meter.Measured(kept), a.traces)
	accounts, err := account.New(s, a.now)
	if err != nil {
		return nil, err
	}
	if err := a.first(ctx, accounts, url); err != nil {
		return nil, err
	}
	if err := a.missingPlans(ctx, plans, s.Directory()); err != nil {
		return nil, err
	}
	actions := action.NewService(s, action.Options{Random: rand.Reader, Plans: plans})
	facts := intake.NewService(s)
	contracts := governance.New(s, plans)
	ledgers := ledger.New(s, secret)
	evaluator := settlement.NewEvaluator(s, settlement.Options{Workers: workersOf(s), OnFailure: a.poisoned, OnBegin: evaluation(a.traces), OnUnit: a.evaluated})
	surface := api.New(api.Services{
		Authenticator: accounts, Sessions: accounts, Members: accounts, Keys: accounts, Workspaces: accounts,
		ActionRecorder: actions, ActionReader: actions, Facts: facts, Sources: facts,
		ContractReader: contracts, ContractAuthor: contracts, ContractOwner: contracts,
		Trials: actions, Ledger: ledgers, Trail: trail.New(s, systemClock, plans), Readiness: readiness{s},
	}, api.Options{
		Site: view.Site(url), Version: buildVersion().Version, Observe: a.observe,
		Pace: paceOf(a.config.RequestsPerSecond), Now: a.now, Remote: server.NewCaller(a.config.BehindProxy, a.config.TrustedProxies).Text,
	})
	return &server.App{
		Handler: withPages(surface),
		Workers: []server.Worker{
			endless("evaluator", evaluator.Run),
			endless("sequencer", ledger.NewSequencer(ledgers, a.log).Run),
			{Name: "tasks", Run: a.tasks(s, ledgers)},
			a.meter.WatchLag(s),
		},
		Ping: s.Ping, Close: s.Close,
	}, nil
}

// options are how the store is opened.
func (a *assembly) options() []sqlstore.Option {
	all := []sqlstore.Option{behind(a.config, func(problem *sqlstore.ClockError) {
		a.log.Warn("the clock is behind what was written before: what is received now comes before it, and contracts that were activated later do not govern it",
			"clock", problem.Clock, "written", problem.Written, "behind", problem.Behind())
	})}
	if a.clock != nil {
		all = append(all, sqlstore.WithClock(a.clock))
	}
	return all
}

// first makes the workspace of a first start, and keeps its link to be shown.
func (a *assembly) first(ctx context.Context, accounts *account.Service, url string) error {
	made, err := accounts.Bootstrap(ctx, a.config.WorkspaceName, a.config.OwnerEmail)
	if err != nil || made == nil {
		return err
	}
	a.link = signInLink(url, made.Link)
	a.log.Info("first start", "workspace", made.Workspace.ID)
	return nil
}

// tasks are the slow jobs that come round. Where several servers share a database
// one of them does each.
func (a *assembly) tasks(s store.Store, ledgers *ledger.Service) func(context.Context) error {
	all := []job.Task{
		{Name: "expire", Every: 10 * time.Minute, Limit: time.Minute, Run: func(ctx context.Context) error {
			return s.Directory().Expire(ctx, a.now())
		}},
		{Name: "audit_head", Every: time.Minute, Limit: time.Minute, Run: ledgers.HeadAll},
	}
	all = traced(a.traces, all)
	return func(ctx context.Context) error {
		runner, err := a.startTasks(ctx, all)
		if err != nil {
			return err
		}
		<-ctx.Done()
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), server.WorkerLimit/2)
		defer cancel()
		return runner.Stop(stop)
	}
}

func (a *assembly) startTasks(ctx context.Context, all []job.Task) (*job.Queue, error) {
	if a.config.Database != "" {
		return job.OnPostgres(ctx, a.config.Database, all, a.log)
	}
	return job.OnSQLite(ctx, a.config.Data, all, a.log)
}

// paceOf is the pace of each credential: a client that did nothing for two seconds may
// catch up.
func paceOf(perSecond int) api.Pace {
	return api.Pace{PerSecond: float64(perSecond), Burst: 2 * perSecond}
}

// workersOf is how many workspaces are worth evaluating at once.
func workersOf(s store.Store) int {
	if s.Name() == "postgres" {
		return 4
	}
	return 1 // SQLite writes one at a time
}

// endless is a worker that ends with its context and not before.
func endless(name string, run func(context.Context)) server.Worker {
	return server.Worker{Name: name, Run: func(ctx context.Context) error {
		run(ctx)
		return nil
	}}
}

// withPages puts the pages for people beside the API, which sees every other path as
// it came.
func withPages(surface http.Handler) http.Handler {
	signIn := server.SignInPage()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == server.SignInPath {
			signIn.ServeHTTP(w, r)
			return
		}
		surface.ServeHTTP(w, r)
	})
}

// readiness answers as /readyz does.
type readiness struct{ store store.Store }

// Ready implements [api.Readiness].
func (r readiness) Ready(ctx context.Context) error { return r.store.Ping(ctx) }

// observe counts a request and logs what an operator should know of it.
func (a *assembly) observe(ctx context.Context, e api.Event) {
	route := e.Route
	if route == "" {
		route = "none"
	}
	a.meter.Answered(route, e.Method, e.Status, e.Took)
	answered(ctx, a.traces, &e)
	level := slog.LevelDebug
	switch {
	case e.Status == http.StatusServiceUnavailable:
		level = slog.LevelWarn
	case e.Status >= http.StatusInternalServerError:
		level = slog.LevelError
	}
	if !a.log.Enabled(ctx, level) {
		return
	}
	about := []any{"request", e.RequestID, "route", route, "status", e.Status, "took", e.Took, "remote", e.Remote, "workspace", e.Workspace, "actor", e.Actor}
	if e.Code != "" {
		about = append(about, "code", e.Code)
	}
	if e.Err != nil {
		about = append(about, "error", e.Err)
	}
	if e.Stack != nil {
		about = append(about, "stack", string(e.Stack))
	}
	a.log.Log(ctx, level, "request", about...)
}

// poisoned tells of what could not be evaluated.
func (a *assembly) poisoned(w access.WorkspaceID, ref store.Ref, err error) {
	if ref == "" {
		a.log.Error("the evaluator could not finish a unit, and tries again", "workspace", w, "error", err)
		return
	}
	a.log.Error("an action could not be evaluated, and is tried again later", "workspace", w, "action", ref, "error", err)
}

func (a *assembly) evaluated(w access.WorkspaceID, done settlement.Done) {
	a.meter.Evaluated(done.Wakes, done.Evaluated, done.Failed)
	a.log.Debug("evaluated", "workspace", w, "wakes", done.Wakes, "evaluated", done.Evaluated, "kept", done.Kept, "settled", done.Settled,
		"failed", done.Failed, "lag", fmt.Sprint(done.Lag))
}
