package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"

	"github.com/deed-dev/deed/internal/server"
	"github.com/deed-dev/deed/internal/setting"
)

// garbagePercent is how much garbage there may be for what lives, where GOGC does not say.
const garbagePercent = 400

type serveCmd struct {
	Settings    settingFlags `embed:""`
	PrintConfig bool         `help:"Print every setting as it holds and where it came from, and start nothing."`
}

// Help is printed under the flags of deed serve --help.
func (serveCmd) Help() string {
	return `Example:

    deed serve                              on this machine, with a database of its own
    deed serve --config deed.yaml           see docs/settings.md
    deed serve --print-config               what holds, and why
    DEED_DATABASE=postgres://deed@db/deed deed serve --secret-file deed.secret …

Takes declarations of actions and facts about them, and says of each action
whether it really happened and was allowed. The first start makes a workspace
and its owner, and prints a link that signs the owner in once; there is no
password to begin with.

Beyond this machine it serves HTTPS only, by a certificate of its own or behind
a proxy that ends TLS. SIGTERM or Ctrl-C ends it: what has begun is finished
first. A second one ends it at once. SIGHUP reads the certificate again.

Exit code 0: ended as ordered, with nothing left undone. 1: it could not start,
or could not go on, or requests were cut off. 2: a setting makes no sense.`
}

func (c *serveCmd) Run(ctx context.Context, w *world) error {
	effective, err := c.Settings.read(w)
	if c.PrintConfig { // what is wrong is found by looking at what holds
		return errors.Join(w.print(effective.Show()), err)
	}
	if err != nil {
		return err
	}
	if os.Getenv("GOGC") == "" {
		// What lives is small, and what each request leaves behind is not: with the usual
		// 100 a fifth of the processor's time goes into collecting it.
		debug.SetGCPercent(garbagePercent)
	}
	config := &effective.Config
	log, err := server.NewLog(w.stderr, config.LogFormat, config.LogLevel)
	if err != nil {
		return err
	}
	options, err := serverOptions(config, log)
	if err != nil {
		return err
	}
	ctx, stop := untilTold(ctx, log, options.Certificate)
	defer stop()
	a := &assembly{config: config, log: log, meter: options.Meter, traces: options.Traces, stdout: w.stdout, stderr: w.stderr}
	options.Started = a.announce
	return server.Run(ctx, options, a.open)
}

// serverOptions are how the process runs, by the settings.
func serverOptions(c *setting.Config, log *slog.Logger) (server.Options, error) {
	build := buildVersion()
	o := server.Options{
		Listen: c.Listen, PublicURL: c.PublicURL, MetricsListen: c.MetricsListen, BehindProxy: c.BehindProxy,
		ShutdownLimit: c.ShutdownLimit, Log: log,
		Meter: server.NewMeter(server.Build{Version: build.Version, Commit: build.Commit}),
	}
	if c.TLS() {
		var err error
		if o.Certificate, err = server.LoadCertificate(c.TLSCert, c.TLSKey, log); err != nil {
			return o, err
		}
	}
	o.Traces = newTraces(c.Tracing, log, o.Meter)
	return o, nil
}

// untilTold ends the context at the first SIGTERM or Ctrl-C and the process at the
// second, and reads the certificate again at SIGHUP.
func untilTold(ctx context.Context, log *slog.Logger, certificate *server.Certificate) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	told := make(chan os.Signal, 4)
	signal.Notify(told, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	done := make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case sig := <-told:
				switch {
				case sig == syscall.SIGHUP:
					reload(log, certificate)
				case ctx.Err() == nil:
					log.Info("told to end", "signal", sig.String())
					cancel()
				default:
					log.Warn("told to end at once", "signal", sig.String())
					os.Exit(endedBy(sig))
				}
			}
		}
	}()
	return ctx, func() {
		signal.Stop(told)
		close(done)
		cancel()
	}
}

func reload(log *slog.Logger, certificate *server.Certificate) {
	if certificate == nil {
		return // SIGHUP would end the process otherwise
	}
	if err := certificate.Reload(); err != nil {
		log.Error("the certificate of before goes on", "error", err)
		return
	}
	log.Info("the TLS certificate was read again")
}

// endedBy is the exit code of a process that a signal ended.
func endedBy(sig os.Signal) int {
	if number, ok := sig.(syscall.Signal); ok {
		return 128 + int(number)
	}
	return exitInterrupted
}

// announce says where the server is reached, in one piece. Programs that start it on
// a free port read the first line.
func (a *assembly) announce(address, url string) {
	text := "Deed serves " + url + "\n"
	if a.config.PublicURL != "" {
		text += "It listens at " + address + ".\n"
	}
	if a.link != "" {
		text += firstStart(a.link)
		a.link = ""
	}
	_, _ = io.WriteString(a.stdout, text) // the log has the address as well
}

// firstStart is what the first start says, once.
func firstStart(link string) string {
	return `
A workspace was made, and you are its owner. There is no password yet. This link
signs you in once; nobody shows it again:

    ` + link + `

Use it from a terminal:

    deed login '` + link + `'

`
}
