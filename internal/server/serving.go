package server

import (
	"context"
	"net/http"
	"net/netip"
	"sync/atomic"
	"time"
)

// serving answers what is about the process itself, and hands everything else to
// the app once there is one.
type serving struct {
	o      Options
	health *health
	app    atomic.Pointer[App]
	ending time.Time // when the end began; zero before
}

// endingFor is how long the end has taken so far.
func (s *serving) endingFor() time.Duration {
	if s.ending.IsZero() {
		return 0
	}
	return time.Since(s.ending)
}

// open lets requests through.
func (s *serving) open(app *App) {
	s.app.Store(app)
	s.health.begin(app.Ping)
}

func (s *serving) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/healthz":
		s.health.alive(w, r)
	case "/readyz":
		s.health.ready(w, r)
	case "/metrics":
		if s.o.MetricsListen != "" || s.o.BehindProxy || !fromThisMachine(r) {
			http.NotFound(w, r) // whether there are metrics is nobody's business
			return
		}
		s.o.Meter.Handler().ServeHTTP(w, r)
	default:
		app := s.app.Load()
		if app == nil {
			unavailable(w, stateStarting)
			return
		}
		s.o.Meter.begin()
		defer s.o.Meter.end()
		if s.o.Traces != nil {
			traced, ended := s.o.Traces.Request(r)
			defer ended()
			r = traced
		}
		app.Handler.ServeHTTP(w, r)
	}
}

// side is what the other address answers.
func (s *serving) side() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", s.health.alive)
	mux.HandleFunc("GET /readyz", s.health.ready)
	mux.Handle("GET /metrics", s.o.Meter.Handler())
	return mux
}

// fromThisMachine says that a request was made on this machine and by nobody
// else's order: a proxy here that forwards for others says so.
func fromThisMachine(r *http.Request) bool {
	if r.Header.Get("X-Forwarded-For") != "" || r.Header.Get("Forwarded") != "" || r.Header.Get("Via") != "" {
		return false
	}
	return peer(r).IsLoopback()
}

// peer is the address at the other end of the connection.
func peer(r *http.Request) netip.Addr {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

// noPing is for an app that has nothing to ask.
func noPing(context.Context) error { return nil }
