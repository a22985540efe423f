package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/deed-dev/deed/internal/backoffice"
	"github.com/deed-dev/deed/internal/shop"
)

type demoServerCmd struct {
	BackOffice string `help:"Address of the back office that pays." placeholder:"URL"`
}

func (c *demoServerCmd) Run(ctx context.Context, w *world) error {
	server := shop.New(buildVersion().Version)
	if c.BackOffice != "" {
		server = shop.Connected(buildVersion().Version, officePayer{backoffice.NewCaller(c.BackOffice)})
	}
	return shop.Serve(ctx, server, w.stdin, w.stdout)
}

// officePayer has the back office pay what the shop orders.
type officePayer struct{ office *backoffice.Caller }

func (p officePayer) PayBack(ctx context.Context, due shop.Payment) error {
	return p.office.PayBack(ctx, backoffice.Payment{
		Order: due.Order, Amount: due.Amount, Currency: due.Currency, Key: due.Key, AfterMS: int(due.After.Milliseconds()),
	})
}

type demoOfficeCmd struct {
	Listen string `help:"Address to listen at." default:"127.0.0.1:0"`
	Ledger string `help:"File of the ledger to begin." required:""`
	Server string `help:"Address of the Deed server; the evidence key is $$DEED_API_KEY." required:""`

	Withhold string `help:"An entry that is never told."`
}

func (c *demoOfficeCmd) Run(ctx context.Context, w *world) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	service := &backoffice.Service{
		Listen: c.Listen, Ledger: c.Ledger, Server: c.Server, Key: os.Getenv("DEED_API_KEY"),
		Every: 250 * time.Millisecond, Withhold: c.Withhold, Out: w.stdout, Err: w.stderr,
	}
	return service.Run(ctx)
}
