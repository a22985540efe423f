//go:build unix

package servertest

import (
	"context"
	"crypto/rand"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/deed-dev/deed/internal/access"
	"github.com/deed-dev/deed/internal/account"
	"github.com/deed-dev/deed/internal/action"
	"github.com/deed-dev/deed/internal/api"
	"github.com/deed-dev/deed/internal/governance"
	"github.com/deed-dev/deed/internal/intake"
	"github.com/deed-dev/deed/internal/ledger"
	"github.com/deed-dev/deed/internal/server"
	"github.com/deed-dev/deed/internal/settlement"
	"github.com/deed-dev/deed/internal/store"
	"github.com/deed-dev/deed/internal/store/postgres"
	"github.com/deed-dev/deed/internal/store/sqlite"
	"github.com/deed-dev/deed/internal/trail"
	"github.com/deed-dev/deed/internal/value"
	"github.com/deed-dev/deed/internal/vault"
	"github.com/deed-dev/deed/internal/view"
)

// mortalServer is deed serve as far as tests need it, put together around a store that
// has the process die at a step. The program itself has no such place.
type mortalServer struct {
	data, secretFile, database string
	log                        *slog.Logger
	meter                      *server.Meter
	doom                       *doom
	link                       string // of the first start
}

// serveMortal serves until the process is told to end, or dies.
func serveMortal(args []string) error {
	m := &mortalServer{database: os.Getenv("DEED_DATABASE"), meter: server.NewMeter(server.Build{})}
	flags := flag.NewFlagSet("serve", flag.ContinueOnError)
	listen := flags.String("listen", "", "")
	level := flags.String("log-level", "info", "")
	flags.StringVar(&m.data, "data", "", "")
	flags.StringVar(&m.secretFile, "secret-file", "", "")
	err := flags.Parse(args)
	if err != nil {
		return err
	}
	if m.doom, err = doomOf(os.Getenv(doomVariable)); err != nil {
		return err
	}
	if m.log, err = server.NewLog(os.Stderr, "text", *level); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	return server.Run(ctx, server.Options{
		Listen: *listen, ShutdownLimit: time.Minute, Log: m.log, Meter: m.meter,
		Started: func(string, string) {
			if m.link != "" {
				fmt.Printf("\n    %s\n\n    deed login '%s'\n", m.link, m.link)
			}
		},
	}, m.open)
}

func (m *mortalServer) openStore(ctx context.Context) (store.Store, *vault.Vault, error) {
	if m.database != "" {
		s, err := postgres.Open(ctx, m.database)
		if err != nil {
			return nil, nil, err
		}
		v, err := vault.Load(m.secretFile)
		return s, v, err
	}
	s, err := sqlite.Open(ctx, m.data)
	if err != nil {
		return nil, nil, err
	}
	v, err := vault.LoadOrMake(filepath.Join(m.data, "secret"))
	return s, v, err
}

func systemClock() value.Instant { return value.FromTime(time.Now()) }

func (m *mortalServer) open(ctx context.Context, url string) (*server.App, error) {
	kept, secret, err := m.openStore(ctx)
	if err != nil {
		return nil, err
	}
	if err := secret.Admit(ctx, kept.Directory()); err != nil {
		return nil, err
	}
	s := m.meter.Measured(&mortal{Store: kept, doom: m.doom})
	accounts, err := account.New(s, systemClock)
	if err != nil {
		return nil, err
	}
	made, err := accounts.Bootstrap(ctx, "torture", "owner@localhost")
	if err != nil {
		return nil, err
	}
	if made != nil {
		m.link = url + server.SignInPath + "#" + made.Link.Reveal()
	}
	workers := 1
	if s.Name() == "postgres" {
		workers = 4
	}
	actions := action.NewService(s, action.Options{Random: rand.Reader})
	facts := mortalIntake{Service: intake.NewService(s), doom: m.doom}
	contracts := governance.New(s, nil)
	ledgers := ledger.New(s, secret)
	evaluator := settlement.NewEvaluator(s, settlement.Options{Workers: workers, OnFailure: m.failed, OnUnit: m.evaluated})
	surface := api.New(api.Services{
		Authenticator: accounts, Sessions: accounts, Members: accounts, Keys: accounts, Workspaces: accounts,
		ActionRecorder: mortalRecorder{ActionRecorder: actions, doom: m.doom}, ActionReader: actions, Facts: facts, Sources: facts,
		ContractReader: contracts, ContractAuthor: contracts, ContractOwner: contracts,
		Trials: actions, Ledger: ledgers, Trail: trail.New(s, systemClock, nil), Readiness: pinged{s},
	}, api.Options{Site: view.Site(url), Now: systemClock, Observe: m.observe})
	return &server.App{
		Handler: surface,
		Workers: []server.Worker{
			{Name: "evaluator", Run: func(ctx context.Context) error { evaluator.Run(ctx); return nil }},
			{Name: "sequencer", Run: func(ctx context.Context) error { ledger.NewSequencer(ledgers, m.log).Run(ctx); return nil }},
		},
		Ping: s.Ping, Close: s.Close,
	}, nil
}

func (m *mortalServer) failed(w access.WorkspaceID, ref store.Ref, err error) {
	m.log.Error("could not be evaluated", "workspace", w, "action", ref, "error", err)
}

func (m *mortalServer) evaluated(w access.WorkspaceID, done settlement.Done) {
	m.log.Debug("evaluated", "workspace", w, "done", done)
}

func (m *mortalServer) observe(_ context.Context, e api.Event) {
	m.log.Debug("request", "route", e.Route, "status", e.Status, "took", e.Took, "error", e.Err)
}

type pinged struct{ store store.Store }

// Ready implements [api.Readiness].
func (p pinged) Ready(ctx context.Context) error { return p.store.Ping(ctx) }
