package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/deed-dev/deed/internal/span"
	"github.com/deed-dev/deed/internal/terminal"
)

// App is what a server serves, once it is open.
type App struct {
	Handler http.Handler
	// Workers are kept going for as long as the server runs.
	Workers []Worker
	// Ping says whether a request could be served now.
	Ping func(context.Context) error
	// Close is called once, when no request and no worker is left.
	Close func() error
}

// Open makes the app. It may take long (migrations), and gives up when the
// context ends. The URL is where the server is reached.
type Open func(ctx context.Context, url string) (*App, error)

// Options say how a server runs.
type Options struct {
	Listen        string
	PublicURL     string // empty: from the address
	MetricsListen string // empty: /metrics at Listen, for this machine only
	Certificate   *Certificate
	BehindProxy   bool
	ShutdownLimit time.Duration
	Log           *slog.Logger
	Meter         *Meter
	// Traces is nil if nothing is traced. It is closed when the server has ended.
	Traces *span.Tracer
	// Started is called with the server's own address and its URL once it is ready.
	Started func(address, url string)
}

// WorkerLimit is how long workers may take to finish what they are at.
const WorkerLimit = 15 * time.Second

// openLimit is how long opening may take to notice that the server was told to end.
const openLimit = 3 * time.Second

// CutOffError says that requests were not finished within the limit.
type CutOffError struct{ Limit time.Duration }

func (e *CutOffError) Error() string {
	return fmt.Sprintf("requests that had begun were cut off after %s", e.Limit)
}

// Run serves until the context ends, and then until what has begun is finished.
// An error is what kept it from starting, what ended it, or what it could not
// finish.
func Run(ctx context.Context, o Options, open Open) error {
	s := &serving{o: o, health: newHealth()}
	defer func() { o.Traces.Close(flushTime(o.ShutdownLimit, s.endingFor())) }()
	main, err := listen(ctx, o.Listen)
	if err != nil {
		return err
	}
	defer main.Close() // for the ways out before it is served
	url := o.PublicURL
	if url == "" {
		url = ownURL(main.Addr(), o.Certificate != nil)
	}
	failed := make(chan error, 2)
	if o.MetricsListen != "" {
		side, err := listen(ctx, o.MetricsListen)
		if err != nil {
			return err
		}
		defer side.Close()
		server := newHTTP(s.side(), o.Log)
		defer server.Close() // it has answered what matters by then
		go func() { failed <- serve(server, side, nil) }()
		o.Log.Info("metrics", "address", side.Addr().String())
	}
	server := newHTTP(s, o.Log)
	go func() { failed <- serve(server, main, o.Certificate) }()
	return s.live(ctx, server, failed, main.Addr().String(), url, open)
}

// live opens the app, waits for the end and drains.
func (s *serving) live(ctx context.Context, server *http.Server, failed <-chan error, address, url string, open Open) (err error) {
	app, err := opened(ctx, url, open)
	if err != nil {
		_ = server.Close()
		if ctx.Err() != nil {
			return nil // it was told to end before it had begun
		}
		return err
	}
	defer func() { err = errors.Join(err, app.Close()) }()
	work, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	workers := start(work, app.Workers, s.o.Log, s.o.Meter)
	s.open(app)
	if s.o.Started != nil {
		s.o.Started(address, url)
	}
	s.o.Log.Info("ready", "address", address, "url", url)
	notifySystem("READY=1")
	select {
	case <-ctx.Done():
	case err = <-failed:
	}
	notifySystem("STOPPING=1")
	s.ending = time.Now()
	s.o.Log.Info("ending", "requests", s.o.Meter.underWay())
	s.health.end()
	err = errors.Join(err, s.drain(server))
	stop()
	if unfinished := workers.wait(WorkerLimit); len(unfinished) > 0 {
		err = errors.Join(err, fmt.Errorf("background work did not end within %s: %v", WorkerLimit, unfinished))
	}
	s.o.Log.Info("ended")
	return err
}

// opened opens the app. Once the server is told to end, an opening that does not heed
// its context is left behind after a while: the process ends, and with it whatever
// it was at.
func opened(ctx context.Context, url string, open Open) (*App, error) {
	type result struct {
		app *App
		err error
	}
	done := make(chan result, 1)
	go func() {
		app, err := open(ctx, url)
		done <- result{app, err}
	}()
	select {
	case r := <-done:
		return r.app, r.err
	case <-ctx.Done():
	}
	limit := time.NewTimer(openLimit)
	defer limit.Stop()
	select {
	case r := <-done:
		return r.app, r.err
	case <-limit.C:
		return nil, ctx.Err()
	}
}

// drain answers what has begun.
func (s *serving) drain(server *http.Server) error {
	limit, cancel := context.WithTimeout(context.Background(), s.o.ShutdownLimit)
	defer cancel()
	if err := server.Shutdown(limit); err != nil {
		_ = server.Close()
		if errors.Is(err, context.DeadlineExceeded) {
			return &CutOffError{Limit: s.o.ShutdownLimit}
		}
		return fmt.Errorf("stop listening: %w", err)
	}
	return nil
}

func listen(ctx context.Context, address string) (net.Listener, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		var at *net.OpError
		if errors.As(err, &at) {
			err = at.Err
		}
		return nil, terminal.WithHint(fmt.Errorf("listen at %s: %w", address, err),
			"is a server running there already? another address: --listen 127.0.0.1:7374\nany free port: --listen 127.0.0.1:0")
	}
	return l, nil
}

// serve serves a listener until the server is shut down.
func serve(server *http.Server, l net.Listener, c *Certificate) error {
	var err error
	if c == nil {
		err = server.Serve(l)
	} else {
		server.TLSConfig = c.config()
		err = server.ServeTLS(l, "", "")
	}
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return fmt.Errorf("serve %s: %w", l.Addr(), err)
}

// ownURL is where the server is reached on this machine.
func ownURL(address net.Addr, tls bool) string {
	scheme := "http://"
	if tls {
		scheme = "https://"
	}
	return scheme + address.String()
}

// How long a peer may take. What a request may take to be answered is for the
// surface to say.
const (
	headerLimit = 10 * time.Second
	readLimit   = 2 * time.Minute // for 8 MiB from a slow network
	writeLimit  = 3 * time.Minute
	idleLimit   = 2 * time.Minute
	headerBytes = 32 << 10
)

func newHTTP(h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: headerLimit,
		ReadTimeout:       readLimit,
		WriteTimeout:      writeLimit,
		IdleTimeout:       idleLimit,
		MaxHeaderBytes:    headerBytes,
		// What it has to say is about connections of strangers: broken handshakes,
		// requests cut short.
		ErrorLog: slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
}
